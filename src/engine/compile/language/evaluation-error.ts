import { HomeostatError } from '#util/homeostat-error.ts';

/**
 * Converts an error of JSONata to an ExpressionError. JSONata's messages are dropped, because they quote values.
 * `authored` are the literal messages of `$error` and `$assert` in the expression.
 */
export function toExpressionError(
  thrown: unknown,
  source: string,
  authored: ReadonlySet<string>,
): ExpressionError {
  const shown = `"${shortSource(source)}"`;
  if (thrown instanceof ExpressionError) {
    // The budget is shared, so the message does not name the expression.
    if (thrown.code === 'budget-exceeded') return thrown;
    return new ExpressionError(thrown.code, `${thrown.message} in ${shown}`, { cause: thrown });
  }
  const { code, token, index, message } = fieldsOf(thrown);
  const limit = limitReason(code, thrown);
  if (limit !== undefined) {
    return new ExpressionError('limit-exceeded', `${limit} in ${shown}`);
  }
  if ((code === 'D3137' || code === 'D3141') && authored.has(message)) {
    return new ExpressionError('evaluation-failed', `${message} in ${shown}`);
  }
  return new ExpressionError(
    'evaluation-failed',
    `${isAboutBigInteger(thrown) ? bigInteger : describeReason(code, token, index)} in ${shown}`,
  );
}

function fieldsOf(thrown: unknown): {
  code: string;
  token: string;
  index: string;
  message: string;
} {
  const fields = typeof thrown === 'object' && thrown !== null ? thrown : {};
  const textOf = (key: string) => {
    const value = (fields as Readonly<Record<string, unknown>>)[key];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  return {
    code: textOf('code'),
    token: textOf('token'),
    index: textOf('index'),
    message: textOf('message'),
  };
}

function limitReason(code: string, thrown: unknown): string | undefined {
  switch (code) {
    case 'D1011':
      return 'Too many nested evaluations';
    case 'D1012':
      return 'Too many steps';
    case 'D2014':
    case 'D2015':
      return 'A list is too long';
    default:
      // Stack size or string length of the platform.
      return thrown instanceof RangeError ? 'A limit of the platform was exceeded' : undefined;
  }
}

const bigInteger =
  'Expected an integer below 2^53 to compute with; a larger one can be copied, compared with "=" and converted to text';

/** Whether an operator of JSONata rejected an integer that JavaScript would round. */
function isAboutBigInteger(thrown: unknown): boolean {
  if (typeof thrown !== 'object' || thrown === null) return false;
  return ['value', 'value2'].some((key) => typeof Reflect.get(thrown, key) === 'bigint');
}

function describeReason(code: string, token: string, index: string): string {
  switch (code) {
    case 'T0410':
    case 'T0411':
    case 'T0412':
      return `Argument ${index} of $${token}() has the wrong type`;
    case 'D1001':
    case 'D3001':
      return 'Expected a finite number';
    case 'D1002':
      return 'Expected a number after "-"';
    case 'T1003':
      return 'Expected a string as the key of an object';
    case 'D1004':
      return 'A regular expression matched the empty string';
    case 'T1006':
    case 'T2006':
      return 'Expected a function';
    case 'D1009':
      return 'Duplicate key in an object';
    case 'T2001':
      return `Expected a number to the left of "${token}"`;
    case 'T2002':
      return `Expected a number to the right of "${token}"`;
    case 'T2003':
    case 'T2004':
      return 'Expected integers around ".."';
    case 'T2007':
    case 'T2008':
      return 'Expected sort keys that are all strings or all numbers';
    case 'T2009':
      return `Expected values of one type around "${token}"`;
    case 'T2010':
      return `Expected strings or numbers around "${token}"`;
    case 'D3030':
      return 'Expected a value that is a number';
    case 'D3060':
      return 'Expected a number that is not negative as the argument of $sqrt()';
    case 'D3061':
      return 'The result of $power() is not a finite number';
    case 'D3110':
      return 'Expected a time in ISO 8601 as the argument of $toMillis()';
    case 'D3137':
      return '$error() was called';
    case 'D3138':
    case 'D3139':
      return 'Expected exactly one element for $single()';
    case 'D3141':
      return 'An assertion failed';
    default:
      return token === '' ? 'Evaluation failed' : `Evaluation failed at "${token}"`;
  }
}

const maxSourceLength = 80;

/** Shortens an expression to one line for messages. */
export function shortSource(source: string): string {
  const line = source.replaceAll(/\s+/g, ' ');
  return line.length <= maxSourceLength ? line : `${line.slice(0, maxSourceLength - 3)}...`;
}

/**
 * `limit-exceeded`: steps, depth, list or string length of one evaluation. `too-large`: memory of one evaluation or
 * of everything rendered for a resource. `budget-exceeded`: steps or time of the whole reconcile.
 */
export type ExpressionErrorCode =
  | 'evaluation-failed'
  | 'missing-value'
  | 'limit-exceeded'
  | 'too-large'
  | 'budget-exceeded';

/** An expression that could not be evaluated. The message is stable and contains no values. */
export class ExpressionError extends HomeostatError<ExpressionErrorCode> {}

/** The error of an operation with an integer that JavaScript would round: it can only be copied. */
export function bigIntegerError(): ExpressionError {
  return new ExpressionError('evaluation-failed', bigInteger);
}
