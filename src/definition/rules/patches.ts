import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import { found } from '../describe-value.ts';
import type { Finding } from '../finding.ts';
import { fieldOf, mapAt, mapsAt, valueAt } from '../tree.ts';
import {
  checkCrossNamespace,
  checkNamespaceName,
  checkNamespaceUse,
  isNamespaceKind,
} from './cross-namespace.ts';
import { checkKindLiteral } from './kind-literal.ts';
import { checkOwnNames } from './own-names.ts';
import type { Rule } from './rule.ts';
import { checkWrittenKeys } from './written-keys.ts';

/** A patch names its target apart, and sets fields that are not ours or the server's to write. */
export const checkPatches: Rule = function* (document) {
  const isCluster = valueAt(document, '/spec/crd/scope') === 'Cluster';
  for (const { value, path } of mapsAt(document, '/spec/patches')) {
    const { crossNamespace } = value;
    const target = mapAt(value, '/target');
    const hasTarget = Object.keys(target).length > 0;
    if (hasTarget) {
      const at = pointerTo(path, 'target');
      yield* checkTarget(target, at);
      yield* checkCrossNamespace(crossNamespace, pointerTo(path, 'crossNamespace'));
      if (isNamespaceKind(target)) {
        const named = { value: target.name, path: pointerTo(at, 'name') };
        yield* checkNamespaceName({ ...named, crossNamespace });
      }
      yield* checkNamespaceUse({
        value: target.namespace,
        path: pointerTo(at, 'namespace'),
        crossNamespace,
        isCluster,
        isWritten: true,
      });
    } else yield* checkOwn(value, path);
    const patch = fieldOf(value, 'patch');
    if (isJsonObject(patch)) yield* checkPatch(patch, pointerTo(path, 'patch'), hasTarget);
  }
};

function* checkTarget(target: JsonObject, path: string): Iterable<Finding> {
  for (const field of ['apiVersion', 'kind'])
    yield* checkKindLiteral({ holder: target, path, field });
  const { name } = target;
  const at = pointerTo(path, 'name');
  if (name === undefined) {
    const message = 'Missing field "name"';
    const hint = 'Leave the target out to patch the resource itself';
    yield { code: 'missing-field', path: at, at: 'parent-key', message, hint };
  } else if (name === '') {
    const message = 'Expected a name, found an empty text';
    yield { code: 'invalid-value', path: at, message };
  }
}

/** The resource itself is there, and in its own namespace. */
function* checkOwn(patch: JsonObject, path: string): Iterable<Finding> {
  for (const field of ['create', 'crossNamespace']) {
    const value = fieldOf(patch, field);
    if (value === undefined || value === false) continue;
    yield {
      code: 'invalid-value',
      path: pointerTo(path, field),
      at: 'key',
      message: `"${field}" is for a patch with a "target"`,
    };
  }
}

function* checkPatch(patch: JsonObject, path: string, hasTarget: boolean): Iterable<Finding> {
  if (Object.keys(patch).length === 0) {
    yield { code: 'invalid-value', path, message: 'Expected fields to set, found an empty map' };
  }
  yield* checkWrittenKeys(patch, path);
  for (const field of ['apiVersion', 'kind']) {
    if (fieldOf(patch, field) !== undefined) yield misplaced(path, field);
  }
  if (!hasTarget && fieldOf(patch, 'status') !== undefined) {
    yield {
      code: 'invalid-value',
      path: pointerTo(path, 'status'),
      at: 'key',
      message: 'A patch of the resource itself cannot set its status',
      hint: 'Write it under "status" of the definition',
    };
  }
  yield* checkMetadata(fieldOf(patch, 'metadata'), pointerTo(path, 'metadata'));
}

function* checkMetadata(metadata: unknown, path: string): Iterable<Finding> {
  if (metadata === undefined) return;
  if (!isJsonObject(metadata)) {
    yield { code: 'wrong-type', path, message: `Expected a map, found ${found(metadata)}` };
    return;
  }
  yield* checkWrittenKeys(metadata, path);
  for (const field of ['name', 'namespace']) {
    if (metadata[field] !== undefined) yield misplaced(path, field);
  }
  for (const field of serverFields) {
    if (metadata[field] === undefined) continue;
    const message = `"metadata.${field}" is written by the server alone`;
    yield { code: 'invalid-value', path: pointerTo(path, field), at: 'key', message };
  }
  yield* checkOwnNames(metadata, path);
}

const serverFields = [
  'generateName',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'managedFields',
];

function misplaced(path: string, field: string): Finding {
  return {
    code: 'invalid-value',
    path: pointerTo(path, field),
    at: 'key',
    message: `A patch cannot set "${field}"`,
    hint: 'What is patched stands in "target"',
  };
}
