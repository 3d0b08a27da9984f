import { isJsonObject, type Json, objectAt, pointerTo } from '#util/json.ts';
import { valueFailure } from './path-template.ts';
import { errorAt, type SpecProblem } from './problem.ts';

const requests = ['observe', 'find', 'create', 'update', 'delete'] as const;

/** Values of parameters that can be no part of a path: nothing would be sent. Pure. */
export function paramProblems(spec: Json | undefined): readonly SpecProblem[] {
  if (!isJsonObject(spec)) return [];
  const paths = requests.map((field) => String(objectAt(spec, field)?.path));
  const { slashesIn } = spec;
  const mayHaveSlashes = Array.isArray(slashesIn) ? slashesIn.map(String) : [];
  return Object.entries(objectAt(spec, 'params') ?? {}).flatMap(([name, value]) => {
    if (typeof value !== 'string' || !paths.some((path) => path.includes(`{${name}}`))) return [];
    const failure = valueFailure(name, value, mayHaveSlashes);
    return failure === undefined ? [] : [errorAt(pointerTo('/spec/params', name), ...failure)];
  });
}
