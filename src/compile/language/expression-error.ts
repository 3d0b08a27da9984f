import { HomeostatError } from '../../util/homeostat-error.ts';

/** `limit-exceeded`: time, depth, sequence or text length. */
export type ExpressionErrorCode = 'evaluation-failed' | 'missing-value' | 'limit-exceeded';

/** An expression that could not be evaluated. The message is stable and holds no values. */
export class ExpressionError extends HomeostatError<ExpressionErrorCode> {}
