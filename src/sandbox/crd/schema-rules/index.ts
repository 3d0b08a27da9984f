export { followPath } from './field-path.ts';
export type { PatternProblem } from './structure-rules.ts';
export { type SchemaRules, validateSchema } from './validate-schema.ts';
