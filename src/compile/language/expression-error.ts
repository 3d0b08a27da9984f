import { HomeostatError } from '../../util/homeostat-error.ts';

/**
 * `limit-exceeded`: steps, depth, sequence or text length of one evaluation; `too-large`: what it, or all that is rendered for a resource,
 * takes of the memory; `budget-exceeded`: steps or time of the whole reconcile.
 */
export type ExpressionErrorCode =
  | 'evaluation-failed'
  | 'missing-value'
  | 'limit-exceeded'
  | 'too-large'
  | 'budget-exceeded';

/** An expression that could not be evaluated. The message is stable and holds no values. */
export class ExpressionError extends HomeostatError<ExpressionErrorCode> {}
