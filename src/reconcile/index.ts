export {
  createBrokenRetiree,
  createFinisher,
  createOperator,
  createRetiree,
  type FinisherOptions,
  type RetireeOptions,
} from './create-operator.ts';
export type { ChildDecision, DecisionRecord, Verdict } from './decision.ts';
export type { DeletionGuard, DoomedObject } from './deletion-guard.ts';
export { rightText } from './failure.ts';
export { covers } from './intent/covers.ts';
export { appliedHashOf, stamped } from './intent/marks.ts';
export { pathHash } from './intent/path-hash.ts';
export { prepare } from './intent/prepare.ts';
export {
  adoptedAnnotation,
  appliedAnnotation,
  approveDeletionsAnnotation,
  childKindsAnnotation,
  childLabel,
  definitionLabel,
  fieldManagerOf,
  managedByLabel,
  managedByValue,
  ownerUidLabel,
  pausedAnnotation,
  statusManagerOf,
} from './names.ts';
export type { Operator, OperatorOptions, OperatorProblem, Readiness } from './operator.ts';
export type { Retirement } from './pass/context.ts';
export { kindsText, kindText, parseKinds } from './pass/inventory.ts';
export { DeletionHold, type DeletionHoldOptions } from './preview/deletion-hold.ts';
export type { Preview, Previewer } from './preview/preview.ts';
export { type PreviewAllOptions, previewAll } from './preview/preview.ts';
export {
  hasLeftFinalizers,
  type LeftFinalizersOptions,
  type Membership,
  membershipOf,
  whenNoFinalizersLeft,
} from './wake/membership.ts';
export { settled } from './wake/settled.ts';
