import { didYouMean } from '../../util/did-you-mean.ts';
import { FitError, type FitTarget, fit } from './fit.ts';
import { describeFound } from './found-value.ts';

/**
 * Fits what is written literally in a template. As {@link fit}, but stricter where the author can easily write what is meant,
 * and where YAML has lost it: `1.10` is the number 1.1, so it is no text.
 * @throws FitError
 */
export function fitLiteral(value: unknown, target: FitTarget): unknown {
  const { type, field, quotes } = target;
  const isText = type?.kind === 'scalar' && type.accepts.includes('string');
  if (isText && typeof value === 'number' && !type.accepts.includes('number')) {
    if (!Number.isSafeInteger(value)) {
      const found = quotes ? `the number ${describeFound(value, quotes)}` : 'a number';
      const message = `Expected a text at ${field}, found ${found}`;
      throw new FitError('wrong-type', message, 'Put it in quotes');
    }
  }
  if (type?.kind === 'list' && !Array.isArray(value) && value !== null) {
    const message = `Expected a list at ${field}, found ${describeFound(value, quotes)}`;
    throw new FitError('wrong-type', message, 'Write it as an item of a list: [ ... ]');
  }
  const fitted = fit(value, target);
  if (type?.kind === 'scalar' && type.enum !== undefined) assertListed(fitted, type.enum, target);
  return fitted;
}

/** The server refuses all other values; the empty text counts as none. */
function assertListed(value: unknown, listed: readonly unknown[], target: FitTarget): void {
  if (value === null || value === '' || listed.includes(value)) return;
  const expected = listed.map((each) => JSON.stringify(each)).join(', ');
  const found = describeFound(value, target.quotes);
  const hint = didYouMean(String(value), listed.map(String));
  const message = `Expected one of ${expected} at ${target.field}, found ${found}`;
  throw new FitError('unlisted', message, hint);
}
