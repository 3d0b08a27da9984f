export { createOperator } from './create-operator.ts';
export type { ChildDecision, DecisionRecord, Verdict } from './decision.ts';
export type { Operator, OperatorOptions } from './operator.ts';
