export type { FieldChange } from './field-changes.ts';
export type {
  DefinitionPlan,
  PlannedAction,
  PlannedChange,
  ResourcePlan,
  UnresolvedChild,
} from './plan.ts';
export { type PlanOptions, planDefinition } from './plan-definition.ts';
