import type { Json, JsonObject } from '../../util/json.ts';
import type { KindRegistry, ObjectWorld, ServedKind, Subresource } from '../kinds/index.ts';
import type { ObjectStore } from '../store/index.ts';

/** What requests work with. */
export interface RestContext {
  readonly store: ObjectStore;
  readonly kinds: KindRegistry;
  /** Now, as RFC 3339 with seconds. */
  readonly now: () => string;
  /** The time in so many seconds. */
  readonly later: (seconds: number) => string;
  readonly newUid: () => string;
  /** What is added to `generateName`. */
  readonly newSuffix: () => string;
  /** Reads YAML bodies; undefined = only JSON. @throws Error with what is wrong */
  readonly parseYaml: ((text: string) => Json) | undefined;
  /** Sees what is about to be stored. @throws StatusError when it may not be */
  readonly assertStorable?: (object: JsonObject) => void;
}

/** What a request is about. */
export interface Target {
  readonly kind: ServedKind;
  readonly subresource: Subresource;
  /** Empty = cluster-scoped, or all namespaces. */
  readonly namespace: string;
  /** Empty = the collection. */
  readonly name: string;
}

/** A JSON body and what the server wants to say beside it. */
export interface RestAnswer {
  readonly code: number;
  readonly body: Json;
  readonly warnings: readonly string[];
}

/** What is stored, for those who complete objects. */
export function worldOf({ store }: RestContext): ObjectWorld {
  return { list: (collection) => store.list(collection).map(({ object }) => object) };
}
