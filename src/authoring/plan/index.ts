export type { PlanMember, PlanMembers, UnreachedMember } from './dry-run-members.ts';
export { type EvaluatedExpression, evaluateExpression } from './evaluate-expression.ts';
export {
  type ChildExplanation,
  explainResource,
  type PresentExpression,
  type PresentValue,
  presentValueText,
  type ResourceExplanation,
} from './explain-resource.ts';
export { type FieldChange, fieldChanges } from './field-changes.ts';
export { fieldPath, itemPath } from './field-path.ts';
export type {
  BrokenRules,
  DefinitionPlan,
  HeldDeletions,
  PlannedAction,
  PlannedChange,
  ResourcePlan,
} from './plan.ts';
export { type PlanOptions, planDefinition } from './plan-definition.ts';
export { mayHoldSecret } from './planned-changes.ts';
export { contentOf, masked, withoutOwnKeys } from './planned-object.ts';
