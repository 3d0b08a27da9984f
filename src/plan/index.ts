export { type FieldChange, fieldChanges } from './field-changes.ts';
export type {
  DefinitionPlan,
  PlannedAction,
  PlannedChange,
  ResourcePlan,
  UnresolvedChild,
} from './plan.ts';
export { type PlanOptions, planDefinition } from './plan-definition.ts';
export { contentOf, withoutOwnKeys } from './planned-object.ts';
