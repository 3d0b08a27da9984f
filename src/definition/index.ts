export { standardStatusSchemas } from './crd/standard-status.ts';
export type { Diagnostic, DiagnosticCode } from './diagnostic.ts';
export { type Finding, locate, positionOf } from './finding.ts';
export { type FormatOptions, formatDiagnostics } from './format-diagnostics.ts';
export type {
  ChildDefinition,
  ChildLife,
  ControllerOptions,
  CrdKind,
  CrdPolicy,
  CrossNamespace,
  ForeignKind,
  OnDeleteDefinition,
  OperatorDefinition,
  ReadDefinition,
  ReadNamespaces,
  ReconcileLimits,
  RemovalPolicy,
  RollingUpdate,
  RolloutOptions,
  SelectorTemplate,
  ServedKind,
  Template,
  UpdateStrategy,
} from './operator-definition.ts';
export {
  arrangeDiagnostics,
  createDefinitionParser,
  type DefinitionParser,
  type ParsedDefinitions,
  type ParsedDocument,
} from './parse-definitions.ts';
export type {
  ConditionDefinition,
  EventDefinition,
  PatchDefinition,
  PatchTarget,
  ReportingDefinition,
  ScheduleDefinition,
  ServedNamespaces,
} from './reporting-definition.ts';
export { isDnsLabel } from './rules/dns-name.ts';
export {
  definitionApiVersion,
  definitionKind,
  definitionSchema,
} from './schema/definition-schema.ts';
export type { LocatedDefinition, Position, SourceMap } from './source-map.ts';
export { isNestedTooDeep, mostNested } from './yaml/nesting.ts';
export { parseYaml, parseYamlDocuments, printYaml, YamlError } from './yaml/yaml-text.ts';
