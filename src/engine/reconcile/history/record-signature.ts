import { decodeBase64Bytes } from '#util/base64.ts';
import { canonicalJson } from '#util/canonical-json.ts';
import { hmacSha256Hex, isEqualInConstantTime } from '#util/hmac.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  deletedAtAnnotation,
  deletionSignatureAnnotation,
  recordedAtAnnotation,
  recordedByLabel,
  recordObjectUidAnnotation,
  recordOfLabel,
  recordOwnerAnnotation,
  recordReadLabel,
  recordSignatureAnnotation,
} from '#util/stored-names.ts';

/** A key that signs records. */
export interface RecordKey {
  /** A number as text: the name of the key in its Secret. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

/**
 * Whether the runtime wrote a record: `authentic`: it did. `unsigned`: it has no signature. `unknown-key`: the key of its signature is lost.
 * `forged`: the signature is of something else.
 */
export type Authenticity = 'authentic' | 'unsigned' | 'unknown-key' | 'forged';

/** HMAC-SHA-256 gains nothing from longer keys, and loses with shorter ones. */
const leastKeyBytes = 32;
const keyName = /^[1-9]\d{0,14}$/;
/** `<key>.<64 hexadecimal digits>`. */
const signature = /^([1-9]\d{0,14})\.([0-9a-f]{64})$/;

/** The keys of a runtime: the one with the highest number signs, all verify. */
export class KeyRing {
  readonly #keys: ReadonlyMap<string, RecordKey>;
  /** Undefined: there is no key. */
  readonly newest: RecordKey | undefined;

  constructor(keys: readonly RecordKey[]) {
    const sorted = keys.toSorted((one, other) => Number(one.id) - Number(other.id));
    this.#keys = new Map(sorted.map((key) => [key.id, key]));
    this.newest = sorted.at(-1);
  }

  find(id: string): RecordKey | undefined {
    return this.#keys.get(id);
  }
}

/** The keys in a Secret. Entries that are no key are ignored. */
export function keyRingIn({ data }: KubeObject): KeyRing {
  const entries = isJsonObject(data) ? Object.entries(data) : [];
  return new KeyRing(entries.flatMap(([id, value]) => keyIn(id, value) ?? []));
}

function keyIn(id: string, value: unknown): RecordKey | undefined {
  if (!keyName.test(id) || typeof value !== 'string') return undefined;
  try {
    const bytes = decodeBase64Bytes(value);
    return bytes.length < leastKeyBytes ? undefined : { id, bytes };
  } catch {
    return undefined;
  }
}

/** The value of {@link recordSignatureAnnotation}. It covers content, kind, place, owner, read and version. */
export function signatureOf(record: KubeObject, { id, bytes }: RecordKey): string {
  return `${id}.${hmacSha256Hex(bytes, signedText(record))}`;
}

/** The value of {@link deletionSignatureAnnotation}: it is of this very object, so that no other one can carry the mark. */
export function deletionSignatureOf(
  uid: string,
  deletedAt: string,
  { id, bytes }: RecordKey,
): string {
  return `${id}.${hmacSha256Hex(bytes, deletionText(uid, deletedAt))}`;
}

/** The record with its signature. */
export function signed(record: KubeObject, key: RecordKey): KubeObject {
  const { metadata } = record;
  const annotations = {
    ...metadata.annotations,
    [recordSignatureAnnotation]: signatureOf(record, key),
  };
  return { ...record, metadata: { ...metadata, annotations } };
}

/** @param own signatures of this process, which need no second HMAC. @default none */
export function authenticityOf(
  record: KubeObject,
  ring: KeyRing,
  own?: OwnSignatures,
): Authenticity {
  const found = record.metadata.annotations?.[recordSignatureAnnotation];
  return found === undefined ? 'unsigned' : verified(found, ring, () => signedText(record), own);
}

/** More records than are written at the same time. */
const maxOwn = 20;

/** What this process has just signed: the server's response is compared with it. An HMAC of 1 MiB takes 10 ms. */
export class OwnSignatures {
  /** By signature, the signed text; oldest first. */
  readonly #texts = new Map<string, string>();

  add(record: KubeObject): void {
    const found = record.metadata.annotations?.[recordSignatureAnnotation];
    if (found !== undefined) this.#texts.set(found, signedText(record));
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size <= maxOwn) return;
      this.#texts.delete(oldest);
    }
  }

  /** Whether this text was signed so; it is asked once for each record. */
  take(found: string, text: string): boolean {
    const isOwn = this.#texts.get(found) === text;
    this.#texts.delete(found);
    return isOwn;
  }
}

/** When the object was found to be deleted, if the runtime wrote it. */
export function deletedAtOf({ metadata }: KubeObject, ring: KeyRing): string | undefined {
  const { uid = '', annotations = {} } = metadata;
  const deletedAt = annotations[deletedAtAnnotation];
  const found = annotations[deletionSignatureAnnotation];
  if (deletedAt === undefined || found === undefined) return undefined;
  const isOurs = verified(found, ring, () => deletionText(uid, deletedAt)) === 'authentic';
  return isOurs ? deletedAt : undefined;
}

function verified(
  found: string,
  ring: KeyRing,
  textOf: () => string,
  own?: OwnSignatures,
): Authenticity {
  const [, id, mac] = signature.exec(found) ?? [];
  if (id === undefined || mac === undefined) return 'forged';
  const key = ring.find(id);
  if (key === undefined) return 'unknown-key';
  const text = textOf();
  if (own?.take(found, text) === true) return 'authentic';
  return isEqualInConstantTime(mac, hmacSha256Hex(key.bytes, text)) ? 'authentic' : 'forged';
}

function signedText({ kind, metadata, data }: KubeObject): string {
  const { namespace = '', name, labels = {}, annotations = {} } = metadata;
  return canonicalJson([
    'homeostat.dev/record/1',
    ...[kind, namespace, name],
    ...[labels[recordedByLabel], labels[recordOfLabel], labels[recordReadLabel]],
    annotations[recordOwnerAnnotation],
    annotations[recordObjectUidAnnotation],
    annotations[recordedAtAnnotation],
    data,
  ]);
}

function deletionText(uid: string, deletedAt: string): string {
  return JSON.stringify(['homeostat.dev/deletion/1', uid, deletedAt]);
}
