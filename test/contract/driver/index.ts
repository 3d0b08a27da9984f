export { assertSameRuns } from './compare-runs.ts';
export type { ContractCase, ContractStep, Expectation, RequestStep } from './contract-case.ts';
export { runCase, type StepRecord } from './run-case.ts';
