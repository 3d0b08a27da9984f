import { isJsonObject, type JsonObject, pointerTo } from '#util/json.ts';
import type { Finding } from '../finding.ts';
import { describeFound, fieldOf, mapsAt } from '../tree.ts';
import { isNamespaceKind } from './namespaces.ts';
import { containsExpression, isDnsLabel, type Rule } from './rule.ts';

/** How many objects a definition may have itself: its status records each of them. */
export const maxInstalledObjects = 200;

/**
 * Objects of `install` are where the definition says literally: a computed namespace would let the authors of the objects that it reads choose
 * where the runtime writes.
 */
export const checkInstall: Rule = function* (document) {
  for (const { value, path } of mapsAt(document, '/spec/install')) {
    yield* checkList(fieldOf(value, 'forEach'), pointerTo(path, 'forEach'));
    const template = fieldOf(value, 'template');
    const metadata = isJsonObject(template) ? fieldOf(template, 'metadata') : undefined;
    if (!isJsonObject(metadata)) continue;
    const at = `${pointerTo(path, 'template')}/metadata`;
    yield* checkNamespace(metadata, 'namespace', at);
    if (isNamespaceKind(template)) yield* checkNamespace(metadata, 'name', at);
  }
};

/** The list of one entry cannot be longer than all of them may be. */
function* checkList(list: unknown, path: string): Iterable<Finding> {
  if (!Array.isArray(list) || list.length <= maxInstalledObjects) return;
  const message = `Expected at most ${maxInstalledObjects} objects in "install", found "${list.length}"`;
  yield { code: 'invalid-value', path, message };
}

function* checkNamespace(
  metadata: JsonObject,
  field: 'namespace' | 'name',
  parent: string,
): Iterable<Finding> {
  const value = metadata[field];
  if (typeof value !== 'string' || value === '') return;
  const path = pointerTo(parent, field);
  if (containsExpression(value)) {
    const what = field === 'namespace' ? 'The namespace' : 'The name of a Namespace';
    yield {
      code: 'forbidden-expression',
      path,
      message: `${what} in "install" cannot be computed, found ${describeFound(value)}`,
      hint: 'Write it as a literal',
    };
  } else if (!isDnsLabel(value)) {
    const message = `Expected a namespace name, found ${describeFound(value)}`;
    yield { code: 'invalid-value', path, message };
  }
}
