import { isJsonObject, type JsonObject, pointerTo } from '#util/json.ts';
import type { Finding } from '../finding.ts';
import { describeFound, fieldOf, mapAt, mapsAt, valueAt } from '../tree.ts';
import { hasHistory } from './history.ts';
import { checkKindLiteral, checkLiteralKeys, checkReservedNames } from './kind-literal.ts';
import {
  checkCrossNamespace,
  checkNamespaceName,
  checkNamespaceReference,
  isNamespaceKind,
} from './namespaces.ts';
import { containsExpression, isSingleExpression, type Rule } from './rule.ts';

/** A patch identifies its object in `target` and does not set fields of Homeostat or the API server. */
export const checkPatches: Rule = function* (document) {
  const isCluster = valueAt(document, '/spec/crd/scope') === 'Cluster';
  const keepsHistory = hasHistory(document);
  for (const { value, path } of mapsAt(document, '/spec/patches')) {
    const { crossNamespace } = value;
    const target = mapAt(value, '/target');
    const hasTarget = Object.keys(target).length > 0;
    yield* checkTargets(value, path, hasTarget);
    if (hasTarget) {
      const at = pointerTo(path, 'target');
      yield* checkTarget(target, at, keepsHistory);
      yield* checkCrossNamespace(crossNamespace, pointerTo(path, 'crossNamespace'));
      // A recorded object is in the scope of its read, which the runtime checks.
      const isFree = isRestore(value);
      if (isNamespaceKind(target) && !isFree) {
        const named = { value: target.name, path: pointerTo(at, 'name') };
        yield* checkNamespaceName({ ...named, crossNamespace });
      }
      if (!isFree)
        yield* checkNamespaceReference({
          value: target.namespace,
          path: pointerTo(at, 'namespace'),
          crossNamespace,
          isCluster,
          isWritten: true,
        });
    } else yield* checkResourcePatch(value, path);
    if (hasTarget && value.replace === true && !keepsHistory)
      yield needsHistory('"replace"', pointerTo(path, 'replace'), 'key');
    if (value.at === 'Deletion') yield* checkPatchAtDeletion(value, path, hasTarget);
    else yield* checkOwnership(value, path);
    if (value.delete === true) {
      yield* checkDeletion(value, path, hasTarget);
      continue;
    }
    if (value.patch === undefined) {
      const message = 'Missing field "patch"';
      yield { code: 'missing-field', path: pointerTo(path, 'patch'), at: 'parent-key', message };
    }
    if (hasTarget && value.status === true) yield* checkStatusPatch(value, path);
    const patch = fieldOf(value, 'patch');
    if (typeof patch === 'string')
      yield* checkWholePatch(patch, pointerTo(path, 'patch'), { hasTarget, keepsHistory });
    if (isJsonObject(patch)) yield* checkPatch(patch, pointerTo(path, 'patch'), hasTarget);
  }
};

/** A list of targets: objects that the definition names, not those that a read has recorded. */
function* checkTargets(patch: JsonObject, path: string, hasTarget: boolean): Iterable<Finding> {
  if (fieldOf(patch, 'forEach') === undefined) return;
  const at = pointerTo(path, 'forEach');
  if (!hasTarget) {
    const message = '"forEach" requires a "target"';
    const hint = 'The resource itself is one object';
    yield { code: 'invalid-value', path: at, at: 'key', message, hint };
  }
  if (isRestore(patch) || patch.replace === true) {
    const message = '"forEach" does not apply to a patch that restores a recorded object';
    yield { code: 'invalid-value', path: at, at: 'key', message };
  }
}

/** A patch that owns fields of its target is applied continuously, and sets fields that are known. */
function* checkOwnership(patch: JsonObject, path: string): Iterable<Finding> {
  const field = ['conflicts', 'withdraw'].find((name) => fieldOf(patch, name) !== undefined);
  if (field === undefined) return;
  if (isRestore(patch) || patch.replace === true) {
    yield {
      code: 'invalid-value',
      path: pointerTo(path, field),
      at: 'key',
      message: `"${field}" does not apply to a patch that restores a recorded object`,
    };
  } else if (patch.once !== undefined && patch.withdraw !== false) {
    yield {
      code: 'invalid-value',
      path: pointerTo(path, 'once'),
      at: 'key',
      message: 'A patch that is sent once cannot be withdrawn',
      hint: 'Add "withdraw: false", or remove "once"',
    };
  }
}

/** A patch of a deletion changes another object, once. */
function* checkPatchAtDeletion(
  patch: JsonObject,
  path: string,
  hasTarget: boolean,
): Iterable<Finding> {
  const at = pointerTo(path, 'at');
  if (!hasTarget) {
    const message = '"at: Deletion" requires a "target"';
    const hint = 'The resource itself is deleted with its fields';
    yield { code: 'invalid-value', path: at, at: 'key', message, hint };
  }
  if (isRestore(patch)) {
    const message = '"at: Deletion" does not apply to a patch that restores a recorded object';
    yield { code: 'invalid-value', path: at, at: 'key', message };
  }
  for (const field of ['once', 'replace', 'conflicts', 'withdraw']) {
    if (patch[field] === undefined || patch[field] === false) continue;
    const message = `"${field}" does not apply to "at: Deletion": the patch is sent once, and stays`;
    yield { code: 'invalid-value', path: pointerTo(path, field), at: 'key', message };
  }
}

const fieldsOfPatch = ['patch', 'create', 'replace', 'status', 'conflicts', 'withdraw'];

/** A deletion has an object and happens once. */
function* checkDeletion(patch: JsonObject, path: string, hasTarget: boolean): Iterable<Finding> {
  const at = pointerTo(path, 'delete');
  if (!hasTarget) {
    const message = '"delete" requires a "target"';
    const hint = 'Homeostat does not delete the resource itself';
    yield { code: 'invalid-value', path: at, at: 'key', message, hint };
  }
  if (patch.once === undefined && patch.at !== 'Deletion')
    yield {
      code: 'missing-field',
      path: pointerTo(path, 'once'),
      at: 'parent-key',
      message: '"delete" requires "once": the object is deleted once for each value',
      hint: 'Write a value that changes with the reason, such as "once: ${ spec.restartedAt }"',
    };
  if (isRestore(patch)) {
    const message = '"delete" requires a literal kind';
    yield { code: 'forbidden-expression', path: at, at: 'key', message };
  }
  for (const field of fieldsOfPatch) {
    if (patch[field] === undefined || patch[field] === false) continue;
    const message = `"${field}" does not apply to a deletion`;
    yield { code: 'invalid-value', path: pointerTo(path, field), at: 'key', message };
  }
}

/** A status is written through its own subresource, of an object that exists. */
function* checkStatusPatch(patch: JsonObject, path: string): Iterable<Finding> {
  for (const field of ['create', 'replace']) {
    if (patch[field] !== true) continue;
    const message = `"${field}" does not apply to a patch of the status`;
    yield { code: 'invalid-value', path: pointerTo(path, field), at: 'key', message };
  }
  if (isRestore(patch)) {
    const message = '"status" does not apply to a patch that restores a recorded object';
    yield { code: 'invalid-value', path: pointerTo(path, 'status'), at: 'key', message };
    return;
  }
  const fields = mapAt(patch, '/patch');
  const at = pointerTo(path, 'patch');
  for (const field of Object.keys(fields)) {
    if (field === 'status') continue;
    yield {
      code: 'invalid-value',
      path: pointerTo(at, field),
      at: 'key',
      message: `A patch with "status: true" sets only the status, found "${field}"`,
      hint: 'Write another patch for the other fields',
    };
  }
}

/** Whether a patch writes only objects that have been recorded: its kind or all of its fields are computed. */
function isRestore({ target, patch }: JsonObject): boolean {
  return (
    typeof patch === 'string' || kindFields.some((field) => isComputed(fieldOf(target, field)))
  );
}

const kindFields = ['apiVersion', 'kind'];

function isComputed(value: unknown): boolean {
  return typeof value === 'string' && containsExpression(value);
}

function* checkWholePatch(
  patch: string,
  path: string,
  { hasTarget, keepsHistory }: { readonly hasTarget: boolean; readonly keepsHistory: boolean },
): Iterable<Finding> {
  if (!isSingleExpression(patch)) {
    const message = `Expected a map, or one expression that returns it, found ${describeFound(patch)}`;
    yield { code: 'wrong-type', path, message };
  } else if (!hasTarget) {
    const message = 'A patch of the resource itself cannot be one expression';
    const hint = 'Write its fields, or add a "target" that has been recorded';
    yield { code: 'forbidden-expression', path, message, hint };
  } else if (!keepsHistory) yield needsHistory('A patch that is one expression', path);
}

function needsHistory(what: string, path: string, at: 'key' | 'value' = 'value'): Finding {
  return {
    code: 'forbidden-expression',
    path,
    at,
    message: `${what} requires a read with "history"`,
    hint: 'Only objects that have been recorded may be written this way',
  };
}

function* checkTarget(target: JsonObject, path: string, keepsHistory: boolean): Iterable<Finding> {
  for (const field of kindFields) {
    if (keepsHistory && isComputed(target[field])) continue;
    yield* checkKindLiteral({ parent: target, path, field });
  }
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

/** `create`, `crossNamespace`, `replace` and `status` do not apply to the resource itself. */
function* checkResourcePatch(patch: JsonObject, path: string): Iterable<Finding> {
  for (const field of ['create', 'crossNamespace', 'replace', 'status']) {
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
