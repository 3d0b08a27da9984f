import { gvkOf } from '../util/gvk.ts';
import { isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import type { LabelRequirement, LabelSelector } from '../util/label-selector.ts';
import { completeCrd, resolveCrd } from './crd/complete-crd.ts';
import type { CrdPolicy, ForeignKind, RemovalPolicy, ServedKind } from './operator-definition.ts';
import { fieldOf, mapAt, mapsAt, valueAt } from './tree.ts';

/** The kind, and what the author wrote of it with defaults, for the revision. */
export interface WrittenKind {
  readonly kind: ServedKind;
  readonly written: Readonly<Record<string, Json>>;
}

/** The kind that a document serves; undefined when that cannot be told. */
export function resolveServedKind(document: Json): WrittenKind | undefined {
  const isForeign = valueAt(document, '/spec/for') !== undefined;
  return isForeign && valueAt(document, '/spec/crd') === undefined
    ? resolveForeignKind(mapAt(document, '/spec/for'))
    : resolveCrdKind(document);
}

function resolveCrdKind(document: Json): WrittenKind | undefined {
  const crd = resolveCrd(mapAt(document, '/spec/crd'));
  const crdPolicy = resolveCrdPolicy(mapAt(document, '/spec/crdPolicy'));
  const complete = completeCrd(crd);
  const stored = mapsAt(complete, '/spec/versions').find(({ value }) => value.storage === true);
  if (stored === undefined) return undefined;
  const names = mapAt(crd, '/names');
  const kind: ServedKind = {
    source: 'crd',
    gvk: {
      group: String(crd.group),
      version: String(stored.value.name),
      kind: String(names.kind),
    },
    plural: String(names.plural),
    scope: crd.scope === 'Cluster' ? 'Cluster' : 'Namespaced',
    crd: complete,
    schema: mapAt(stored.value, '/schema/openAPIV3Schema'),
    crdPolicy,
  };
  return { kind, written: { crd, crdPolicy: { ...crdPolicy } } };
}

function resolveCrdPolicy({ adopt, deletion, allowBreakingChanges }: JsonObject): CrdPolicy {
  return {
    adopt: adopt === true,
    deletion: resolveRemovalPolicy(deletion),
    allowBreakingChanges: allowBreakingChanges === true,
  };
}

export function resolveRemovalPolicy(written: Json | undefined): RemovalPolicy {
  return written === 'Delete' ? 'Delete' : 'Retain';
}

function resolveForeignKind(foreign: JsonObject): WrittenKind | undefined {
  const { apiVersion, kind } = foreign;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  const resolved: ForeignKind = {
    source: 'for',
    gvk: gvkOf(apiVersion, kind),
    ...selectorAt(foreign, 'selector'),
    ...selectorAt(foreign, 'annotationSelector'),
  };
  return { kind: resolved, written: { for: foreign } };
}

function selectorAt(
  foreign: JsonObject,
  field: 'selector' | 'annotationSelector',
): Pick<ForeignKind, typeof field> {
  const selector = fieldOf(foreign, field);
  return isJsonObject(selector) ? { [field]: resolveSelector(selector) } : {};
}

/** Scalars are texts, as they are in labels: `tier: 1` means `"1"`. */
function resolveSelector(selector: JsonObject): LabelSelector {
  const labels = Object.entries(mapAt(selector, '/matchLabels'));
  return {
    matchLabels: Object.fromEntries(labels.map(([key, value]) => [key, String(value)])),
    matchExpressions: mapsAt(selector, '/matchExpressions').map(({ value }) =>
      requirementOf(value),
    ),
  };
}

function requirementOf({ key, operator, values }: JsonObject): LabelRequirement {
  return {
    key: String(key),
    // A draft may have any other word: it is never run.
    operator: operator as LabelRequirement['operator'],
    values: Array.isArray(values) ? values.map(String) : [],
  };
}
