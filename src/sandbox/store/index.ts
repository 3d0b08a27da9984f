export { ObjectStore, type ObjectStoreOptions, type StoreEvent } from './object-store.ts';
export { StoredObject, storeKey } from './stored-object.ts';
export { readWorld, type WorldSnapshot } from './world-text.ts';
