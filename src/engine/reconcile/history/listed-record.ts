import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  recordedByLabel,
  recordKeysName,
  recordKeysNamespaces,
  recordManagerOf,
  recordObjectAnnotation,
} from '#util/stored-names.ts';
import { parseRecord, revisionKind, secretKind } from './record.ts';
import { type Authenticity, authenticityOf, KeyRing, keyRingIn } from './record-signature.ts';
import { signedAnnotations } from './record-upgrade.ts';

/** The kinds in which versions are stored, the label of each, and the Secret with the keys. For administrators. */
export const storedVersions = {
  kinds: [revisionKind, secretKind],
  label: recordedByLabel,
  keys: { gvk: secretKind, name: recordKeysName, namespaces: recordKeysNamespaces },
} as const;

/** A stored version, as administrators see it. */
export interface ListedRecord {
  readonly definition: string;
  /** `ConfigMap default/app`; it may be false if the version is not authentic. */
  readonly object: string;
  /** `invalid`: it contradicts itself, so that no signature makes it a version. */
  readonly state: Authenticity | 'invalid';
  /** The annotations that make it authentic. Undefined: it is, or cannot be. */
  readonly signature: Readonly<Record<string, string>> | undefined;
}

interface ListingOptions {
  /** Undefined: it does not exist. */
  readonly keys: KubeObject | undefined;
  /** The namespace of the runtime. */
  readonly clusterNamespace: string;
}

/** Describes an object with the label of versions. */
export function listedRecord(
  object: KubeObject,
  { keys, clusterNamespace }: ListingOptions,
): ListedRecord {
  const { labels = {}, annotations = {} } = object.metadata;
  const definition = labels[recordedByLabel] ?? '';
  const ring = keys === undefined ? new KeyRing([]) : keyRingIn(keys);
  const { newest } = ring;
  const stored = { object, cluster: undefined, appliedBy: [recordManagerOf(definition)] };
  const isApplied = managersOf(object).includes(recordManagerOf(definition));
  const record = isApplied ? parseRecord(stored, definition, clusterNamespace) : undefined;
  const state = record === undefined ? 'invalid' : authenticityOf(object, ring);
  const isSignable = state !== 'invalid' && state !== 'authentic' && newest !== undefined;
  return {
    definition,
    object: annotations[recordObjectAnnotation] ?? '',
    state,
    signature: isSignable ? signedAnnotations(object, undefined, newest) : undefined,
  };
}

function managersOf({ metadata }: KubeObject): readonly unknown[] {
  const entries = 'managedFields' in metadata ? metadata.managedFields : undefined;
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry) =>
    isJsonObject(entry) && entry.operation === 'Apply' ? [entry.manager] : [],
  );
}
