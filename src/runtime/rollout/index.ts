export type { Edition, EditionHooks } from './edition.ts';
export { logRollout } from './log-rollout.ts';
export { reportedRevisions } from './reported-revisions.ts';
export type { RolloutNews } from './rollout.ts';
export { Switchboard, type SwitchboardOptions } from './switchboard.ts';
