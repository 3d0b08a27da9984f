export { ExpressionError, type ExpressionErrorCode } from './expression-error.ts';
export { type PlainPath, plainPathOf } from './fast-path.ts';
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
export { syntaxTreeOf } from './parse-tree.ts';
export { patternProblem } from './pattern-problem.ts';
export { shortSource } from './short-source.ts';
export {
  childNodes,
  isDefaultOperator,
  isElvisOperator,
  type SyntaxNode,
} from './syntax-tree.ts';
export { type TemplateHelper, templateHelpers } from './template/template-helpers.ts';
export { WorkBudget, type WorkBudgetOptions } from './work-budget.ts';
