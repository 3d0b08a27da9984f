import type { ObjectRef, StoredObject } from '#kube/roles.ts';
import { decodeBase64, encodeBase64 } from '#util/base64.ts';
import { type Gvk, groupKindKey, gvkOf } from '#util/gvk.ts';
import { isJsonObject } from '#util/json.ts';
import { type KubeObject, keyOf } from '#util/kube-object.ts';
import { parseWithin } from '#util/limited-json.ts';
import { sha256Hex } from '#util/sha256.ts';
import {
  deletedAtAnnotation,
  managedByLabel,
  managedByValue,
  recordedAtAnnotation,
  recordedByLabel,
  recordManagerOf,
  recordObjectAnnotation,
  recordObjectUidAnnotation,
  recordOfLabel,
  recordOwnerAnnotation,
  recordReadLabel,
  recordSecretType,
} from '#util/stored-names.ts';

/** The kind that stores versions of Secrets, and the kind that stores all others. */
export const secretKind = gvkOf('v1', 'Secret');
export const revisionKind = gvkOf('apps/v1', 'ControllerRevision');

/** One version a second reaches ten digits after 30 years: a longer number was forged, and no version could follow it. */
const versionedName = /^(.+)-([1-9]\d{0,8})$/;

/** Of the state of a Secret, which is flat and has at most a MiB. */
const stateLimits = { fromLength: 0, maxCost: 16_777_216, maxDepth: 100 } as const;

/** The resource for which states are recorded. */
export interface RecordOwner {
  readonly key: string;
  readonly uid: string;
  readonly resource: KubeObject;
}

/** Identifies the object of a record within a definition. */
export interface RecordSubject {
  readonly ownerUid: string;
  readonly readId: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

/** A stored state of an object. */
export interface StateRecord extends RecordSubject {
  /** The name without the version: equal for all records of one object. */
  readonly series: string;
  readonly version: number;
  /** The ControllerRevision or Secret, without the state. */
  readonly meta: KubeObject['metadata'];
  readonly gvk: Gvk;
  readonly object: KubeObject;
  /** UID of the recorded object. */
  readonly objectUid: string;
  /** Key of the resource. Undefined: an earlier release wrote the record. */
  readonly ownerKey: string | undefined;
  readonly recordedAt: string;
  /** When the deletion of the object was found. Undefined: it was not. */
  readonly deletedAt: string | undefined;
  readonly sizeBytes: number;
}

/** The name of all records of an object, without their versions. */
export function seriesOf(
  definition: string,
  { ownerUid, readId, ...object }: RecordSubject,
): string {
  const identity = JSON.stringify([ownerUid, readId, object.namespace ?? '', object.name]);
  return `${definition}-${sha256Hex(identity).slice(0, 10)}`;
}

/** The kind of the records of objects of a kind. */
export function recordKindOf(gvk: Gvk): Gvk {
  return isSecret(gvk) ? secretKind : revisionKind;
}

function isSecret(gvk: Gvk): boolean {
  return groupKindKey(gvk) === groupKindKey(secretKind);
}

/**
 * Whether an object carries the labels and the field manager of a record of this definition. Others can write both: what a record says is
 * believed only with a signature (`record-signature.ts`).
 */
export function isRecord({ object, appliedBy }: StoredObject, definition: string): boolean {
  return (
    object.metadata.labels?.[recordedByLabel] === definition &&
    appliedBy.includes(recordManagerOf(definition)) &&
    // The type of a Secret never changes: no label makes a record of another Secret.
    (object.kind !== secretKind.kind || object.type === recordSecretType)
  );
}

/** Size in bytes of the state in a record. */
export function sizeOfRecord({ kind, data }: KubeObject): number {
  if (kind === secretKind.kind && isJsonObject(data)) return String(data.object).length;
  return new TextEncoder().encode(JSON.stringify(data)).length;
}

/**
 * Reads a record, without a check of its signatures.
 * @param clusterNamespace Where the records of cluster-scoped objects are.
 * @returns undefined: it is none, or one that this definition would not have written.
 */
export function parseRecord(
  stored: StoredObject,
  definition: string,
  clusterNamespace: string,
): StateRecord | undefined {
  const { object: record } = stored;
  const { labels = {}, annotations = {}, namespace: place, name = '' } = record.metadata;
  // The response to a deletion arrives before the watch event.
  const isDeleted = record.metadata.deletionTimestamp !== undefined;
  const object = isRecord(stored, definition) && !isDeleted ? stateIn(record) : undefined;
  if (object === undefined) return undefined;
  const [, series = '', number = ''] = versionedName.exec(name) ?? [];
  const { namespace } = object.metadata;
  const subject = {
    ownerUid: labels[recordOfLabel] ?? '',
    readId: labels[recordReadLabel] ?? '',
    namespace,
    name: object.metadata.name,
  };
  const isInPlace = place === (namespace ?? clusterNamespace);
  const gvk = gvkOf(object.apiVersion, object.kind);
  const isSecretRecord = record.kind === secretKind.kind;
  // The state of a Secret is only in a Secret, where rights on Secrets protect it.
  if (!isInPlace || isSecretRecord !== isSecret(gvk)) return undefined;
  if (seriesOf(definition, subject) !== series) return undefined;
  return {
    ...subject,
    series,
    version: Number(number),
    meta: record.metadata,
    gvk: isSecretRecord ? secretKind : revisionKind,
    object,
    objectUid: annotations[recordObjectUidAnnotation] ?? '',
    ownerKey: annotations[recordOwnerAnnotation],
    recordedAt: annotations[recordedAtAnnotation] ?? record.metadata.creationTimestamp ?? '',
    deletedAt: annotations[deletedAtAnnotation],
    sizeBytes: sizeOfRecord(record),
  };
}

function stateIn(record: KubeObject): KubeObject | undefined {
  if (record.kind !== secretKind.kind) return asObject(record.data);
  const text = isJsonObject(record.data) ? record.data.object : undefined;
  const json = typeof text === 'string' ? decodeBase64(text) : undefined;
  if (json === undefined) return undefined;
  try {
    return asObject(parseWithin(json, stateLimits));
  } catch {
    // Written by another client, or too large for a Secret.
    return undefined;
  }
}

function asObject(value: unknown): KubeObject | undefined {
  if (!isJsonObject(value) || !isJsonObject(value.metadata)) return undefined;
  const { apiVersion, kind, metadata } = value;
  const texts = [apiVersion, kind, metadata.name];
  const isNamed = texts.every((text) => typeof text === 'string' && text !== '');
  const hasNamespace = metadata.namespace === undefined || typeof metadata.namespace === 'string';
  return isNamed && hasNamespace ? (value as unknown as KubeObject) : undefined;
}

/** A reference to a record. */
export function refOfRecord({ gvk, meta }: StateRecord): ObjectRef {
  const { name, namespace = '' } = meta;
  return { gvk, namespace, name };
}

/** Kind and namespace of the records of an object. */
export function placeOfRecords(
  { apiVersion, kind, metadata }: KubeObject,
  clusterNamespace: string,
): { readonly kind: Gvk; readonly place: string } {
  return {
    kind: isSecret(gvkOf(apiVersion, kind)) ? secretKind : revisionKind,
    place: metadata.namespace ?? clusterNamespace,
  };
}

interface NewRecord {
  readonly definition: string;
  readonly owner: RecordOwner;
  readonly readId: string;
  readonly series: string;
  readonly version: number;
  readonly state: KubeObject;
  /** UID of the recorded object. */
  readonly uid: string;
  /** ISO 8601 in UTC. */
  readonly now: string;
  readonly clusterNamespace: string;
}

/** The manifest of a record, without a signature; its apply only creates. */
export function recordManifest(options: NewRecord): KubeObject {
  const { definition, owner, readId, series, version, state, uid, now, clusterNamespace } = options;
  const { apiVersion, kind } = state;
  const { name, namespace } = state.metadata;
  const place = namespace ?? clusterNamespace;
  const metadata = {
    name: `${series}-${version}`,
    namespace: place,
    resourceVersion: '1',
    labels: {
      [managedByLabel]: managedByValue,
      [recordedByLabel]: definition,
      [recordOfLabel]: owner.uid,
      [recordReadLabel]: readId,
    },
    annotations: {
      [recordObjectAnnotation]: `${kind} ${namespace === undefined ? name : keyOf(namespace, name)}`,
      [recordObjectUidAnnotation]: uid,
      [recordOwnerAnnotation]: owner.key,
      [recordedAtAnnotation]: now,
    },
    ...ownerReferences(owner, place),
  };
  if (!isSecret(gvkOf(apiVersion, kind)))
    return {
      apiVersion: 'apps/v1',
      kind: revisionKind.kind,
      metadata,
      data: state,
      revision: version,
    };
  return {
    apiVersion: 'v1',
    kind: secretKind.kind,
    metadata,
    type: recordSecretType,
    immutable: true,
    data: { object: encodeBase64(JSON.stringify(state)) },
  };
}

/** The garbage collector follows owners in the namespace of the record, and cluster-scoped ones. */
function ownerReferences(
  { resource: { apiVersion, kind, metadata }, uid }: RecordOwner,
  place: string,
): Pick<KubeObject['metadata'], 'ownerReferences'> {
  if (metadata.namespace !== undefined && metadata.namespace !== place) return {};
  return { ownerReferences: [{ apiVersion, kind, name: metadata.name, uid }] };
}
