import { nearestName } from '#util/did-you-mean.ts';
import { isJsonObject, type JsonObject, pointerTo } from '#util/json.ts';
import type { Finding } from '../finding.ts';
import { describeFound, fieldOf, mapsAt } from '../tree.ts';
import { checkKindLiteral, checkLiteralKeys, checkReservedNames } from './kind-literal.ts';
import { manifestListPaths } from './namespaces.ts';
import type { Rule } from './rule.ts';

/** A child template has a literal kind and a name, and does not set labels or annotations of Homeostat. */
export const checkTemplates: Rule = function* (document) {
  for (const list of manifestListPaths) {
    for (const { value, path } of mapsAt(document, list)) {
      const template = fieldOf(value, 'template');
      const mayChoose = list === '/spec/children';
      const choosesKind = mayChoose ? fieldOf(value, 'kinds') !== undefined : undefined;
      if (isJsonObject(template))
        yield* checkTemplate(template, pointerTo(path, 'template'), choosesKind);
    }
  }
};

function* checkTemplate(
  template: JsonObject,
  path: string,
  choosesKind: boolean | undefined,
): Iterable<Finding> {
  yield* checkLiteralKeys(template, path);
  for (const field of ['apiVersion', 'kind'])
    yield* checkKindLiteral({
      parent: template,
      path,
      field,
      ...(choosesKind !== undefined && { choosesKind }),
    });
  const metadata = template.metadata;
  const at = pointerTo(path, 'metadata');
  if (metadata === undefined) {
    yield missingName({}, at);
  } else if (!isJsonObject(metadata)) {
    yield {
      code: 'wrong-type',
      path: at,
      message: `Expected a map, found ${describeFound(metadata)}`,
    };
  } else yield* checkMetadata(metadata, at);
}

function* checkMetadata(metadata: JsonObject, path: string): Iterable<Finding> {
  yield* checkLiteralKeys(metadata, path);
  yield* checkName(metadata, path);
  yield* checkReservedNames(metadata, path);
}

function* checkName(metadata: JsonObject, path: string): Iterable<Finding> {
  if (Object.hasOwn(metadata, 'generateName')) {
    yield {
      code: 'invalid-value',
      path: pointerTo(path, 'generateName'),
      at: 'key',
      message: 'A child cannot use "generateName": its name must be the same in every reconcile',
      hint: 'Use "name" with an expression, for example $hash() or $name()',
    };
    return;
  }
  const { name } = metadata;
  const at = pointerTo(path, 'name');
  if (name === undefined || name === null) yield missingName(metadata, path);
  else if (typeof name !== 'string' || name === '') {
    yield {
      code: 'wrong-type',
      path: at,
      message: `Expected a string, found ${name === '' ? 'an empty string' : describeFound(name)}`,
    };
  }
}

function missingName(metadata: JsonObject, path: string): Finding {
  const others = Object.keys(metadata).filter((field) => !metadataFields.has(field));
  const mistyped = others.find((field) => nearestName(field, metadataFields) === 'name');
  if (mistyped !== undefined) {
    return {
      code: 'unknown-field',
      path: pointerTo(path, mistyped),
      at: 'key',
      message: `Unknown field "${mistyped}"`,
      hint: 'Did you mean "name"?',
    };
  }
  return {
    code: 'missing-field',
    path: pointerTo(path, 'name'),
    at: 'parent-key',
    message: 'Missing field "metadata.name"',
    hint: 'For example "name: ${ metadata.name }", the name of the resource',
  };
}

const metadataFields = new Set(['name', 'namespace', 'labels', 'annotations', 'finalizers']);
