export { ExpressionError, type ExpressionErrorCode } from './expression-error.ts';
export { type LanguageFunction, languageFunctions } from './functions.ts';
export type {
  Expression,
  Leaf,
  LeafParser,
  LeafProblem,
  ParsedLeaf,
  Reference,
  ReferenceRoot,
  Scope,
} from './leaf.ts';
export { createLeafParser, type LeafParserOptions } from './leaf-parser.ts';
