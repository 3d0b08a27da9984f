export type { CrdRejection } from './check-change.ts';
export {
  acquireCrd,
  crdFlowOf,
  crdGvk,
  isAdopted,
  isTerminating,
  ownershipConflict,
  runtimeLabel,
  storedKind,
} from './crd-definition.ts';
export { applyCrd, installCrd } from './install-crd.ts';
export { migrateStored } from './migrate-stored.ts';
export { whenCrdLost, whenSynced } from './wait-for-crd.ts';
