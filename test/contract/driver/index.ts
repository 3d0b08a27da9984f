export { assertSameRuns, smallestDifferences } from './compare-runs.ts';
export type {
  ContractCase,
  ContractStep,
  EventsStep,
  Expectation,
  PodFate,
  PodsStep,
  RequestStep,
  UntilStep,
} from './contract-case.ts';
export { createNamespace, installCrds } from './install.ts';
export { runCase, type StepRecord } from './run-case.ts';
