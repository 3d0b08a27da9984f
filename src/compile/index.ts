export { isFinalizing, type Owner } from './analysis/detached.ts';
export { type CompileOptions, type CompileResult, compile } from './compile.ts';
export { patternProblem, WorkBudget, type WorkBudgetOptions } from './language/index.ts';
export type {
  ChildPlan,
  Element,
  FieldPath,
  OperatorPlan,
  Phase,
  PhaseInput,
  ReadPlace,
  ReadPlan,
  ReadRequest,
  Rendered,
  RenderFailure,
  Secrecy,
  Seen,
} from './operator-plan.ts';
export type {
  PatchPlan,
  RenderedCondition,
  RenderedEvent,
  RenderedPatch,
  ReportInput,
  ReportingPlan,
  ReportPhase,
} from './reporting-plan.ts';
export {
  type AnyType,
  anyType,
  type BranchType,
  type BuiltinDocuments,
  builtinDocuments,
  bundledPlural,
  bundledSchemas,
  type ComponentDescription,
  createSchemaCompiler,
  customResourceSchema,
  type ListType,
  loadBuiltinDescriptions,
  type MapType,
  type ScalarName,
  type ScalarType,
  type SchemaBundle,
  type SchemaCompiler,
  type SchemaType,
  type StructField,
  type StructType,
  schemaOfCustomResource,
} from './schema/index.ts';
export type { KindSchema, SchemaSource } from './schema-source.ts';
