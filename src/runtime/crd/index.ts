export { bringsCrd, type CrdContext, type CrdDefinition, crdFlowOf } from './crd-definition.ts';
export { isAdopted, isGoing, whyNotOurs } from './crd-owner.ts';
export { forgetFormerKinds } from './forget-former-kinds.ts';
export { childKindsOf, formerKindsOf } from './former-kinds.ts';
export { type InstallResult, installCrd } from './install-crd.ts';
export { type Migration, migrateStored } from './migrate-stored.ts';
export { crdGvk, storedKind } from './stored-kind.ts';
export { firstOf, isEstablished, whenCrdLost, whenUsable } from './when-crd.ts';
