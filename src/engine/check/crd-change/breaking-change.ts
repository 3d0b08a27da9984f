import type { Json, JsonObject } from '#util/json.ts';

/** Why a change of a CRD may break stored resources. */
export interface BreakingChange {
  /** JSON pointer into the desired CRD; for a removed node, its old path. */
  readonly path: string;
  /** Old value, new value and why it breaks. Starts with a capital, no final period. */
  readonly message: string;
  /** The version whose resources must be stored in another one before: the API server rejects the change. @default undefined: none */
  readonly storedVersion?: string;
}

/** The installed and the desired CRD. */
export interface CrdChange {
  /** `spec` of the live CRD. */
  readonly installed: JsonObject;
  /** `spec` of the desired CRD. */
  readonly desired: JsonObject;
  /** `status.storedVersions`: versions in which resources may be stored. */
  readonly storedVersions: readonly string[];
  /** Whether Homeostat installed the CRD; then changes of its generated status fields are allowed. */
  readonly isOurs: boolean;
}

/** The installed and the desired version of a schema node. */
export interface NodePair {
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly place: NodePlace;
}

export interface NodeChange extends NodePair {
  /** Compares child nodes. */
  readonly compare: (pair: NodePair) => Iterable<BreakingChange>;
}

/** Location and role of a schema node. */
export interface NodePlace {
  /** JSON pointer into the desired CRD. */
  readonly path: string;
  /** Field path in messages: `spec.ports[].name`, empty for the whole resource. */
  readonly field: string;
  /** Version in messages: `version "v1"`. */
  readonly of: string;
  /** `structure`: defines stored fields and defaults. `value`: inside `allOf`, `anyOf`, `oneOf` or `not`; only validates. */
  readonly role: 'structure' | 'value';
  /** Whether the node is a whole Kubernetes object, with `apiVersion`, `kind` and `metadata`. */
  readonly isResource: boolean;
  /** Whether a parent's `not`, `oneOf` or `maxProperties` depends on the presence of fields; then a new default may break. */
  readonly isCounted: boolean;
  /** Two versions are compared: each has its own defaults. */
  readonly hasOwnDefaults: boolean;
}

/** Checks the change of one keyword. */
export type KeywordRule = (keyword: string, change: NodeChange) => Iterable<BreakingChange>;

/** The node in messages: `"spec.size" of version "v1"`. */
export function nameOf({ field, of }: NodePlace): string {
  return field === '' ? `The resource of ${of}` : `"${field}" of ${of}`;
}

/** A value in a message. */
export function quoted(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `"${text.length > maxQuoted ? `${text.slice(0, maxQuoted)}...` : text}"`;
}

const maxQuoted = 80;
