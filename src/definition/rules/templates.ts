import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import { nearestName } from '../../util/nearest-name.ts';
import { found } from '../describe-value.ts';
import type { Finding } from '../finding.ts';
import { fieldOf, mapsAt } from '../tree.ts';
import { checkKindLiteral } from './kind-literal.ts';
import { checkOwnNames } from './own-names.ts';
import type { Rule } from './rule.ts';
import { checkWrittenKeys } from './written-keys.ts';

/** A child's template says what it is and how it is called, and leaves to us what is ours. */
export const checkTemplates: Rule = function* (document) {
  for (const list of ['/spec/children', '/spec/onDelete/children']) {
    for (const { value, path } of mapsAt(document, list)) {
      const template = fieldOf(value, 'template');
      if (isJsonObject(template)) yield* checkTemplate(template, pointerTo(path, 'template'));
    }
  }
};

function* checkTemplate(template: JsonObject, path: string): Iterable<Finding> {
  yield* checkWrittenKeys(template, path);
  for (const field of ['apiVersion', 'kind'])
    yield* checkKindLiteral({ holder: template, path, field });
  const metadata = template.metadata;
  const at = pointerTo(path, 'metadata');
  if (metadata === undefined) {
    yield missingName({}, at);
  } else if (!isJsonObject(metadata)) {
    yield { code: 'wrong-type', path: at, message: `Expected a map, found ${found(metadata)}` };
  } else yield* checkMetadata(metadata, at);
}

function* checkMetadata(metadata: JsonObject, path: string): Iterable<Finding> {
  yield* checkWrittenKeys(metadata, path);
  yield* checkName(metadata, path);
  yield* checkOwnNames(metadata, path);
}

function* checkName(metadata: JsonObject, path: string): Iterable<Finding> {
  if (Object.hasOwn(metadata, 'generateName')) {
    yield {
      code: 'invalid-value',
      path: pointerTo(path, 'generateName'),
      at: 'key',
      message: 'A child cannot have "generateName": its name must be the same in every pass',
      hint: 'Use "name", for example with $hash() or $name()',
    };
    return;
  }
  const { name } = metadata;
  const at = pointerTo(path, 'name');
  if (name === undefined || name === null) yield missingName(metadata, path);
  else if (typeof name !== 'string' || name === '') {
    yield { code: 'wrong-type', path: at, message: `Expected a text, found ${found(name)}` };
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
    hint: 'Such as "name: ${ metadata.name }", the name of the resource',
  };
}

const metadataFields = new Set(['name', 'namespace', 'labels', 'annotations', 'finalizers']);
