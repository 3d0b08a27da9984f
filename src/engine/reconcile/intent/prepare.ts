import { anyType, type ListType, type SchemaType } from '#compile';
import { encodeBase64 } from '#util/base64.ts';
import type { KubeObject, ObjectMeta } from '#util/kube-object.ts';
import { isEmptyCollection } from '#util/zero-value.ts';
import { type Fields, isFields } from './intent.ts';
import { keyDefault } from './list-keys.ts';

/** Written by the server, or preconditions that the engine adds later: never part of an intent. */
const serverFields = [
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'managedFields',
  'resourceVersion',
  'selfLink',
  'uid',
  'generateName',
];

/** Written by kubectl for itself. Exported manifests contain it; the cache does not. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** Empty ones make every apply of a custom resource a write. */
const collectionsOfMetadata = ['labels', 'annotations', 'finalizers', 'ownerReferences'];
const objectMetaName = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

export interface PrepareOptions {
  /** Does the kind have a `/status` subresource? The main endpoint ignores `status` then. */
  readonly hasStatus: boolean;
}

/**
 * Returns the intent as it is applied **and** compared, without parts that express nothing. Without this, some valid spellings make every apply
 * a write, lose keys of Secrets or append ports again. Called once per rendered intent. Unchanged parts are shared with the manifest, which is not changed.
 * @param type The kind's schema; Undefined: the server publishes none.
 */
export function prepare(
  manifest: KubeObject,
  type: SchemaType | undefined,
  { hasStatus }: PrepareOptions,
): KubeObject {
  const said = hasStatus ? withoutStatus(manifest) : manifest;
  const cleaned = cleanFields(said, type ?? anyType) as KubeObject;
  const prepared = { ...cleaned, metadata: prepareMetadata(cleaned.metadata) };
  return withoutComputedFields(prepared);
}

function withoutStatus(manifest: KubeObject): KubeObject {
  if (manifest.status === undefined) return manifest;
  const { status, ...rest } = manifest;
  return rest as KubeObject;
}

function prepareMetadata(metadata: ObjectMeta): ObjectMeta {
  const kept = Object.entries(withoutLastApplied(metadata)).filter(
    // Where no schema is known, nulls are values; but metadata is the same in every kind.
    ([key, value]) =>
      value !== null && !serverFields.includes(key) && !isEmptyOfMetadata(key, value),
  );
  return Object.fromEntries(kept) as unknown as ObjectMeta;
}

function withoutLastApplied(metadata: ObjectMeta): ObjectMeta {
  if (metadata.annotations?.[lastApplied] === undefined) return metadata;
  const { [lastApplied]: dropped, ...annotations } = metadata.annotations;
  return { ...metadata, annotations };
}

function isEmptyOfMetadata(key: string, value: unknown): boolean {
  return collectionsOfMetadata.includes(key) && isEmptyCollection(value);
}

/** Without values that the server moves or a controller sets. */
function withoutComputedFields(prepared: KubeObject): KubeObject {
  if (prepared.kind === 'Secret' && prepared.apiVersion === 'v1')
    return withFoldedStringData(prepared);
  if (prepared.kind === 'ClusterRole' && prepared.aggregationRule !== undefined) {
    const { rules, ...rest } = prepared;
    return rest as KubeObject;
  }
  return prepared;
}

function clean(value: unknown, type: SchemaType): unknown {
  if (Array.isArray(value)) return cleanItems(value, type);
  return isFields(value) ? cleanFields(value, type) : value;
}

/** Copies on the first change only: most intents need none. */
function cleanFields(fields: Fields, type: SchemaType): Fields {
  const known = type.kind === 'branch' ? type.either : type;
  let copy: Record<string, unknown> | undefined;
  for (const key in fields) {
    const claim = desiredValueOf(key, fields[key], known);
    if (claim !== undefined && claim === fields[key]) continue;
    copy ??= { ...fields };
    if (claim === undefined) delete copy[key];
    else copy[key] = claim;
  }
  return copy ?? fields;
}

/** The cleaned value of a field. Undefined: it expresses nothing. */
function desiredValueOf(key: string, value: unknown, type: SchemaType): unknown {
  const place = placeOf(key, type);
  if (value === null) return place.keepsNull ? null : undefined;
  const cleaned = clean(value, place.type);
  return isObjectMeta(type) && isEmptyOfMetadata(key, cleaned) ? undefined : cleaned;
}

interface Place {
  readonly type: SchemaType;
  readonly keepsNull: boolean;
}

const untyped: Place = { type: anyType, keepsNull: true };
/** A field that the schema lacks: kept, so that the server rejects it; nulls are removed. */
const unknownField: Place = { type: anyType, keepsNull: false };

function placeOf(key: string, type: SchemaType): Place {
  switch (type.kind) {
    case 'struct':
      return type.fields.get(key) ?? (type.open ? untyped : unknownField);
    case 'map':
      return { type: type.item, keepsNull: type.keepsNull || itemKeepsNull(type.item) };
    default:
      return untyped;
  }
}

function itemKeepsNull(type: SchemaType): boolean {
  return type.kind === 'any' && type.keepsNull;
}

/** Also of embedded objects (Pod templates, `x-kubernetes-embedded-resource`). */
function isObjectMeta(type: SchemaType): boolean {
  return type.kind === 'struct' && type.name === objectMetaName;
}

function cleanItems(items: readonly unknown[], type: SchemaType): readonly unknown[] {
  const itemType = type.kind === 'list' ? type.item : type.kind === 'branch' ? type : anyType;
  let copy: unknown[] | undefined;
  for (let index = 0; index < items.length; index++) {
    const cleaned = cleanItem(items[index], type, itemType);
    if (cleaned === items[index]) continue;
    copy ??= [...items];
    copy[index] = cleaned;
  }
  return copy ?? items;
}

function cleanItem(item: unknown, type: SchemaType, itemType: SchemaType): unknown {
  const cleaned = clean(item, itemType);
  const isKeyed = type.kind === 'list' && type.builtIn && type.list === 'map';
  return isKeyed && isFields(cleaned) ? withoutEmptyKeys(cleaned, type) : cleaned;
}

/** `protocol: ""` in a port adds the same port again at every apply; left out, it means its default. */
function withoutEmptyKeys(item: Fields, list: ListType): Fields {
  let copy: Record<string, unknown> | undefined;
  for (const key of list.keys) {
    if (item[key] !== '' || keyDefault(key, list) === undefined) continue;
    copy ??= { ...item };
    delete copy[key];
  }
  return copy ?? item;
}

/**
 * A Secret with the texts of `stringData` in `data`, where they win. If `stringData` were applied, a key removed from it would stay in `data`.
 * Values that are not strings stay, and the server rejects them.
 */
function withFoldedStringData(secret: KubeObject): KubeObject {
  const { stringData, ...rest } = secret;
  if (!isFields(stringData) || !Object.values(stringData).every(isText)) return secret;
  const data: Record<string, unknown> = { ...(isFields(rest.data) ? rest.data : {}) };
  for (const [key, text] of Object.entries(stringData)) data[key] = encodeBase64(String(text));
  return { ...rest, data } as unknown as KubeObject & { readonly data: Fields };
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}
