import { parseConversionRules } from '#conversion';
import { canonicalJson } from '#util/canonical-json.ts';
import { parseDurationMs } from '#util/duration.ts';
import { type Gvk, gvkOf } from '#util/gvk.ts';
import { freezeDeep, isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { parseQuantity, quantityNumber } from '#util/quantity.ts';
import { sha256Hex } from '#util/sha256.ts';
import { standardStatusFields } from './crd/standard-status.ts';
import type { LocatedDefinition } from './finding.ts';
import type {
  Cascade,
  ChildDefinition,
  ChildLifecycle,
  ControllerOptions,
  HistoryDefinition,
  OnDeleteDefinition,
  PlacementDefinition,
  ReadDefinition,
  ReconcileLimits,
  RollingUpdate,
  RolloutOptions,
  SelectorTemplate,
} from './operator-definition.ts';
import { resolveAdmission } from './resolve-admission.ts';
import {
  resolveCrossNamespace,
  resolveNamespaces,
  resolveReporting,
  resolveSchedule,
  resolveServedNamespaces,
} from './resolve-reporting.ts';
import {
  resolveLiteralSelector,
  resolveRemovalPolicy,
  resolveServedKind,
} from './resolve-served-kind.ts';
import { afterEntriesOf } from './rules/after.ts';
import { parseKind } from './rules/kinds.ts';
import { containsExpression } from './rules/rule.ts';
import { fieldOf, type LocatedValue, mapAt, mapsAt, valueAt } from './tree.ts';

/**
 * The typed definition of a document, with all defaults, frozen. Parts with errors are left out. Undefined if name or
 * kind cannot be read.
 */
export function resolveDefinition(
  document: Json,
): Pick<LocatedDefinition, 'definition' | 'pointers'> | undefined {
  const name = valueAt(document, '/metadata/name');
  const served = resolveServedKind(document);
  if (typeof name !== 'string' || served === undefined) return undefined;
  const { kind, authored: written } = served;
  const reads = resolveAll(mapsAt(document, '/spec/reads'), resolveRead);
  const children = resolveAll(mapsAt(document, '/spec/children'), resolveChild);
  const install = resolveAll(mapsAt(document, '/spec/install'), resolveChild);
  const admission = resolveAdmission(document, kind.source === 'for');
  const { rules: conversions } = parseConversionRules(valueAt(document, '/spec/conversions'));
  const onDelete = resolveOnDelete(document);
  const parts = {
    vars: mapAt(document, '/spec/vars'),
    reads: reads.map(({ value }) => value),
    children: children.map(({ value }) => value),
    // Left out where it is not used, so that the revision of such a definition does not change.
    ...(install.length > 0 && { install: install.map(({ value }) => value) }),
    ...(admission && { admission }),
    ...(conversions && { conversions }),
    ...(onDelete && { onDelete: onDelete.definition }),
    status: resolveStatus(mapAt(document, '/spec/status')),
    ...optionalParts(mapAt(document, '/spec')),
    controller: resolveController(mapAt(document, '/spec/controller')),
    removalPolicy: resolveRemovalPolicy(mapAt(document, '/spec').removalPolicy),
  };
  // Computed from what the author wrote, so that an upgrade of Homeostat does not change the revision.
  const revision = revisionOf({ ...written, ...parts });
  return freezeDeep({
    definition: { name, revision, kind, ...parts },
    pointers: {
      reads: reads.map(({ path }) => path),
      children: children.map(({ path }) => path),
      onDelete: onDelete?.pointers ?? [],
      ...(install.length > 0 && { install: install.map(({ path }) => path) }),
    },
  });
}

/** Parts that most definitions do not use. */
function optionalParts(
  spec: JsonObject,
): Pick<LocatedDefinition['definition'], 'reporting' | 'schedule' | 'deleteAfter'> {
  const reporting = resolveReporting(spec);
  const schedule = resolveSchedule(spec);
  const { ttl, since } = mapAt(spec, '/deleteAfter');
  return {
    ...(reporting && { reporting }),
    ...(schedule && { schedule }),
    ...(ttl !== undefined && since !== undefined && { deleteAfter: { ttl, since } }),
  };
}

function resolveAll<Value>(
  written: readonly LocatedValue<JsonObject>[],
  resolve: (value: JsonObject) => Value | undefined,
): readonly LocatedValue<Value>[] {
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
    ...resolvePlacement(read),
    ...(isJsonObject(read.history) && { history: resolveHistory(read.history) }),
  };
}

function resolveSelector(selector: Json | undefined): SelectorTemplate | string {
  if (typeof selector === 'string') return containsExpression(selector) ? selector : 'all';
  return isJsonObject(selector) ? selector : 'all';
}

function resolveHistory(history: JsonObject): HistoryDefinition {
  const { keep, onChange } = history;
  return {
    keep: numberOr(keep, 10),
    ...(Array.isArray(onChange) && { onChange: onChange.map(String) }),
    keepDeletedMs: durationMs(history, 'keepDeleted') ?? 2_592_000_000,
  };
}

/** Empty for an object in the cluster of the resource, so that the revision of such a definition does not change. */
function resolvePlacement({ cluster, crossCluster }: JsonObject): {
  readonly placement?: PlacementDefinition;
} {
  if (cluster === undefined) return {};
  const selector = isJsonObject(crossCluster) ? crossCluster.selector : undefined;
  if (selector === undefined) return { placement: { cluster } };
  const allowed = isJsonObject(selector) ? resolveLiteralSelector(selector) : 'all';
  return { placement: { cluster, allowed } };
}

function resolveChild(child: JsonObject): ChildDefinition | undefined {
  const template = mapAt(child, '/template');
  const kinds = resolveKinds(child);
  const gvk = kinds === undefined ? kindOf(template) : kinds[0];
  if (gvk === undefined || typeof child.id !== 'string') return undefined;
  const optional = ['when', 'forEach', 'ready', 'gate', 'deleteWhen']
    // `true` is the default of both.
    .filter(
      (field) =>
        Object.hasOwn(child, field) &&
        !((field === 'gate' || field === 'deleteWhen') && child[field] === true),
    )
    .map((field) => [field, child[field]] as const);
  return {
    id: child.id,
    gvk,
    ...(kinds && { kinds }),
    template,
    ...Object.fromEntries(optional),
    ...resolveAfter(child),
    conflicts: child.conflicts === 'Report' ? 'Report' : 'Force',
    crossNamespace: resolveCrossNamespace(child.crossNamespace),
    ordered: child.ordered === true,
    deletionPolicy: child.deletionPolicy === 'Orphan' ? 'Orphan' : 'Delete',
    // Left out where it is not written, so that the revision of such a definition does not change.
    ...((child.runs === 'Once' || child.runs === 'Always') && { runs: child.runs }),
    ...((child.prune === 'Immediately' || child.prune === 'AfterReady') && { prune: child.prune }),
    ...(typeof child.holdsData === 'boolean' && { holdsData: child.holdsData }),
    ...resolvePlacement(child),
    ...resolveLeave(mapAt(child, '/fields')),
    ...resolveCascade(child.cascade),
    ...resolveLifecycle(child),
  };
}

/** `afterSame` is left out where it is not used, so that the revision of such a definition does not change. */
function resolveAfter(child: JsonObject): Pick<ChildDefinition, 'after' | 'afterSame'> {
  const entries = afterEntriesOf(child, '').map(({ value }) => value);
  const whole = new Set(entries.flatMap(({ id, isSame }) => (isSame ? [] : id)));
  const afterSame = entries.flatMap(({ id, isSame }) => (isSame && !whole.has(id) ? id : []));
  return { after: entries.map(({ id }) => id), ...(afterSame.length > 0 && { afterSame }) };
}

/** Undefined: the kind is literal. */
function resolveKinds({ kinds }: JsonObject): readonly Gvk[] | undefined {
  if (!Array.isArray(kinds)) return undefined;
  return kinds.flatMap((text) => parseKind(text) ?? []);
}

function resolveLeave({ leave }: JsonObject): Pick<ChildDefinition, 'leave'> {
  if (!Array.isArray(leave) || leave.length === 0) return {};
  return { leave: leave.map(String) };
}

/** Drops the fields that cannot be mapped; an accepted document has none. */
function resolveStatus(status: JsonObject): JsonObject {
  const reserved: ReadonlySet<string> = new Set(standardStatusFields);
  return Object.fromEntries(Object.entries(status).filter(([field]) => !reserved.has(field)));
}

/** `spec.controller` with its defaults. An empty object: all defaults. */
export function resolveController(controller: JsonObject): ControllerOptions {
  const { concurrency } = controller;
  const retry = mapAt(controller, '/retry');
  const namespaces = resolveServedNamespaces(controller);
  return {
    ...(namespaces && { namespaces }),
    ...resolveClusters(mapAt(controller, '/clusters')),
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

function resolveClusters({ selector }: JsonObject): Pick<ControllerOptions, 'clusters'> {
  if (selector === undefined) return {};
  const members = isJsonObject(selector) ? resolveLiteralSelector(selector) : 'all';
  return { clusters: { selector: members } };
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

function numberOr(value: Json | undefined, defaultValue: number): number {
  return typeof value === 'number' ? value : defaultValue;
}

function durationMs(parent: JsonObject, field: string): number | undefined {
  const value = fieldOf(parent, field);
  return typeof value === 'string' ? parseDurationMs(value) : undefined;
}

function kindOf({ apiVersion, kind }: JsonObject): Gvk | undefined {
  return typeof apiVersion === 'string' && typeof kind === 'string'
    ? gvkOf(apiVersion, kind)
    : undefined;
}

const strategies = ['Recreate', 'RecreateIfImmutable', 'OnDelete'] as const;

/** Left out where it is the default, so that the revision of such a definition does not change. */
function resolveCascade(cascade: Json | undefined): { readonly cascade?: Cascade } {
  return cascade === 'Foreground' || cascade === 'Orphan' ? { cascade } : {};
}

/** Update strategy and adoption of a child, with all defaults. */
function resolveLifecycle(child: JsonObject): ChildLifecycle {
  const { type, rollingUpdate, cascade } = mapAt(child, '/updateStrategy');
  return {
    adopt: child.adopt === 'IfUnowned' ? 'IfUnowned' : 'Never',
    adoptedPolicy: child.deletionPolicy === 'Delete' ? 'Delete' : 'Orphan',
    updateStrategy: {
      type: strategies.find((each) => each === type) ?? 'Apply',
      ...resolveCascade(cascade),
      ...(isJsonObject(rollingUpdate) && { rollingUpdate: resolveRollingUpdate(rollingUpdate) }),
    },
  };
}

function resolveRollingUpdate(written: JsonObject): RollingUpdate {
  const { maxUnavailable, maxSurge, partition, order } = written;
  return {
    maxUnavailable: isShare(maxUnavailable) ? maxUnavailable : isShare(maxSurge) ? 0 : 1,
    // Left out where it is not written, so that the revision of such a definition does not change.
    ...(isShare(maxSurge) && { maxSurge }),
    partition: typeof partition === 'number' ? partition : 0,
    order: order === 'Descending' ? 'Descending' : 'Ascending',
  };
}

function isShare(value: Json | undefined): value is number | string {
  return typeof value === 'number' || typeof value === 'string';
}

/** `spec.onDelete` with its defaults and the pointers of its children; undefined if it is empty. */
function resolveOnDelete(
  document: Json,
): { readonly definition: OnDeleteDefinition; readonly pointers: readonly string[] } | undefined {
  const written = mapAt(document, '/spec/onDelete');
  if (Object.keys(written).length === 0) return undefined;
  const children = resolveAll(mapsAt(document, '/spec/onDelete/children'), resolveChild);
  const definition: OnDeleteDefinition = {
    children: children.map(({ value }) => value),
    order: written.order === 'Parallel' ? 'Parallel' : 'Reverse',
    timeoutMs: durationMs(written, 'timeout') ?? 600_000,
    onTimeout: written.onTimeout === 'Continue' ? 'Continue' : 'Wait',
  };
  return { definition, pointers: children.map(({ path }) => path) };
}

/** The revision of a definition: the first 10 hex digits of the SHA-256 of its canonical spec with defaults. */
function revisionOf(spec: unknown): string {
  return sha256Hex(canonicalJson(spec)).slice(0, 10);
}
