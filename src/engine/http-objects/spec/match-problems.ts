import { didYouMean } from '#util/did-you-mean.ts';
import { isJsonObject, type Json, objectAt, pointerTo } from '#util/json.ts';
import { fieldPathOf } from './field-path.ts';
import { errorAt, type SpecProblem } from './problem.ts';

/** Fields of `find.match` that `desired` does not have: no object would be found. Pure. */
export function matchProblems(spec: Json | undefined): readonly SpecProblem[] {
  if (!isJsonObject(spec)) return [];
  const match = objectAt(spec, 'find')?.match;
  const desired = spec.desired ?? {};
  return (Array.isArray(match) ? match : []).flatMap((path: Json, index) => {
    const steps = typeof path === 'string' ? fieldPathOf(path) : undefined;
    if (steps === undefined || mayHave(desired, steps)) return [];
    const problem = errorAt(
      pointerTo('/spec/find/match', index),
      `Expected a field of "desired", found "${String(path)}"`,
      didYouMean(String(path), fieldPaths(desired)) ??
        'An object is found by fields that are equal in "desired" and in the object',
    );
    return [{ ...problem, because: '/spec/desired' }];
  });
}

/** Whether a value has a field, or an expression of a definition could add it. */
function mayHave(value: Json | undefined, [step, ...rest]: readonly string[]): boolean {
  if (typeof value === 'string' && isComputed(value)) return true;
  if (step === undefined) return value !== undefined && value !== null;
  if (!isJsonObject(value)) return false;
  if (Object.hasOwn(value, step)) return mayHave(value[step], rest);
  return Object.keys(value).some(isComputed);
}

function isComputed(text: string): boolean {
  return text.includes('${') || text.includes('{{');
}

function fieldPaths(value: Json, before = ''): readonly string[] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const path = `${before}${name.replaceAll('.', '\\.')}`;
    return [path, ...fieldPaths(field ?? null, `${path}.`)];
  });
}
