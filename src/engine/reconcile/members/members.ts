import type {
  Cluster,
  Informer,
  MemberCluster,
  MemberClusters,
  StoredObject,
} from '#kube/roles.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { gvkOf } from '#util/gvk.ts';
import { isJsonObject } from '#util/json.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';

/** The kind whose objects represent member clusters. */
export const clusterKind = gvkOf('homeostat.dev/v1alpha1', 'Cluster');

/** What is known of one member cluster. It is replaced whenever a part of it changes. */
interface MemberState {
  readonly labels: Readonly<Record<string, string>>;
  /** Its recorded UID. Undefined: it was never connected. */
  readonly uid: string | undefined;
  /** Is the condition `Connected` true in the cache of the hub? */
  readonly isConnected: boolean;
  /** Paused by an administrator: nothing is written there. */
  readonly isPaused: boolean;
  /** Reason of the condition, for people. */
  readonly reason: string;
  /** Its connection. Undefined: there is none, or it is paused. */
  readonly member: MemberCluster | undefined;
}

/** By name; replaced whenever a state changes. */
type MemberStates = ReadonlyMap<string, MemberState>;

/**
 * The member clusters: their connections, and their objects of kind `Cluster` in the ordinary informer of the hub, so that both equal what
 * reads see. Watches nothing before {@link open}.
 */
export class Members {
  readonly #hub: Cluster;
  readonly #clusters: MemberClusters;
  readonly #listeners = new Set<(name: string | undefined) => void>();
  readonly #clusterOf = new WeakMap<object, string>();
  #states: MemberStates = new Map();
  #informer: Informer | undefined;
  #stops: readonly (() => void)[] = [];

  constructor(hub: Cluster, clusters: MemberClusters) {
    this.#hub = hub;
    this.#clusters = clusters;
  }

  /** Read late: it is known only when the first member can be used. */
  get hubUid(): string {
    return this.#clusters.hubUid;
  }

  /** Remembers the member of an object: expressions see only the object. */
  note({ object, cluster }: StoredObject): void {
    if (cluster !== undefined) this.#clusterOf.set(object, cluster);
  }

  /** The member of an object, by its identity. */
  clusterOf(object: object): string | undefined {
    return this.#clusterOf.get(object);
  }

  /** Starts the watch on the objects of kind `Cluster`, once. */
  open(): Informer {
    if (this.#informer !== undefined) return this.#informer;
    const informer = this.#hub.acquire({ gvk: clusterKind });
    this.#informer = informer;
    this.#stops = [
      informer.subscribe(({ name }) => this.#update(name)),
      informer.onState(() => this.#updateAll()),
      this.#clusters.onChange((name) => this.#update(name)),
      () => informer.release(),
    ];
    return informer;
  }

  /** The object of kind `Cluster`. */
  object(name: string): KubeObject | undefined {
    return this.#informer?.get(undefined, name)?.object;
  }

  /** A consistent snapshot: it never changes. */
  get states(): MemberStates {
    return this.#states;
  }

  /** The connection of a member, also if it is not usable. */
  connectionOf(name: string): Cluster | undefined {
    return this.#states.get(name)?.member?.cluster;
  }

  /** The connection of a usable member. */
  usable(name: string): Cluster | undefined {
    const state = this.#states.get(name);
    return state !== undefined && isUsable(state) ? state.member?.cluster : undefined;
  }

  /** Are all objects of kind `Cluster` known? False before {@link open}. */
  get isKnown(): boolean {
    const state = this.#informer?.state;
    if (state?.kind === 'failing') return state.error.code === 'kind-missing';
    return state?.kind === 'synced';
  }

  /** Calls the listener with the name of a member whose state changed; undefined: of any. Returns the unsubscribe function. */
  onChange(listener: (name: string | undefined) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#stops = [];
    this.#informer = undefined;
    this.#states = new Map();
  }

  #updateAll(): void {
    const named = [...(this.#informer?.list() ?? [])].map(({ object }) => object.metadata.name);
    for (const name of new Set([...named, ...this.#states.keys()])) this.#update(name);
    // Also members without an object: whether they are given up is known only now.
    this.#notify(undefined);
  }

  #update(name: string): void {
    const object = this.object(name);
    const before = this.#states.get(name);
    const now = object && stateOf(object, this.#clusters.get(name));
    if (before === now || (before !== undefined && now !== undefined && isSame(before, now)))
      return;
    const states = new Map(this.#states);
    if (now === undefined) states.delete(name);
    else states.set(name, now);
    this.#states = states;
    this.#notify(name);
  }

  #notify(name: string | undefined): void {
    for (const listener of [...this.#listeners]) listener(name);
  }
}

function stateOf(object: KubeObject, member: MemberCluster | undefined): MemberState {
  const { spec, status, metadata } = object;
  const uid = isJsonObject(status) && typeof status.uid === 'string' ? status.uid : undefined;
  const connected = conditionsOf(object).find(({ type }) => type === 'Connected');
  return {
    labels: metadata.labels ?? {},
    uid,
    isConnected: connected?.status === 'True',
    isPaused: isJsonObject(spec) && spec.paused === true,
    reason: typeof connected?.reason === 'string' ? connected.reason : 'Connecting',
    member,
  };
}

function isSame(
  { member: a, ...rest }: MemberState,
  { member: b, ...others }: MemberState,
): boolean {
  return a?.cluster === b?.cluster && a?.uid === b?.uid && deepEqual(rest, others);
}

/** Can objects be read and written there? The identity must be the recorded one. */
function isUsable({ isConnected, member, uid }: MemberState): boolean {
  return isConnected && member !== undefined && member.uid === uid;
}

/**
 * The member clusters as one reconcile sees them: as its reads do. A member whose state has changed since is not usable in it; the change
 * enqueues the resource again. So selecting members by their status and pruning never disagree.
 */
export class MemberView {
  readonly hubUid: string;
  readonly #members: Members;
  readonly #states: MemberStates;
  readonly #wasKnown: boolean;

  constructor(members: Members) {
    members.open();
    this.hubUid = members.hubUid;
    this.#members = members;
    this.#states = members.states;
    this.#wasKnown = members.isKnown;
  }

  /** Has the state of a member changed since? */
  isStale(name: string): boolean {
    const { states, isKnown } = this.#members;
    return states.get(name) !== this.#states.get(name) || isKnown !== this.#wasKnown;
  }

  get names(): Iterable<string> {
    return this.#states.keys();
  }

  labelsOf(name: string): Readonly<Record<string, string>> | undefined {
    return this.#states.get(name)?.labels;
  }

  isUsable(name: string): boolean {
    const state = this.#states.get(name);
    return state !== undefined && isUsable(state) && !this.isStale(name);
  }

  /** The UID of a usable member. */
  uidOf(name: string): string | undefined {
    return this.isUsable(name) ? this.#states.get(name)?.uid : undefined;
  }

  /** Why a member is not usable, for people: stable text. */
  reasonOf(name: string): string {
    if (!this.#members.isKnown) return 'the Cluster objects are not read yet';
    const state = this.#members.states.get(name);
    if (state === undefined) return 'it does not exist';
    if (!state.isConnected) return `it is not connected (${state.reason})`;
    if (state.isPaused) return 'it is paused';
    return state.member === undefined ? 'it is connecting' : 'it has just changed';
  }

  /** Is a member that is not usable expected to be so in a moment, or to be reported as unreachable? */
  isExpected(name: string): boolean {
    const state = this.#members.states.get(name);
    if (this.isStale(name)) return true;
    return state?.isConnected === true && !state.isPaused;
  }

  /**
   * Are objects there given up: is the object of kind `Cluster` deleted, or is it another cluster by now?
   * @param uid The start of the UID that was recorded; empty if unknown.
   */
  isGivenUp(name: string, uid: string): boolean {
    if (!this.#members.isKnown) return false;
    const state = this.#members.states.get(name);
    return state === undefined || (state.uid !== undefined && !state.uid.startsWith(uid));
  }
}
