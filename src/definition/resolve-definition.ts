import { parseDurationMs } from '../util/duration.ts';
import { freezeDeep } from '../util/freeze-deep.ts';
import { type Gvk, gvkOf } from '../util/gvk.ts';
import { isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { completeCrd, resolveCrd } from './crd/complete-crd.ts';
import { standardStatusFields } from './crd/standard-status.ts';
import type {
  ChildDefinition,
  ControllerOptions,
  ReadDefinition,
  ServedKind,
} from './operator-definition.ts';
import { revisionOf } from './revision.ts';
import type { LocatedDefinition } from './source-map.ts';
import { fieldOf, mapAt, mapsAt, type Placed, valueAt } from './tree.ts';

/**
 * The typed definition of a document, with all defaults, frozen. Of a document with mistakes: what could be understood, the
 * rest left out; undefined when that is not even a name and a kind.
 */
export function resolveDefinition(
  document: Json,
): Pick<LocatedDefinition, 'definition' | 'pointers'> | undefined {
  const name = valueAt(document, '/metadata/name');
  const crd = resolveCrd(mapAt(document, '/spec/crd'));
  const crdPolicy = { adopt: valueAt(document, '/spec/crdPolicy/adopt') === true };
  const kind = resolveKind(crd, crdPolicy);
  if (typeof name !== 'string' || kind === undefined) return undefined;
  const reads = resolveAll(mapsAt(document, '/spec/reads'), resolveRead);
  const children = resolveAll(mapsAt(document, '/spec/children'), resolveChild);
  const parts = {
    vars: mapAt(document, '/spec/vars'),
    reads: reads.map(({ value }) => value),
    children: children.map(({ value }) => value),
    status: resolveStatus(mapAt(document, '/spec/status')),
    controller: resolveController(mapAt(document, '/spec/controller')),
  };
  // Of what the author wrote, not of what we add to it: an upgrade of Homeostat is no change of the definition.
  const revision = revisionOf({ crd, crdPolicy, ...parts });
  return freezeDeep({
    definition: { name, revision, kind, ...parts },
    pointers: { reads: reads.map(({ path }) => path), children: children.map(({ path }) => path) },
  });
}

function resolveAll<Value>(
  written: readonly Placed<JsonObject>[],
  resolve: (value: JsonObject) => Value | undefined,
): readonly Placed<Value>[] {
  return written.flatMap(({ value, path }) => {
    const resolved = resolve(value);
    return resolved === undefined ? [] : { value: resolved, path };
  });
}

function resolveKind(
  resolved: JsonObject,
  crdPolicy: ServedKind['crdPolicy'],
): ServedKind | undefined {
  const crd = completeCrd(resolved);
  const stored = mapsAt(crd, '/spec/versions').find(({ value }) => value.storage === true);
  if (stored === undefined) return undefined;
  const names = mapAt(resolved, '/names');
  return {
    gvk: {
      group: String(resolved.group),
      version: String(stored.value.name),
      kind: String(names.kind),
    },
    plural: String(names.plural),
    scope: resolved.scope === 'Cluster' ? 'Cluster' : 'Namespaced',
    crd,
    schema: mapAt(stored.value, '/schema/openAPIV3Schema'),
    crdPolicy,
  };
}

function resolveRead(read: JsonObject): ReadDefinition | undefined {
  const gvk = kindOf(read);
  if (gvk === undefined || typeof read.id !== 'string') return undefined;
  return {
    id: read.id,
    gvk,
    by: Object.hasOwn(read, 'name')
      ? { kind: 'name', name: read.name }
      : { kind: 'selector', selector: resolveSelector(read.selector) },
    optional: read.optional === true,
  };
}

function resolveSelector(
  selector: Json | undefined,
): Extract<ReadDefinition['by'], { kind: 'selector' }>['selector'] {
  return isJsonObject(selector) ? selector : 'all';
}

function resolveChild(child: JsonObject): ChildDefinition | undefined {
  const template = mapAt(child, '/template');
  const gvk = kindOf(template);
  if (gvk === undefined || typeof child.id !== 'string') return undefined;
  const optional = ['when', 'forEach', 'ready']
    .filter((field) => Object.hasOwn(child, field))
    .map((field) => [field, child[field]] as const);
  const { after } = child;
  return {
    id: child.id,
    gvk,
    template,
    ...Object.fromEntries(optional),
    after: Array.isArray(after) ? after.map(String) : [],
    conflicts: child.conflicts === 'Report' ? 'Report' : 'Force',
  };
}

/** Without the fields that cannot be mapped (an accepted document has none of them). */
function resolveStatus(status: JsonObject): JsonObject {
  const reserved: ReadonlySet<string> = new Set(standardStatusFields);
  return Object.fromEntries(Object.entries(status).filter(([field]) => !reserved.has(field)));
}

function resolveController(controller: JsonObject): ControllerOptions {
  const { concurrency } = controller;
  const retry = mapAt(controller, '/retry');
  return {
    concurrency: typeof concurrency === 'number' ? concurrency : 10,
    resyncMs: durationMs(controller, 'resync') ?? 36_000_000,
    retry: {
      initialMs: durationMs(retry, 'initial') ?? 5,
      maxMs: durationMs(retry, 'max') ?? 1_000_000,
      permanentMs: durationMs(retry, 'permanent') ?? 600_000,
    },
  };
}

function durationMs(holder: JsonObject, field: string): number | undefined {
  const value = fieldOf(holder, field);
  return typeof value === 'string' ? parseDurationMs(value) : undefined;
}

function kindOf({ apiVersion, kind }: JsonObject): Gvk | undefined {
  return typeof apiVersion === 'string' && typeof kind === 'string'
    ? gvkOf(apiVersion, kind)
    : undefined;
}
