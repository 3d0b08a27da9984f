export { assertSameRuns } from './compare-runs.ts';
export type {
  ContractCase,
  ContractStep,
  Expectation,
  RequestStep,
  UntilStep,
} from './contract-case.ts';
export { createNamespace, installCrds } from './install.ts';
export { runCase, type StepRecord } from './run-case.ts';
