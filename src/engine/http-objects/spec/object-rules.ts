import { isJsonObject, type Json } from '#util/json.ts';
import { fieldPathOf } from './field-path.ts';
import type { ObjectSpec, RequestTemplate } from './object-spec.ts';
import { parametersOf } from './path-template.ts';
import { errorAt, type SpecProblem, warningAt } from './problem.ts';

/** Rules between the fields of an `HttpObject`. Pure. */
export function ruleProblems(spec: ObjectSpec): readonly SpecProblem[] {
  return [
    ...identityProblems(spec),
    ...writeProblems(spec),
    ...formProblems(spec),
    ...secretProblems(spec),
  ];
}

/** Whether a request needs the id. */
export function needsId(request: RequestTemplate | undefined): boolean {
  return request !== undefined && parametersOf(request.path).includes('id');
}

/** An object without requests that write: it is only observed. */
export function isReadOnly({ create, update, delete: remove }: ObjectSpec): boolean {
  return create === undefined && update === undefined && remove === undefined;
}

function identityProblems(spec: ObjectSpec): readonly SpecProblem[] {
  const { observe, find, create, id, idempotencyKey } = spec;
  const problems: SpecProblem[] = [...answerProblems(spec)];
  for (const [field, request] of [
    ['find', find],
    ['create', create],
  ] as const)
    if (needsId(request))
      problems.push(
        errorAt(`/spec/${field}/path`, 'Expected a path without "{id}": the id is not known yet'),
      );
  if (needsId(observe) && id === undefined)
    problems.push(errorAt('/spec/id', 'Expected the field "id": the path of "observe" has "{id}"'));
  if (!needsId(observe) && id !== undefined)
    problems.push(
      errorAt(
        '/spec/observe/path',
        'Expected "{id}" in the path, or no field "id": without it, "observe" reads another object',
      ),
    );
  if (needsId(observe) && isReadOnly(spec) && find === undefined)
    problems.push(
      errorAt('/spec/observe/path', 'Expected "find" or "create", which return the id'),
    );
  if (create !== undefined && needsId(observe) && find === undefined)
    problems.push({
      ...warningAt(
        '/spec/create',
        'Without "find", an object whose record is lost, for example after a restore of a backup, is created twice',
        idempotencyKey ? undefined : 'Add "find"',
      ),
      code: 'missing-field',
    });
  return problems;
}

/** The id of an object in a list and that in the answer to `create` come from one code. */
function answerProblems({ find, id }: ObjectSpec): readonly SpecProblem[] {
  if (find === undefined || !id?.reads.has('body') || id.reads.has('result')) return [];
  return [
    {
      ...warningAt(
        '/spec/id',
        'The id is evaluated on the answer to "create" and on the object that "find" found, and "body" may differ',
        'Write "$(result.id)": "result" is the object in both',
      ),
      code: 'suspicious-expression',
    },
  ];
}

function writeProblems(spec: ObjectSpec): readonly SpecProblem[] {
  const { create, update, delete: remove, deletionPolicy, secretFields } = spec;
  const problems: SpecProblem[] = [];
  if ((create ?? update) !== undefined && remove === undefined && deletionPolicy === 'Delete')
    problems.push(errorAt('/spec', 'Expected the field "delete", or "deletionPolicy: Orphan"'));
  if (isReadOnly(spec) && (!isSearched(spec) || Object.keys(secretFields).length > 0))
    problems.push(
      errorAt(
        '/spec/desired',
        'Expected "create" or "update" for the desired content',
        spec.find && 'Without them, "desired" has the fields of "find.match" only',
      ),
    );
  return problems;
}

/** Whether `desired` has only what `find` compares. */
function isSearched({ desired, find }: ObjectSpec): boolean {
  const searched = new Set((find?.match ?? []).map((path) => fieldPathOf(path)?.join('\0')));
  const isNamed = (value: Json | undefined, steps: readonly string[]): boolean =>
    searched.has(steps.join('\0')) ||
    (isJsonObject(value) &&
      (steps.length === 0 || Object.keys(value).length > 0) &&
      Object.entries(value).every(([name, field]) => isNamed(field, [...steps, name])));
  return isNamed(desired, []);
}

function formProblems({
  create,
  update,
  desired,
  secretFields,
}: ObjectSpec): readonly SpecProblem[] {
  const problems: SpecProblem[] = [];
  const isFlat = Object.values(desired).every((value) => typeof value !== 'object');
  const hasDeepSecret = Object.keys(secretFields).some((path) => path.includes('.'));
  for (const [field, request] of [
    ['create', create],
    ['update', update],
  ] as const)
    if (request?.contentType === 'form' && (!isFlat || hasDeepSecret))
      problems.push(
        errorAt(
          `/spec/${field}/contentType`,
          'Expected texts, numbers and booleans in "desired" for a form',
        ),
      );
  return problems;
}

/** Values come from the answer to `create` (`body`), or from each observation (`result`). */
function secretProblems({ secret, create }: ObjectSpec): readonly SpecProblem[] {
  if (secret === undefined) return [];
  return Object.entries(secret.data).flatMap(([key, { reads }]) => {
    const at = `/spec/secret/data/${key}`;
    const isOfAnswer = reads.has('body') || reads.has('headers') || reads.has('code');
    if (isOfAnswer && reads.has('result'))
      return [
        errorAt(
          at,
          'Expected either "body" (the answer to "create") or "result" (what is observed), found both',
        ),
      ];
    if (isOfAnswer && create === undefined)
      return [
        errorAt(
          at,
          'Expected "create", whose answer "body" is',
          'Use "result" for what is observed',
        ),
      ];
    return [];
  });
}
