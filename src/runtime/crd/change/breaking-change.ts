import type { Json, JsonObject } from '../../../util/json.ts';

/** Why a change of a CRD may break what is stored. */
export interface BreakingChange {
  /** JSON pointer into the wanted CRD; of what is gone, where it stood. */
  readonly path: string;
  /** What was, what would be, and why that breaks. Capital first letter, no final period. */
  readonly message: string;
}

/** A CRD as it is installed and as it would be. */
export interface CrdChange {
  /** `spec` of the CRD that the server has. */
  readonly installed: JsonObject;
  /** `spec` of the CRD that is to be installed. */
  readonly wanted: JsonObject;
  /** `status.storedVersions`: versions in which resources may be stored. */
  readonly storedVersions: readonly string[];
  /** Who has installed it: of our own, the status fields that we add are ours to change. */
  readonly isOurs: boolean;
}

/** A node of a schema as it is installed and as it would be. */
export interface NodePair {
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly place: NodePlace;
}

export interface NodeChange extends NodePair {
  /** For the nodes below. */
  readonly compare: (pair: NodePair) => Iterable<BreakingChange>;
}

/** Where a node stands and what it is there for. */
export interface NodePlace {
  /** JSON pointer into the wanted CRD. */
  readonly path: string;
  /** For people: `spec.ports[].name`, empty for the whole resource. */
  readonly field: string;
  /** For people: `version "v1"`. */
  readonly of: string;
  /**
   * `structure`: it says what is kept, and fills in defaults. `value`: it stands in `allOf`, `anyOf`, `oneOf` or `not` and only says what
   * is accepted.
   */
  readonly role: 'structure' | 'value';
  /** Does the node stand for a whole object of Kubernetes, with `apiVersion`, `kind` and `metadata`? */
  readonly isResource: boolean;
  /** Can something above tell whether a field is there (`not`, `oneOf`, `maxProperties`)? A default would then count as one. */
  readonly isCounted: boolean;
  /** Two versions are compared, not one with itself: each has always had its own defaults. */
  readonly hasOwnDefaults: boolean;
}

/** What a change of one keyword may break. */
export type KeywordRule = (keyword: string, change: NodeChange) => Iterable<BreakingChange>;

/** The node, for people: `"spec.size" of version "v1"`. */
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
