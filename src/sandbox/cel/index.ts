export { type CelEnvironment, createCelEnvironment } from './cel-environment.ts';
export { type CheckedRule, checkRule } from './check-rule.ts';
export {
  type CelNode,
  type CelParser,
  createCelParser,
  literalOf,
  type ParsedCel,
} from './parse-cel.ts';
export { type RuleSet, readRules } from './rule-set.ts';
