export { type CompileOptions, type CompileResult, compile } from './compile.ts';
export type {
  ChildPlan,
  Element,
  FieldPath,
  OperatorPlan,
  Phase,
  PhaseInput,
  ReadPlan,
  ReadRequest,
  Rendered,
  RenderFailure,
  Seen,
} from './operator-plan.ts';
export {
  type AnyType,
  anyType,
  type BranchType,
  bundledSchemas,
  createSchemaCompiler,
  customResourceSchema,
  type ListType,
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
