export { rulesMissingIn } from './admission/admission-policy.ts';
export { typeOfDefault } from './admission/check-defaults.ts';
export {
  type AdmissionPlace,
  admissionDefinitionOf,
  admissionKindsOf,
  compileAdmission,
  defaultPoliciesOf,
  mutatingPolicyGvk,
  validatingPolicyGvk,
} from './admission/compile-admission.ts';
export { needsFinalizer, type Owner } from './analysis/child-plans.ts';
export { isHidden } from './analysis/secret-flow.ts';
export { type CompileResult, compile } from './compile.ts';
export type { CoverageKind, CoveragePoint, CoverageRecorder } from './coverage.ts';
export {
  type ExplainedChild,
  type ExplainedExpression,
  type ExplainedReference,
  type Explanation,
  explainDefinition,
  listReadIds,
} from './explain.ts';
export {
  type Graph,
  type GraphEdge,
  type GraphNode,
  graphOf,
  mermaidLines,
} from './explanation-graph.ts';
export {
  compileInstall,
  type InstallCompileResult,
} from './install/compile-install.ts';
export {
  deletionLimitOf,
  installDefinitionOf,
  installGvk,
  installKind,
} from './install/install-definition.ts';
export {
  ExpressionError,
  escapedLeaf,
  expressionAt,
  type LanguageName,
  type LeafParser,
  type LeafRange,
  languageNames,
  nameAt,
  patternProblem,
  TimeFlips,
  WorkBudget,
  type WorkBudgetOptions,
  type WrittenExpression,
  type WrittenName,
} from './language/index.ts';
export type {
  ChildExamples,
  ChildPlan,
  DeletionTime,
  Element,
  ExpressionInput,
  FieldPath,
  HistoryEntry,
  HistoryPlan,
  OperatorPlan,
  Phase,
  PhaseInput,
  ReadPlan,
  ReadRequest,
  ReadScope,
  Rendered,
  RenderFailure,
  Secrecy,
} from './operator-plan.ts';
export { elementKey } from './phase/element-key.ts';
export {
  createDefaultLeafParser,
  createPlainExpressionParser,
  type PlainExpression,
  PlainExpressionError,
  type PlainExpressionParser,
} from './plain-expressions.ts';
export type {
  PatchElement,
  PatchPlan,
  RenderedCondition,
  RenderedEvent,
  RenderedPatch,
  ReportInput,
  ReportingPlan,
  ReportPhase,
  TargetNames,
} from './reporting-plan.ts';
export {
  type BuiltinDocuments,
  builtinDocuments,
  bundledKindNames,
  bundledKinds,
  bundledPlural,
  bundledSchemas,
  bundledVersions,
  type ComponentDescription,
  loadBuiltinDescriptions,
} from './schema/bundled-schemas.ts';
export { customResourceSchema, schemaOfCustomResource } from './schema/custom-resource-schema.ts';
export { historySchema } from './schema/history-type.ts';
export { anyType, createSchemaCompiler, type SchemaCompiler } from './schema/schema-compiler.ts';
export {
  documentNode,
  fieldsOf,
  isRequired,
  itemOf,
  type JsonSchema,
  literal,
  nodeOfFields,
  nodeOfSchema,
  pathInto,
  type SchemaLibrary,
  type SchemaNode,
  schemaNode,
  stepInto,
  throughLists,
  typesOf,
  typeText,
  valuesOf,
} from './schema/schema-node.ts';
export type {
  AnyType,
  BranchType,
  ListType,
  MapType,
  ScalarName,
  ScalarType,
  SchemaType,
  StructField,
  StructType,
} from './schema/schema-type.ts';
export { type KindSchema, resourceSchema, type SchemaSource } from './schema-source.ts';
export { listReadsSecret } from './secret-expressions.ts';
export type { ManifestExample } from './template/example.ts';
