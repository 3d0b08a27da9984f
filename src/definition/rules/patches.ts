import { isJsonObject, type JsonObject, pointerTo } from '../../util/json.ts';
import type { Finding } from '../finding.ts';
import { describeFound, fieldOf, mapAt, mapsAt, valueAt } from '../tree.ts';
import { checkKindLiteral, checkLiteralKeys, checkReservedNames } from './kind-literal.ts';
import {
  checkCrossNamespace,
  checkNamespaceName,
  checkNamespaceReference,
  isNamespaceKind,
} from './namespaces.ts';
import type { Rule } from './rule.ts';

/** A patch identifies its object in `target` and does not set fields of Homeostat or the API server. */
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
      yield* checkNamespaceReference({
        value: target.namespace,
        path: pointerTo(at, 'namespace'),
        crossNamespace,
        isCluster,
        isWritten: true,
      });
    } else yield* checkResourcePatch(value, path);
    const patch = fieldOf(value, 'patch');
    if (isJsonObject(patch)) yield* checkPatch(patch, pointerTo(path, 'patch'), hasTarget);
  }
};

function* checkTarget(target: JsonObject, path: string): Iterable<Finding> {
  for (const field of ['apiVersion', 'kind'])
    yield* checkKindLiteral({ parent: target, path, field });
  const { name } = target;
  const at = pointerTo(path, 'name');
  if (name === undefined) {
    const message = 'Missing field "name"';
    const hint = 'Remove the target to patch the resource itself';
    yield { code: 'missing-field', path: at, at: 'parent-key', message, hint };
  } else if (name === '') {
    const message = 'Expected a name, found an empty string';
    yield { code: 'invalid-value', path: at, message };
  }
}

/** `create` and `crossNamespace` do not apply to the resource itself. */
function* checkResourcePatch(patch: JsonObject, path: string): Iterable<Finding> {
  for (const field of ['create', 'crossNamespace']) {
    const value = fieldOf(patch, field);
    if (value === undefined || value === false) continue;
    yield {
      code: 'invalid-value',
      path: pointerTo(path, field),
      at: 'key',
      message: `"${field}" requires a "target"`,
    };
  }
}

function* checkPatch(patch: JsonObject, path: string, hasTarget: boolean): Iterable<Finding> {
  if (Object.keys(patch).length === 0) {
    yield { code: 'invalid-value', path, message: 'Expected fields to set, found an empty map' };
  }
  yield* checkLiteralKeys(patch, path);
  for (const field of ['apiVersion', 'kind']) {
    if (fieldOf(patch, field) !== undefined) yield targetFieldInPatch(path, field);
  }
  if (!hasTarget && fieldOf(patch, 'status') !== undefined) {
    yield {
      code: 'invalid-value',
      path: pointerTo(path, 'status'),
      at: 'key',
      message: 'A patch of the resource itself cannot set its status',
      hint: 'Set it under "spec.status"',
    };
  }
  yield* checkMetadata(fieldOf(patch, 'metadata'), pointerTo(path, 'metadata'));
}

function* checkMetadata(metadata: unknown, path: string): Iterable<Finding> {
  if (metadata === undefined) return;
  if (!isJsonObject(metadata)) {
    yield { code: 'wrong-type', path, message: `Expected a map, found ${describeFound(metadata)}` };
    return;
  }
  yield* checkLiteralKeys(metadata, path);
  for (const field of ['name', 'namespace']) {
    if (metadata[field] !== undefined) yield targetFieldInPatch(path, field);
  }
  for (const field of serverFields) {
    if (metadata[field] === undefined) continue;
    const message = `"metadata.${field}" is set by the API server`;
    yield { code: 'invalid-value', path: pointerTo(path, field), at: 'key', message };
  }
  yield* checkReservedNames(metadata, path);
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

function targetFieldInPatch(path: string, field: string): Finding {
  return {
    code: 'invalid-value',
    path: pointerTo(path, field),
    at: 'key',
    message: `A patch cannot set "${field}"`,
    hint: 'Identify the object in "target"',
  };
}
