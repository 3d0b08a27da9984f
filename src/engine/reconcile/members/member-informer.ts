import {
  type CacheEvent,
  type CacheIndex,
  type Informer,
  type InformerQuery,
  type InformerState,
  KubeError,
  type StoredObject,
} from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { Members } from './members.ts';

/** The error of every request to a member that cannot be used. */
export function memberUnreachable(name: string, cause?: unknown): KubeError {
  const message = `Cluster "${name}" cannot be used now`;
  return new KubeError('cluster-unreachable', message, { status: 0, cause });
}

/**
 * An informer in a member cluster. It outlives the connections of the member: without one it is failing, never empty. Its objects name
 * the member.
 */
export class MemberInformer implements Informer {
  readonly query: InformerQuery;
  readonly #cluster: string;
  readonly #members: Members;
  readonly #stop: () => void;
  readonly #listeners = new Set<(event: CacheEvent) => void>();
  readonly #stateListeners = new Set<(state: InformerState) => void>();
  readonly #tagged = new WeakMap<StoredObject, StoredObject>();
  #connection: unknown;
  #current: Informer | undefined;

  constructor(query: InformerQuery, cluster: string, members: Members) {
    this.query = query;
    this.#cluster = cluster;
    this.#members = members;
    members.open();
    this.#stop = members.onChange((name) => {
      if (name === this.#cluster) this.#connect();
    });
    this.#connect();
  }

  get state(): InformerState {
    const error = () => memberUnreachable(this.#cluster);
    return this.#current?.state ?? { kind: 'failing', error: error() };
  }

  get(namespace: string | undefined, name: string): StoredObject | undefined {
    return this.#tag(this.#current?.get(namespace, name));
  }

  *list(): Iterable<StoredObject> {
    for (const stored of this.#current?.list() ?? []) yield this.#tag(stored);
  }

  index(name: string, valuesOf: (object: KubeObject) => readonly string[]): CacheIndex {
    return {
      get: (value) =>
        (this.#current?.index(name, valuesOf).get(value) ?? []).map((stored) => this.#tag(stored)),
    };
  }

  subscribe(listener: (event: CacheEvent) => void): () => void {
    this.#listeners.add(listener);
    for (const current of this.list()) {
      const { namespace = '', name } = current.object.metadata;
      listener({ namespace, name, current, initial: true });
    }
    return () => void this.#listeners.delete(listener);
  }

  onState(listener: (state: InformerState) => void): () => void {
    this.#stateListeners.add(listener);
    return () => void this.#stateListeners.delete(listener);
  }

  release(): void {
    this.#stop();
    this.#listeners.clear();
    this.#stateListeners.clear();
    this.#current?.release();
    this.#current = undefined;
  }

  /** Follows the connection of the member: a new one is listed anew. */
  #connect(): void {
    const connection = this.#members.connectionOf(this.#cluster);
    if (connection === this.#connection) return;
    this.#connection = connection;
    this.#current?.release();
    this.#current = connection?.acquire(this.query);
    this.#current?.onState(() => this.#notifyState());
    this.#current?.subscribe((event) => this.#deliver(event));
    this.#notifyState();
  }

  #notifyState(): void {
    for (const listener of [...this.#stateListeners]) listener(this.state);
  }

  #deliver({ old, current, ...event }: CacheEvent): void {
    const tagged: CacheEvent = {
      ...event,
      ...(old && { old: this.#tag(old) }),
      ...(current && { current: this.#tag(current) }),
    };
    for (const listener of [...this.#listeners]) listener(tagged);
  }

  #tag<T extends StoredObject | undefined>(stored: T): T {
    if (stored === undefined) return stored;
    const known = this.#tagged.get(stored);
    if (known !== undefined) return known as T;
    const tagged = { ...stored, cluster: this.#cluster };
    this.#members.note(tagged);
    this.#tagged.set(stored, tagged);
    return tagged;
  }
}
