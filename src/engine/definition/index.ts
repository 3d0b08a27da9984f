export {
  type AcceptedWarning,
  unusedAcceptances,
  warningCodes,
  withoutAccepted,
} from './accepted-warnings.ts';
export { defaultPathText, listDefaultHint } from './admission-path.ts';
export { isStandardStatusSchema, standardStatusSchemas } from './crd/standard-status.ts';
export { isDataObject } from './data-kinds.ts';
export {
  type CrdDefinition,
  childKindsOf,
  definesCrd,
  hubKindsOf,
  isSameKind,
  kindsOf,
  localKindsOf,
  statusClaimOf,
  statusKindOf,
  usedKindsOf,
  usesClusters,
} from './definition-kinds.ts';
export {
  type Diagnostic,
  type DiagnosticCode,
  diagnosticCodes,
  type Finding,
  type LocatedDefinition,
  locate,
  type Position,
  positionOf,
  type SourceMap,
} from './finding.ts';
export { type FormatOptions, formatDiagnostics } from './format-diagnostics.ts';
export {
  isPlaced,
  mayBeIn,
  placesInMembers,
  runsInMembers,
  selectsMember,
  worksInMembers,
} from './member-clusters.ts';
export { namedPath } from './named-path.ts';
export type {
  AdmissionDefault,
  AdmissionDefinition,
  AdmissionOperation,
  AdmissionRule,
  Cascade,
  ChildDefinition,
  ChildLifecycle,
  ClusterSelector,
  ComputedKind,
  ConditionDefinition,
  ControllerOptions,
  CrdKind,
  CrdPolicy,
  CrossNamespace,
  DeleteAfterDefinition,
  EventDefinition,
  ExistingKind,
  OnDeleteDefinition,
  OperatorDefinition,
  PatchDefinition,
  PatchTarget,
  PlacementDefinition,
  ReadDefinition,
  ReadNamespaces,
  ReconcileLimits,
  RemovalPolicy,
  ReportingDefinition,
  RollingUpdate,
  RolloutOptions,
  ScheduleDefinition,
  SelectorTemplate,
  ServedKind,
  ServedNamespaces,
  Template,
  UpdateStrategy,
} from './operator-definition.ts';
export {
  type FuzzRule,
  type OperatorFuzz,
  operatorFuzzKind,
  operatorFuzzSchema,
  parseOperatorFuzz,
} from './operator-test/operator-fuzz.ts';
export {
  type Expectation,
  type OperatorTest,
  type TestFailure,
  type TestObjects,
  type TestPatch,
  type TestStep,
  testHub,
} from './operator-test/operator-test.ts';
export { operatorTestKind, operatorTestSchema } from './operator-test/operator-test-schema.ts';
export {
  createOperatorTestParser,
  type OperatorTestParser,
  type ParsedOperatorTests,
} from './operator-test/parse-operator-tests.ts';
export type {
  ApiExpectation,
  TestApiChange,
  TestApiFailure,
  TestHttpApi,
} from './operator-test/test-apis.ts';
export { type TestParts, testParts } from './operator-test/test-parts.ts';
export {
  arrangeDiagnostics,
  createDefinitionParser,
  type DefinitionParser,
  type ParsedDocument,
} from './parse-definitions.ts';
export { recordedSourceMap, recordPositions } from './recorded-positions.ts';
export { resolveController, resolveDefinition } from './resolve-definition.ts';
export { maxInstalledObjects } from './rules/install.ts';
export { isDnsLabel } from './rules/rule.ts';
export { hasUnknownKeyword } from './schema/crd-schema.ts';
export {
  definitionApiVersion,
  definitionKind,
  definitionSchema,
} from './schema/definition-schema.ts';
export { withoutConsequences } from './schema/schema-findings.ts';
export { describeFound, fieldOf, quotedList, valueAt } from './tree.ts';
export { conversionYaml } from './yaml/conversion-yaml.ts';
export { type FormattedSource, formatSource, quoteExpressionAt } from './yaml/quote-expressions.ts';
export type { TextChange } from './yaml/quoted-value.ts';
export { readBoundedDocuments, type YamlDocument, type YamlFile } from './yaml/read-documents.ts';
export { type LocatedObject, type ReadObjects, readObjects } from './yaml/read-objects.ts';
export { replaceValues, type ValueReplacement } from './yaml/replace-values.ts';
export type { YamlReading } from './yaml/scalar-value.ts';
export { isNestedTooDeep, maxNesting } from './yaml/text-limits.ts';
export {
  parseYaml,
  parseYamlDocuments,
  printOrderedYaml,
  printYaml,
  YamlError,
} from './yaml/yaml-text.ts';
export {
  entryAt,
  nodeAtSteps,
  placeAt,
  type YamlEntry,
  type YamlNode,
  type YamlPlace,
} from './yaml/yaml-tree.ts';
