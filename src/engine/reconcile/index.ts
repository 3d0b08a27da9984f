export {
  adoptedAnnotation,
  appliedAnnotation,
  approveDeletionsAnnotation,
  childLabel,
  definitionLabel,
  fieldManagerOf,
  finalizerOf,
  managedByLabel,
  managedByValue,
  ownerUidLabel,
  pausedAnnotation,
  statusManagerOf,
} from '#util/stored-names.ts';
export { createFinalizingOperator, createOperator } from './create-operator.ts';
export type { ChildDecision, DecisionRecord, Verdict } from './decision.ts';
export type { DeletionGuard } from './deletion-guard.ts';
export { rightText } from './failure.ts';
export { type ListedRecord, listedRecord, storedVersions } from './history/listed-record.ts';
export { SharedHistory } from './history/shared-history.ts';
export { kindText, parseIdentity, parseKinds } from './identity.ts';
export { covers } from './intent/compare.ts';
export type { Intent } from './intent/intent.ts';
export { appliedHashOf, withPathHash as stamped } from './intent/marks.ts';
export { pathHash } from './intent/path-hash.ts';
export { prepare } from './intent/prepare.ts';
export type { Operator, OperatorOptions, Readiness } from './operator.ts';
export type { Uninstall } from './pass/context.ts';
export { DeletionHold, holdChange } from './preview/deletion-hold.ts';
export { type Preview, type Previewer, previewAll } from './preview/preview.ts';
export type { PruneCandidate } from './prune-candidate.ts';
export { holdsData } from './removal/removal-rules.ts';
export type { ReconcileEnd, ReconcilePhase, ReconcileTrace } from './trace.ts';
export { isKindMissing, settled, untilInformer } from './watch/informer-waits.ts';
export { membershipOf } from './watch/membership.ts';
export type { Change as ObjectChange } from './watch/object-change.ts';
export type { EnqueueCause } from './watch/resource-queue.ts';
