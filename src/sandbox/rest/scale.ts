import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { fieldOf, objectField, stringField, withField } from '../json-fields.ts';
import {
  applyPatchType,
  jsonPatchType,
  type ScalePaths,
  type ServedKind,
  withMetadata,
} from '../kinds/index.ts';
import {
  badRequest,
  invalid,
  invalidField,
  notFound,
  notModelled,
  unsupportedMediaType,
} from '../status/index.ts';
import type { StoredObject } from '../store/index.ts';
import type { WriteRequest } from './create-object.ts';
import { applyJsonPatch } from './json-patch.ts';
import { applyMergePatch } from './merge-patch.ts';
import { mediaType } from './read-body.ts';
import { replaceObject } from './replace-object.ts';
import type { RestAnswer, RestContext, Target } from './rest-context.ts';
import { findStored } from './update-object.ts';
import { inVersion } from './versions.ts';

/** GET of `/scale`. */
export function getScale(context: RestContext, target: Target): RestAnswer {
  const { stored } = findScaled(context, target);
  return { code: 200, body: scaleOf(target.kind, inVersion(target.kind, stored)), warnings: [] };
}

/** PUT of `/scale`: the replicas of the object, and nothing else of it. */
export function updateScale(
  context: RestContext,
  target: Target,
  { text, options }: WriteRequest,
): RestAnswer {
  const body = parseJson(text);
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
  if (!target.kind.patchTypes.includes(type)) throw unsupportedMediaType(target.kind.patchTypes);
  if (type === applyPatchType) throw notModelled('applies to the scale subresource');
  const { stored } = findScaled(context, target);
  const scale = scaleOf(target.kind, inVersion(target.kind, stored));
  const patch = parseJson(text);
  const patched =
    type === jsonPatchType
      ? applyJsonPatch(scale, patch)
      : applyMergePatch(scale, isJsonObject(patch) ? patch : {});
  if (!isJsonObject(patched)) throw badRequest('Expected a Scale');
  return writeScale(context, target, { scale: patched, ...options });
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
  const { kind, name } = target;
  const { stored, paths } = findScaled(context, target);
  const replicas = fieldOf(objectField(scale, 'spec') ?? {}, 'replicas') ?? 0;
  if (typeof replicas !== 'number' || replicas < 0) {
    const error = invalidField('spec.replicas', replicas, 'must be greater than or equal to 0');
    throw invalid({ group: 'autoscaling', kind: 'Scale' }, name, [error]);
  }
  const live = inVersion(kind, stored);
  const version = stringField(objectField(scale, 'metadata') ?? {}, 'resourceVersion');
  const scaled = withPath(live, paths.specReplicas, replicas);
  const versioned = withMetadata(scaled, 'resourceVersion', version ?? String(stored.version));
  const next = kind.fieldManager('scale').update({ live, next: versioned, manager });
  const { object } = replaceObject(context, target, { stored, next, dryRun, guardsUid: false });
  return { code: 200, body: scaleOf(kind, object), warnings: [] };
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
    : selectorText(objectField(objectField(object, 'spec') ?? {}, 'selector'));
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

/** The selector of a built-in kind as a query writes it. */
function selectorText(selector: JsonObject | undefined): string | undefined {
  const labels = Object.entries(objectField(selector ?? {}, 'matchLabels') ?? {});
  if (labels.length === 0) return undefined;
  return labels
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join(',');
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

function parseJson(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw badRequest(`error decoding patch: ${error.message}`);
  }
}
