import { isJsonObject, type JsonObject, pointerTo } from '#util/json.ts';
import type { Finding } from '../finding.ts';
import { describeFound, itemsAt, mapsAt } from '../tree.ts';
import { containsExpression, type Rule } from './rule.ts';

/** A read with `history` selects objects that can be recorded, and names fields whose changes are meaningful. */
export const checkHistory: Rule = function* (document) {
  for (const { value: read, path } of mapsAt(document, '/spec/reads')) {
    if (!isJsonObject(read.history)) continue;
    const at = pointerTo(path, 'history');
    const unsupported = unsupportedReason(read);
    if (unsupported !== undefined)
      yield { code: 'invalid-value', path: at, at: 'key', ...unsupported };
    else yield* checkSecrets(read, read.history, at);
    yield* checkOnChange(read.history, pointerTo(at, 'onChange'));
  }
};

/** Whether a document has a read with `history`: then computed kinds and whole patches are allowed. */
export function hasHistory(document: JsonObject): boolean {
  return mapsAt(document, '/spec/reads').some(({ value }) => isJsonObject(value.history));
}

const kindsWithoutHistory: ReadonlyMap<string, string> = new Map([
  ['apps ControllerRevision', 'Versions are stored as ControllerRevisions'],
  [' Event', 'Events are not edited, and they expire'],
  ['events.k8s.io Event', 'Events are not edited, and they expire'],
  ['coordination.k8s.io Lease', 'A Lease is renewed every few seconds'],
]);

function unsupportedReason(
  read: JsonObject,
): { readonly message: string; readonly hint: string } | undefined {
  if (Object.hasOwn(read, 'name'))
    return {
      message: '"history" requires a read with "selector", found "name"',
      hint: 'Select the object by a label, or write "selector: all" and filter "history" by name',
    };
  if (Object.hasOwn(read, 'cluster'))
    return {
      message: '"history" is not supported for objects of another cluster',
      hint: 'Versions are stored beside the objects; run Homeostat in that cluster too',
    };
  const { apiVersion, kind } = read;
  const group = typeof apiVersion === 'string' ? (/^(.*)\//.exec(apiVersion)?.[1] ?? '') : '';
  const hint = kindsWithoutHistory.get(`${group} ${String(kind)}`);
  if (hint === undefined) return undefined;
  return { message: `"history" is not supported for kind ${describeFound(kind)}`, hint };
}

function* checkSecrets(
  { apiVersion, kind }: JsonObject,
  { secrets }: JsonObject,
  path: string,
): Iterable<Finding> {
  const isSecret = apiVersion === 'v1' && kind === 'Secret';
  if (isSecret && secrets !== true) {
    yield {
      code: 'missing-field',
      path: pointerTo(path, 'secrets'),
      at: 'parent-key',
      message: 'Versions of Secrets require "secrets: true"',
      hint: 'Versions are stored as Secrets; set "secrets: true"',
    };
  } else if (!isSecret && secrets === true) {
    const message = `"secrets" applies only to kind "Secret", found ${describeFound(kind)}`;
    yield { code: 'invalid-value', path: pointerTo(path, 'secrets'), at: 'key', message };
  }
}

const fieldPath = /^[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*$/;

function* checkOnChange(history: JsonObject, path: string): Iterable<Finding> {
  const fields = itemsAt(history, '/onChange');
  if (Array.isArray(history.onChange) && fields.length === 0) {
    const message = 'Expected paths of fields, found none';
    const hint = 'Remove "onChange" for everything but "metadata" and "status"';
    yield { code: 'invalid-value', path, message, hint };
  }
  for (const [index, { value }] of fields.entries()) {
    if (typeof value === 'string') yield* checkField(value, pointerTo(path, index));
  }
}

function* checkField(field: string, path: string): Iterable<Finding> {
  const found = describeFound(field);
  if (containsExpression(field)) {
    const message = `A path of "onChange" cannot be an expression, found ${found}`;
    yield { code: 'forbidden-expression', path, message };
  } else if (!fieldPath.test(field)) {
    const message = `Expected a dotted path such as "spec" or "metadata.labels", found ${found}`;
    yield { code: 'invalid-value', path, message };
  } else if (/^status\b/.test(field)) {
    const message = `Versions have no status, found ${found}`;
    yield { code: 'invalid-value', path, message };
  } else if (/^metadata\b/.test(field) && !/^metadata\.(?:labels|annotations)$/.test(field)) {
    const message = `Expected "metadata.labels" or "metadata.annotations", found ${found}`;
    const hint = 'The API server writes the other fields of "metadata"';
    yield { code: 'invalid-value', path, message, hint };
  } else if (field === 'apiVersion' || field === 'kind') {
    const message = `"${field}" never changes; expected a field such as "spec"`;
    yield { code: 'invalid-value', path, message };
  }
}
