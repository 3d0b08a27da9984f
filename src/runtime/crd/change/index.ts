export type { BreakingChange, CrdChange } from './breaking-change.ts';
export { breakingChanges } from './compare-crds.ts';
