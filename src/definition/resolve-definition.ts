import { parseDurationMs } from '../util/duration.ts';
import { freezeDeep } from '../util/freeze-deep.ts';
import { type Gvk, gvkOf } from '../util/gvk.ts';
import { isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { parseQuantity, quantityNumber } from '../util/quantity.ts';
import { standardStatusFields } from './crd/standard-status.ts';
import type {
  ChildDefinition,
  ControllerOptions,
  ReadDefinition,
  ReconcileLimits,
  RolloutOptions,
} from './operator-definition.ts';
import { resolveLife } from './resolve-life.ts';
import { resolveCrossNamespace, resolveNamespaces } from './resolve-namespaces.ts';
import { resolveOnDelete } from './resolve-on-delete.ts';
import { resolveReporting, resolveSchedule, resolveServedNamespaces } from './resolve-reporting.ts';
import { resolveRemovalPolicy, resolveServedKind } from './resolve-served-kind.ts';
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
  const served = resolveServedKind(document);
  if (typeof name !== 'string' || served === undefined) return undefined;
  const { kind, written } = served;
  const reads = resolveAll(mapsAt(document, '/spec/reads'), resolveRead);
  const children = resolveAll(mapsAt(document, '/spec/children'), resolveChild);
  const onDelete = resolveOnDelete(mapAt(document, '/spec/onDelete'), resolveChild);
  const parts = {
    vars: mapAt(document, '/spec/vars'),
    reads: reads.map(({ value }) => value),
    children: children.map(({ value }) => value),
    ...(onDelete && { onDelete: onDelete.definition }),
    status: resolveStatus(mapAt(document, '/spec/status')),
    ...optionalParts(mapAt(document, '/spec')),
    controller: resolveController(mapAt(document, '/spec/controller')),
    removalPolicy: resolveRemovalPolicy(mapAt(document, '/spec').removalPolicy),
  };
  // Of what the author wrote, not of what we add to it: an upgrade of Homeostat is no change of the definition.
  const revision = revisionOf({ ...written, ...parts });
  return freezeDeep({
    definition: { name, revision, kind, ...parts },
    pointers: {
      reads: reads.map(({ path }) => path),
      children: children.map(({ path }) => path),
      onDelete: onDelete?.pointers ?? [],
    },
  });
}

/** What most definitions do without. */
function optionalParts(
  spec: JsonObject,
): Pick<LocatedDefinition['definition'], 'reporting' | 'schedule'> {
  const reporting = resolveReporting(spec);
  const schedule = resolveSchedule(spec);
  return { ...(reporting && { reporting }), ...(schedule && { schedule }) };
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
    from: resolveNamespaces(read),
    crossNamespace: resolveCrossNamespace(read.crossNamespace),
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
  const optional = ['when', 'forEach', 'ready', 'deleteWhen']
    // What is the default asks for nothing.
    .filter(
      (field) => Object.hasOwn(child, field) && !(field === 'deleteWhen' && child[field] === true),
    )
    .map((field) => [field, child[field]] as const);
  const { after } = child;
  return {
    id: child.id,
    gvk,
    template,
    ...Object.fromEntries(optional),
    after: Array.isArray(after) ? after.map(String) : [],
    conflicts: child.conflicts === 'Report' ? 'Report' : 'Force',
    crossNamespace: resolveCrossNamespace(child.crossNamespace),
    ordered: child.ordered === true,
    deletionPolicy: child.deletionPolicy === 'Orphan' ? 'Orphan' : 'Delete',
    ...resolveLife(child),
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
  const namespaces = resolveServedNamespaces(controller);
  return {
    ...(namespaces && { namespaces }),
    concurrency: numberOr(concurrency, 10),
    resyncMs: durationMs(controller, 'resync') ?? 36_000_000,
    retry: {
      initialMs: durationMs(retry, 'initial') ?? 5,
      maxMs: durationMs(retry, 'max') ?? 1_000_000,
      permanentMs: durationMs(retry, 'permanent') ?? 600_000,
    },
    rollout: resolveRollout(mapAt(controller, '/rollout')),
    limits: resolveLimits(mapAt(controller, '/limits')),
  };
}

function resolveLimits(limits: JsonObject): ReconcileLimits {
  return {
    steps: numberOr(limits.steps, 1_000_000),
    memoryBytes: bytesOf(limits.memory) ?? 64 * 1024 * 1024,
    cpuMs: durationMs(limits, 'cpu') ?? 1_000,
  };
}

function bytesOf(value: Json | undefined): number | undefined {
  const quantity = parseQuantity(value);
  return quantity && quantityNumber(quantity);
}

function resolveRollout(rollout: JsonObject): RolloutOptions {
  const { perSecond, stopAfterFailures, maxDeletions } = rollout;
  return {
    perSecond: numberOr(perSecond, 50),
    stopAfterFailures: numberOr(stopAfterFailures, 10),
    maxDeletions: numberOr(maxDeletions, 10),
  };
}

function numberOr(value: Json | undefined, byDefault: number): number {
  return typeof value === 'number' ? value : byDefault;
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
