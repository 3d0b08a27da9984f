export { createFinisher, createOperator, type FinisherOptions } from './create-operator.ts';
export type { ChildDecision, DecisionRecord, Verdict } from './decision.ts';
export { rightText } from './failure.ts';
export { kindsText, kindText, parseKinds } from './finalize/inventory.ts';
export { covers } from './intent/covers.ts';
export { pathHash } from './intent/path-hash.ts';
export { prepare } from './intent/prepare.ts';
export { appliedHashOf, stamped } from './intent/stamp.ts';
export {
  appliedAnnotation,
  childKindsAnnotation,
  childLabel,
  definitionLabel,
  fieldManagerOf,
  managedByLabel,
  managedByValue,
  ownerUidLabel,
  statusManagerOf,
} from './names.ts';
export type { Operator, OperatorOptions, OperatorProblem, Readiness } from './operator.ts';
export { hasLeftFinalizers, type LeftFinalizersOptions } from './wake/left-finalizers.ts';
export { type Membership, membershipOf } from './wake/membership.ts';
export { settled } from './wake/settled.ts';
