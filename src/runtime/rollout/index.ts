export type { RolloutRecord } from '../definition-view.ts';
export type { RevisionOperator, RevisionOperatorHooks } from './revision-operator.ts';
export { RevisionRouter } from './revision-router.ts';
export { logRollout, type RolloutEvent } from './rollout.ts';
