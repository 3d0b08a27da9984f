export { conversionDiagnostics } from './conversions/conversion-diagnostics.ts';
export { conversionTestName, testConversions } from './conversions/test-conversions.ts';
export { type CollectedCoverage, CoverageCollector } from './coverage/coverage-collector.ts';
export { coverageHtml } from './coverage/coverage-html.ts';
export { coverageLcov } from './coverage/coverage-lcov.ts';
export { coverageText, coveredPercent } from './coverage/coverage-text.ts';
export { escapeMarkup } from './escape-markup.ts';
export { junitReport, resultLines, summaryLine } from './report.ts';
export { RealClusterTests } from './run-on-cluster.ts';
export {
  type RunTestOptions,
  runTest,
  type StepFailure,
  type TestFiles,
  type TestResult,
} from './run-test.ts';
export { updateTest } from './update-test.ts';
export { DefinitionValidator } from './validate-definitions.ts';
export {
  type ClosableCheck,
  withAdmissionChecks,
} from './validation/admission/with-admission-checks.ts';
export { ObjectCheck } from './validation/check-object.ts';
export { checkObjects, checkObjectsOf } from './validation/check-objects.ts';
export { TestChecker } from './validation/test-checker.ts';
export {
  type LoadFiles,
  readTestSources,
  type TestSourcesOptions,
} from './validation/test-sources.ts';
