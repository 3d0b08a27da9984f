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
      throw new FitError(`Expected a text at ${field}, found ${found}`, {
        hint: 'Put it in quotes',
      });
    }
  }
  if (type?.kind === 'list' && !Array.isArray(value) && value !== null) {
    throw new FitError(`Expected a list at ${field}, found ${describeFound(value, quotes)}`, {
      hint: 'Write it as an item of a list: [ ... ]',
    });
  }
  return fit(value, target);
}
