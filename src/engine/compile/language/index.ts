export { type Branch, findBranches } from './branches.ts';
export type { Comparison } from './comparisons.ts';
export { ExpressionError, type ExpressionErrorCode, shortSource } from './evaluation-error.ts';
export { type PlainPath, plainPathOf } from './fast-path.ts';
export { helmValueHint } from './foreign-calls.ts';
export { type LanguageName, languageNames } from './language-names.ts';
export type {
  ElementPath,
  Expression,
  Leaf,
  LeafParser,
  LeafProblem,
  ParsedLeaf,
  Reference,
  ReferenceRoot,
  Scope,
} from './leaf.ts';
export { createLeafParser } from './leaf-parser.ts';
export { escapedLeaf } from './leaf-text.ts';
export { type ListPath, listSources } from './list-results.ts';
export { comparedWithNull } from './nulls.ts';
export type { Operand, OperandType } from './operands.ts';
export { patternProblem } from './parse-tree.ts';
export { boundedText, roundedNumber } from './plain-json.ts';
export { followedFunctions } from './present/follow-calls.ts';
export { TimeFlips } from './present/time-flips.ts';
export type { ResultType } from './result-types.ts';
export {
  childNodes,
  isDefaultOperator,
  isElvisOperator,
  type SyntaxNode,
} from './syntax-tree.ts';
export { WorkBudget, type WorkBudgetOptions } from './work-budget.ts';
export {
  expressionAt,
  type LeafRange,
  nameAt,
  type WrittenExpression,
  type WrittenName,
} from './written-expression.ts';
