export { ObjectStore, type ObjectStoreOptions, type StoreEvent } from './object-store.ts';
export { readSnapshot, StoredObject, type StoreSnapshot, storeKey } from './stored-object.ts';
