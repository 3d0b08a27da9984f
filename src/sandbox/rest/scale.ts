import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { goKind } from '../go-value.ts';
import { fieldOf, listField, objectField, stringField, withField } from '../json-fields.ts';
import { withMetadata } from '../kinds/generation.ts';
import {
  applyPatchType,
  jsonPatchType,
  type ScalePaths,
  type ServedKind,
} from '../kinds/served-kind.ts';
import { labelSelectorText } from '../selector/label-query.ts';
import { badRequest, invalid, notFound } from '../status/api-errors.ts';
import { invalidField } from '../status/field-error.ts';
import type { StatusError } from '../status/status-error.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { WriteRequest } from './create-object.ts';
import { applyJsonPatch, applyMergePatch } from './json-patch.ts';
import { mediaType, parsePatch } from './parse-json.ts';
import { assertPatchType, parseConfig, withApplyErrors } from './patch-object.ts';
import { withRequestNamespace } from './read-body.ts';
import { replaceObject } from './replace-object.ts';
import { inVersion, type RestAnswer, type RestContext, type Target } from './rest-context.ts';
import { assertTargetName, findStored } from './update-object.ts';

/** GET of `/scale`. */
export function getScale(context: RestContext, target: Target): RestAnswer {
  const { stored } = findScaled(context, target);
  return { code: 200, body: scaleOf(target.kind, inVersion(target.kind, stored)), warnings: [] };
}

/** PUT of `/scale`: changes only the replicas of the object. */
export function updateScale(
  context: RestContext,
  target: Target,
  { text, options }: WriteRequest,
): RestAnswer {
  const body = parsePatch(text);
  if (!isJsonObject(body)) throw badRequest('Expected a Scale');
  return writeScale(context, target, { scale: body, ...options });
}

/** PATCH of `/scale`. */
export function patchScale(
  context: RestContext,
  target: Target,
  { text, contentType, options }: WriteRequest,
): RestAnswer {
  const type = mediaType(contentType);
  assertPatchType(target.kind, type);
  if (type === applyPatchType) return applyScale(context, target, { text, options });
  const { stored } = findScaled(context, target);
  const scale = scaleOf(target.kind, inVersion(target.kind, stored));
  const patch = parsePatch(text);
  const patched =
    type === jsonPatchType
      ? applyJsonPatch(scale, patch)
      : applyMergePatch(scale, isJsonObject(patch) ? patch : {});
  if (!isJsonObject(patched)) throw badRequest('Expected a Scale');
  return writeScale(context, target, { scale: patched, ...options });
}

/** An apply through scale owns the replicas of the object. */
function applyScale(
  context: RestContext,
  target: Target,
  { text, options }: Pick<WriteRequest, 'text' | 'options'>,
): RestAnswer {
  const { kind, name } = target;
  const { manager, force, dryRun } = options;
  const config = parseConfig(context, text);
  const declared = {
    apiVersion: stringField(config, 'apiVersion'),
    kind: stringField(config, 'kind'),
  };
  if (declared.apiVersion !== 'autoscaling/v1' || declared.kind !== 'Scale')
    throw badRequest(
      `invalid object type: ${goKind(declared.apiVersion ?? '', declared.kind ?? '')}`,
    );
  const { stored, paths } = findScaled(context, target);
  const live = inVersion(kind, stored);
  const replicas = fieldOf(objectField(config, 'spec') ?? {}, 'replicas');
  const { namespace, resourceVersion } = objectField(live, 'metadata') ?? {};
  const head = {
    apiVersion: kind.apiVersion,
    kind: kind.names.kind,
    metadata: { name, namespace },
  };
  const requested = replicas === undefined ? head : withPath(head, paths.specReplicas, replicas);
  const merged = withApplyErrors(() =>
    kind.fieldManager('scale').apply({ live, config: requested, manager, force }),
  );
  const applied = withMetadata(kind.complete(merged), 'resourceVersion', resourceVersion);
  const next = mutatedByScale(context, target, { next: applied, live, paths, dryRun });
  const { object, warnings } = replaceObject(context, target, {
    stored,
    next,
    dryRun,
    isUidPrecondition: false,
    presented: (each) => scaleOf(kind, each),
  });
  return { code: 200, body: scaleOf(kind, object), warnings };
}

interface ScaleWrite {
  readonly scale: JsonObject;
  readonly manager: string;
  readonly dryRun: boolean;
}

function writeScale(
  context: RestContext,
  target: Target,
  { scale, manager, dryRun }: ScaleWrite,
): RestAnswer {
  const { kind } = target;
  const { stored, paths } = findScaled(context, target);
  assertTargetName(target, scale);
  withRequestNamespace(target, scale);
  const replicas = fieldOf(objectField(scale, 'spec') ?? {}, 'replicas') ?? 0;
  if (typeof replicas !== 'number' || replicas < 0) {
    throw negativeReplicas(target, paths, replicas);
  }
  const live = inVersion(kind, stored);
  const version = stringField(objectField(scale, 'metadata') ?? {}, 'resourceVersion');
  const scaled = withPath(live, paths.specReplicas, replicas);
  const versioned = withMetadata(scaled, 'resourceVersion', version ?? String(stored.version));
  // A server tracks the managers of a scale only from the first one on.
  const owned = isOwned(context, target, live)
    ? kind.fieldManager('scale').update({ live, next: versioned, manager })
    : versioned;
  const next = mutatedByScale(context, target, { next: owned, live, paths, dryRun });
  const { object, warnings } = replaceObject(context, target, {
    stored,
    next,
    dryRun,
    isUidPrecondition: false,
    presented: (each) => scaleOf(kind, each),
  });
  return { code: 200, body: scaleOf(kind, object), warnings };
}

interface ScaledObject {
  readonly next: JsonObject;
  readonly live: JsonObject;
  readonly paths: ScalePaths;
  readonly dryRun: boolean;
}

/** Policies change the Scale, of which only the replicas count. */
function mutatedByScale(
  { admission, user }: RestContext,
  target: Target,
  { next, live, paths, dryRun }: ScaledObject,
): JsonObject {
  if (admission === undefined) return next;
  const [object, oldObject] = [next, live].map((each) => scaleOf(target.kind, each));
  const mutated = admission.mutate({
    operation: 'UPDATE',
    target,
    object,
    oldObject,
    dryRun,
    user,
  });
  const replicas = fieldOf(objectField(mutated ?? {}, 'spec') ?? {}, 'replicas');
  return replicas === undefined ? next : withPath(next, paths.specReplicas, replicas);
}

/** Does a manager own the replicas, at their path in the version that it has written? */
function isOwned({ kinds }: RestContext, { kind }: Target, object: JsonObject): boolean {
  const { group, plural } = kind.names;
  const pathIn = (apiVersion: string) => {
    const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
    const paths = kinds.find(group, version, plural)?.scale ?? kind.scale;
    return (paths?.specReplicas ?? []).map((name) => `f:${name}`);
  };
  return listField(objectField(object, 'metadata') ?? {}, 'managedFields').some((entry) => {
    const fields = isJsonObject(entry) ? objectField(entry, 'fieldsV1') : undefined;
    const version = isJsonObject(entry) ? stringField(entry, 'apiVersion') : undefined;
    return fields !== undefined && atPath(fields, pathIn(version ?? '')) !== undefined;
  });
}

/** For a custom resource, the error names the path of the replicas in its CRD. */
function negativeReplicas({ kind, name }: Target, paths: ScalePaths, replicas: Json): StatusError {
  if (kind.isCustom) {
    const field = `.${paths.specReplicas.join('.')}`;
    const error = invalidField(field, replicas, 'should be a non-negative integer');
    return invalid({ group: kind.names.group, kind: kind.names.kind }, name, [error]);
  }
  const error = invalidField('spec.replicas', replicas, 'must be greater than or equal to 0');
  return invalid({ group: 'autoscaling', kind: 'Scale' }, name, [error]);
}

function findScaled(
  context: RestContext,
  target: Target,
): { readonly stored: StoredObject; readonly paths: ScalePaths } {
  const stored = findStored(context, target);
  const paths = target.kind.scale;
  if (stored === undefined || paths === undefined) throw notFound(target.kind.names, target.name);
  return { stored, paths };
}

function scaleOf(kind: ServedKind, object: JsonObject): JsonObject {
  const { scale: paths, isCustom } = kind;
  if (paths === undefined) return {};
  const metadata = objectField(object, 'metadata') ?? {};
  const head = Object.fromEntries(
    ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp']
      .filter((name) => metadata[name] !== undefined)
      .map((name) => [name, metadata[name]]),
  );
  const specReplicas = atPath(object, paths.specReplicas);
  const selector = isCustom
    ? paths.labelSelector && atPath(object, paths.labelSelector)
    : builtinSelector(paths, object) || undefined;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: head,
    spec: specReplicas === undefined ? {} : { replicas: specReplicas },
    status: {
      replicas: atPath(object, paths.statusReplicas) ?? 0,
      ...(typeof selector === 'string' ? { selector } : {}),
    },
  };
}

function builtinSelector({ selectsByLabels = false }: ScalePaths, object: JsonObject): string {
  const selector = objectField(objectField(object, 'spec') ?? {}, 'selector') ?? {};
  return labelSelectorText(selectsByLabels ? { matchLabels: selector } : selector);
}

function atPath(object: JsonObject, path: readonly string[]): Json | undefined {
  let value: Json | undefined = object;
  for (const name of path) value = isJsonObject(value) ? fieldOf(value, name) : undefined;
  return value ?? undefined;
}

function withPath(object: JsonObject, path: readonly string[], value: Json): JsonObject {
  const [name = '', ...rest] = path;
  if (rest.length === 0) return withField(object, name, value);
  return withField(object, name, withPath(objectField(object, name) ?? {}, rest, value));
}
