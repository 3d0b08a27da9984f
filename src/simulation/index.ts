export { type Conversion, convertManifests } from './convert/convert-manifests.ts';
export type { ConversionNote } from './convert/notes.ts';
export { ownObjects } from './convert/own-objects.ts';
export {
  missingStep,
  type Parameter,
  parseParameter,
  targetOf,
  valueAt,
} from './convert/parameter.ts';
export { type CollectedCoverage, CoverageCollector } from './coverage/coverage-collector.ts';
export { coverageHtml } from './coverage/coverage-html.ts';
export { coverageLcov } from './coverage/coverage-lcov.ts';
export { coverageText, coveredPercent } from './coverage/coverage-text.ts';
export { EditableSource } from './editable-source.ts';
export { type FuzzResult, fuzz } from './fuzz/fuzz.ts';
export { type FuzzTarget, fuzzTarget } from './fuzz/fuzz-target.ts';
export { reproductionOf } from './fuzz/reproduction.ts';
export {
  type ImportedFiles,
  type ImportResult,
  importedFormats,
  importFiles,
} from './import/import-files.ts';
export type { Construct, Outcome } from './import/import-report.ts';
export type { ImportedDefinition, SourceDocument } from './import/importer.ts';
export { pluralOf } from './import/names.ts';
export { UnknownKinds } from './import/unknown-kinds.ts';
export { clusterKind, withMembers } from './members/cluster-object.ts';
export { connectAsUser } from './members/connect-as-user.ts';
export {
  type RenderedChild,
  type RenderOptions,
  type RenderResult,
  renderResource,
} from './render/render-resource.ts';
export { type RunResourceOptions, runResource } from './render/run-resource.ts';
export { SandboxClient, type SandboxClientOptions } from './sandbox-client.ts';
export type { Overlap } from './side-by-side/find-overlaps.ts';
export {
  renderSideBySide,
  type SideBySide,
} from './side-by-side/render-side-by-side.ts';
export { clusterFor } from './side-by-side/simulated-kinds.ts';
export { Simulation, type SimulationOptions } from './simulation.ts';
export { escapeMarkup } from './testing/escape-markup.ts';
export { matcherNames } from './testing/matchers.ts';
export { junitReport, type ReportOptions, resultLines, summaryLine } from './testing/report.ts';
export { RealClusterTests } from './testing/run-on-cluster.ts';
export {
  type RunTestOptions,
  runTest,
  type StepFailure,
  type TestFiles,
  type TestResult,
} from './testing/run-test.ts';
export { TestCluster, UnknownReferenceError } from './testing/test-cluster.ts';
export { updateTest } from './testing/update-test.ts';
export { DefinitionValidator } from './validate-definitions.ts';
export { checkCrd } from './validation/check-crd.ts';
export { ObjectCheck } from './validation/check-object.ts';
export { checkObjects, checkObjectsOf } from './validation/check-objects.ts';
export { CheckServer } from './validation/check-server.ts';
export { TestChecker } from './validation/test-checker.ts';
export {
  type LoadFiles,
  readTestSources,
  type TestSourcesOptions,
} from './validation/test-sources.ts';
