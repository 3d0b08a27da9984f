export { createCelEnvironment } from './cel-environment.ts';
export { type RuleSet, readRules } from './rule-set.ts';
