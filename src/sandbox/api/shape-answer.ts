import type { JsonObject } from '../../util/json.ts';
import { objectField } from '../json-fields.ts';
import type { ServedKind } from '../kinds/index.ts';
import { inVersion, type ListPage } from '../rest/index.ts';
import type { StoredObject } from '../store/index.ts';
import type { Shape } from './negotiation.ts';

/** Only what an object is, not what it says. */
export function metadataOnly(object: JsonObject): JsonObject {
  const metadata = objectField(object, 'metadata') ?? {};
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
}

/** The text of a list. */
export function listText(kind: ServedKind, page: ListPage, shape: Shape): string {
  const isPartial = shape.kind === 'metadata';
  const head = isPartial
    ? { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' }
    : { kind: kind.names.listKind, apiVersion: kind.apiVersion };
  const { version, continueToken, remaining } = page;
  const metadata = {
    // Lists of custom resources always have the field.
    ...(continueToken === '' && (isPartial || !kind.isCustom) ? {} : { continue: continueToken }),
    ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
    resourceVersion: String(version),
  };
  const start = JSON.stringify({ ...head, metadata });
  const items = page.items.map((stored) => itemText(kind, stored, isPartial));
  return `${start.slice(0, -1)},"items":[${items.join(',')}]}`;
}

/** Items of built-in lists do not repeat the kind. */
function itemText(kind: ServedKind, stored: StoredObject, isPartial: boolean): string {
  const object = inVersion(kind, stored);
  if (isPartial) return JSON.stringify(metadataOnly(object));
  if (kind.isCustom) return object === stored.object ? stored.json() : JSON.stringify(object);
  const { kind: _, apiVersion: __, ...rest } = object;
  return JSON.stringify(rest);
}
