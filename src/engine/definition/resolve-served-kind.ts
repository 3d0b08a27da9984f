import { gvkOf } from '#util/gvk.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { LabelRequirement, LabelSelector } from '#util/label-selector.ts';
import { completeCrd, resolveCrd } from './crd/complete-crd.ts';
import type { CrdPolicy, ExistingKind, RemovalPolicy, ServedKind } from './operator-definition.ts';
import { fieldOf, mapAt, mapsAt, valueAt } from './tree.ts';

/** The kind, and the authored fields with defaults, from which the revision is computed. */
interface AuthoredKind {
  readonly kind: ServedKind;
  readonly authored: Readonly<Record<string, Json>>;
}

/** The kind that a document serves, or undefined if it cannot be read. */
export function resolveServedKind(document: Json): AuthoredKind | undefined {
  const isForeign = valueAt(document, '/spec/for') !== undefined;
  return isForeign && valueAt(document, '/spec/crd') === undefined
    ? resolveExistingKind(mapAt(document, '/spec/for'))
    : resolveCrdKind(document);
}

function resolveCrdKind(document: Json): AuthoredKind | undefined {
  const crd = resolveCrd(mapAt(document, '/spec/crd'));
  const crdPolicy = resolveCrdPolicy(mapAt(document, '/spec/crdPolicy'));
  const children = mapsAt(document, '/spec/children');
  const complete = completeCrd(
    crd,
    children.some(({ value }) => value.cluster !== undefined),
  );
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
  return { kind, authored: { crd, crdPolicy: { ...crdPolicy } } };
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

function resolveExistingKind(foreign: JsonObject): AuthoredKind | undefined {
  const { apiVersion, kind } = foreign;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  const resolved: ExistingKind = {
    source: 'for',
    gvk: gvkOf(apiVersion, kind),
    ...selectorAt(foreign, 'selector'),
    ...selectorAt(foreign, 'annotationSelector'),
  };
  return { kind: resolved, authored: { for: foreign } };
}

function selectorAt(
  foreign: JsonObject,
  field: 'selector' | 'annotationSelector',
): Pick<ExistingKind, typeof field> {
  const selector = fieldOf(foreign, field);
  return isJsonObject(selector) ? { [field]: resolveLiteralSelector(selector) } : {};
}

/** Converts scalars to strings, as label values are: `tier: 1` means `"1"`. */
export function resolveLiteralSelector(selector: JsonObject): LabelSelector {
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
    // A rejected definition may have any other value; it never runs.
    operator: operator as LabelRequirement['operator'],
    values: Array.isArray(values) ? values.map(String) : [],
  };
}
