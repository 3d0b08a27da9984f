import type { Expectation } from '#definition';
import type { NamedApi, SimulatedApis } from '#simulation';
import { isJsonObject, type Json, pointerTo } from '#util/json.ts';
import { compareSubset } from './compare-subset.ts';
import type { Failure } from './expectations.ts';

type Of<Kind extends Expectation['kind']> = Extract<Expectation, { readonly kind: Kind }>;

/** Checks an expectation about a simulated HTTP API. Undefined: it is true. */
export function checkApi(
  expectation: Of<'api'> | Of<'requests'>,
  apis: SimulatedApis,
): Failure | undefined {
  const api = apis.get(expectation.name);
  return expectation.kind === 'api'
    ? checkObjects(expectation, api)
    : checkRequests(expectation, api);
}

/** Each expected object is one of the collection, which has no other. */
function checkObjects({ pointer, path, objects }: Of<'api'>, api: NamedApi): Failure | undefined {
  const at = pointerTo(pointer, 'api');
  if (!api.spec.collections.some((each) => each.path === path))
    return failure(pointerTo(at, 'path'), `The API has no collection "${path}"`);
  const left = [...api.objects(path)];
  for (const [index, expected] of objects.entries()) {
    const found = left.findIndex((object) => isLike(expected, object));
    if (found >= 0) left.splice(found, 1);
    else return missing(expected, left, pointerTo(pointerTo(at, 'objects'), index), path);
  }
  if (left.length === 0) return undefined;
  return failure(
    pointerTo(at, 'objects'),
    `"${path}" has ${left.length} more: ${left.map(shortText).join(', ')}`,
  );
}

function missing(expected: Json, others: readonly Json[], pointer: string, path: string): Failure {
  const [only, ...more] = others;
  if (only === undefined) return failure(pointer, `"${path}" has no other object`);
  if (more.length > 0)
    return failure(
      pointer,
      `No object of "${path}" is as expected; there are ${others.map(shortText).join(', ')}`,
    );
  const mismatches = compareSubset(expected, only, undefined);
  const [first] = mismatches;
  return {
    pointer: `${pointer}${first?.pointer ?? ''}`,
    message: `The object of "${path}" is not as expected`,
    mismatches,
  };
}

function checkRequests(expectation: Of<'requests'>, api: NamedApi): Failure | undefined {
  const { pointer, method, path, body, count } = expectation;
  const at = pointerTo(pointer, 'requests');
  const found = api.requests.filter(
    (request) =>
      (method === undefined || request.method === method) &&
      (path === undefined || request.path.split('?')[0] === path) &&
      (body === undefined || isLike(body, request.body)),
  );
  const title = [method, path].filter((part) => part !== undefined).join(' ') || 'any request';
  if (count === undefined) {
    if (found.length > 0) return undefined;
    const all = api.requests.map((each) => `${each.method} ${each.path}`);
    const list = all.length === 0 ? 'it got none' : `it got ${[...new Set(all)].join(', ')}`;
    return failure(at, `The API got no such request (${title}); ${list}`);
  }
  const mismatches = compareSubset(count, found.length, undefined);
  if (mismatches.length === 0) return undefined;
  return {
    pointer: pointerTo(at, 'count'),
    message: `The number of requests (${title}) is not as expected`,
    mismatches,
  };
}

function isLike(expected: Json, found: Json | undefined): boolean {
  return compareSubset(expected, found, undefined).length === 0;
}

function shortText(value: Json): string {
  const text = JSON.stringify(isJsonObject(value) ? value : [value]);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

function failure(pointer: string, message: string): Failure {
  return { pointer, message, mismatches: [] };
}
