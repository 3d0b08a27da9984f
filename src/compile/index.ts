export type {
  ChildPlan,
  Element,
  FieldPath,
  LabelRequirement,
  LabelSelector,
  OperatorPlan,
  Phase,
  PhaseInput,
  ReadPlan,
  ReadRequest,
  Rendered,
  RenderFailure,
  Seen,
} from './operator-plan.ts';
export type { SchemaType, StructType } from './schema/schema-type.ts';
export type { KindSchema, SchemaSource } from './schema-source.ts';
