import type { JsonObject } from '../../util/json.ts';
import { objectField } from '../json-fields.ts';
import type { ServedKind } from '../kinds/index.ts';
import { inVersion, type ListPage } from '../rest/index.ts';
import { badRequest } from '../status/index.ts';
import type { StoredObject } from '../store/index.ts';
import { type IncludedObject, type TableOptions, tableOf } from '../table/index.ts';
import type { Shape } from './negotiation.ts';

export interface View {
  readonly kind: ServedKind;
  readonly shape: Shape;
  readonly query: URLSearchParams;
  readonly nowMs: number;
}

/** How an object is shown; undefined = as it is. */
export function showObject(view: View): ((object: JsonObject) => JsonObject) | undefined {
  const { shape } = view;
  switch (shape.kind) {
    case 'metadata':
      return metadataOnly;
    case 'table': {
      const options = tableOptions(view, shape.version);
      return (object) => tableOf(options, { objects: [object], metadata: versionOf(object) });
    }
    default:
      return undefined;
  }
}

/** How the objects of a watch are shown: tables name their columns once. */
export function showEvents(view: View, nowMs: () => number) {
  const { shape } = view;
  if (shape.kind !== 'table') return showObject(view);
  let hasColumns = true;
  return (object: JsonObject): JsonObject => {
    const options = { ...tableOptions(view, shape.version), nowMs: nowMs() };
    const table = tableOf(options, { objects: [object], metadata: versionOf(object), hasColumns });
    hasColumns = false;
    return table;
  };
}

/** Only what an object is, not what it says. */
function metadataOnly(object: JsonObject): JsonObject {
  const metadata = objectField(object, 'metadata') ?? {};
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
}

function versionOf(object: JsonObject): JsonObject {
  const { resourceVersion } = objectField(object, 'metadata') ?? {};
  return resourceVersion === undefined ? {} : { resourceVersion };
}

/** @throws StatusError 400 for a part of objects that tables cannot hold. */
function tableOptions({ kind, query, nowMs }: View, version: 'v1' | 'v1beta1'): TableOptions {
  const include = query.get('includeObject') || 'Metadata';
  if (!isIncluded(include))
    throw badRequest(
      `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`,
    );
  return { kind, version, include, nowMs };
}

function isIncluded(text: string): text is IncludedObject {
  return ['None', 'Metadata', 'Object'].includes(text);
}

/** The text of a list. */
export function listText(view: View, page: ListPage): string {
  const { kind, shape } = view;
  const metadata = listMetadata(view, page);
  if (shape.kind === 'table') {
    const objects = page.items.map((stored) => inVersion(kind, stored));
    return JSON.stringify(tableOf(tableOptions(view, shape.version), { objects, metadata }));
  }
  const isPartial = shape.kind === 'metadata';
  const head = isPartial
    ? { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' }
    : { kind: kind.names.listKind, apiVersion: kind.apiVersion };
  const start = JSON.stringify({ ...head, metadata });
  const items = page.items.map((stored) => itemText(kind, stored, isPartial));
  return `${start.slice(0, -1)},"items":[${items.join(',')}]}`;
}

function listMetadata({ kind, shape }: View, page: ListPage): JsonObject {
  const { version, continueToken, remaining } = page;
  const isWhole = shape.kind === 'object';
  return {
    // Lists of custom resources always have the field.
    ...(continueToken === '' && !(isWhole && kind.isCustom) ? {} : { continue: continueToken }),
    ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
    resourceVersion: String(version),
  };
}

/** Items of built-in lists do not repeat the kind. */
function itemText(kind: ServedKind, stored: StoredObject, isPartial: boolean): string {
  const object = inVersion(kind, stored);
  if (isPartial) return JSON.stringify(metadataOnly(object));
  if (kind.isCustom) return object === stored.object ? stored.json() : JSON.stringify(object);
  const { kind: _, apiVersion: __, ...rest } = object;
  return JSON.stringify(rest);
}
