import type { CacheEvent } from '#kube/roles.ts';
import { type MetricRegistry, metricCatalogue } from '#telemetry/roles.ts';
import { anySignal } from '#util/any-signal.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { errorLogFields } from '#util/homeostat-error.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { Waker } from '#util/pause.ts';
import { definitionLabel, finalizerOf, hubLabel, ownerUidLabel } from '#util/stored-names.ts';
import { kindAt } from '../identity.ts';
import type { OperatorContext } from '../pass/context.ts';
import { isKnown, untilInformer } from '../watch/informer-waits.ts';
import type { Members } from './members.ts';
import { kindsPlacedIn } from './placements.ts';

/** The hub and the members are not read at one moment: what is found is looked at again after this time. */
const settleMs = 5_000;
/** What was found is looked at and reported again after this time, until it is gone. */
const repeatMs = 600_000;

interface Search {
  readonly connection: unknown;
  /** Of the member: they decide which kinds may be there. */
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly end: () => void;
  /** Searches again. */
  readonly waker: Waker;
}

/**
 * The objects of one definition in members. After a restore of the hub from a backup, they may have owners that the hub does not know:
 * these are searched once per connection and whenever resources disappear that were not finalized. They are reported, never deleted.
 */
export class LostOwners {
  readonly #context: OperatorContext;
  readonly #members: Members;
  readonly #metrics: MetricRegistry;
  readonly #stopper = new AbortController();
  readonly #unsubscribe: readonly (() => void)[];
  /** By member. */
  readonly #searches = new Map<string, Search>();
  /** Number of objects without a known owner, by member. */
  readonly #unknown = new Map<string, number>();

  constructor(context: OperatorContext, members: Members, metrics: MetricRegistry) {
    this.#context = context;
    this.#members = members;
    this.#metrics = metrics;
    this.#unsubscribe = [
      members.onChange((name) => this.#check(name)),
      context.watches.resources.informer.subscribe((event) => this.#noteEvent(event)),
    ];
    for (const name of members.states.keys()) this.#check(name);
  }

  stop(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#stopper.abort(new Error('The definition has stopped'));
  }

  /** Number of objects that resources have in a member. Undefined: not known now. */
  countIn(member: string): number | undefined {
    const informers = [...this.#context.watches.allChildren()].flatMap(({ informer, gvk }) =>
      gvk.cluster === member ? informer : [],
    );
    if (!this.#areOwnersKnown || this.#members.usable(member) === undefined) return undefined;
    if (informers.some(({ state }) => state.kind !== 'synced')) return undefined;
    let count = 0;
    for (const informer of informers)
      for (const { object } of informer.list()) if (this.#ownerOf(object) === true) count += 1;
    return count;
  }

  #check(name: string | undefined): void {
    if (name === undefined) return;
    // What is in a deleted member is given up.
    if (!this.#members.states.has(name) && this.#unknown.has(name)) this.#count(name, 0);
    const connection = this.#members.usable(name);
    const labels = this.#members.states.get(name)?.labels;
    const before = this.#searches.get(name);
    if (connection === before?.connection && deepEqual(labels, before?.labels)) return;
    before?.end();
    this.#searches.delete(name);
    if (connection === undefined) return;
    const stopper = new AbortController();
    const end = () => stopper.abort(new Error('Disconnected'));
    const waker = new Waker(this.#context.clock);
    this.#searches.set(name, { connection, labels, end, waker });
    const signal = anySignal([this.#stopper.signal, stopper.signal]);
    const kinds = kindsPlacedIn(this.#context.plan, name, labels);
    this.#search(name, kinds, { waker, signal }).catch((error: unknown) => {
      if (signal.aborted) return;
      const { logger, plan } = this.#context;
      logger.warn(
        { definition: plan.name, cluster: name, ...errorLogFields(error) },
        'The objects in a member cluster cannot be searched',
      );
    });
  }

  /** The last step of a deletion removes our finalizer: a resource that disappears with it is lost, for example by a restore. */
  #noteEvent({ old, current }: CacheEvent): void {
    const lost = current?.object.metadata.uid === old?.object.metadata.uid ? undefined : old;
    const { plan } = this.#context;
    if (lost?.object.metadata.finalizers?.includes(finalizerOf(plan.name)) !== true) return;
    for (const { waker } of this.#searches.values()) waker.wake();
  }

  async #search(
    name: string,
    kinds: ReturnType<typeof kindsPlacedIn>,
    { waker, signal }: { readonly waker: Waker; readonly signal: AbortSignal },
  ): Promise<void> {
    while (!signal.aborted) {
      const found = await this.#unknownIn(name, kinds, signal);
      this.#report(name, found);
      await waker.pause(found.length === 0 ? Number.POSITIVE_INFINITY : repeatMs, signal);
    }
  }

  async #unknownIn(
    member: string,
    kinds: ReturnType<typeof kindsPlacedIn>,
    signal: AbortSignal,
  ): Promise<readonly KubeObject[]> {
    const { cluster, clock, watches } = this.#context;
    const informers = kinds.map((gvk) =>
      cluster.acquire({ gvk: kindAt(gvk, member), labelSelector: ownerUidLabel }),
    );
    try {
      for (const informer of informers)
        await untilInformer(informer, signal, () => isKnown(informer) || undefined);
      const unknown = async () => {
        // Also while the hub does not respond for some time.
        await untilInformer(
          watches.resources.informer,
          signal,
          () => this.#areOwnersKnown || undefined,
        );
        return informers
          .flatMap((informer) => Array.from(informer.list(), ({ object }) => object))
          .filter((object) => this.#ownerOf(object) === false);
      };
      if ((await unknown()).length === 0) return [];
      await clock.sleep(settleMs, signal);
      return await unknown();
    } finally {
      for (const informer of informers) informer.release();
    }
  }

  /** Whether the owner of the object exists. Undefined: not known now, or the object does not belong to the definition. */
  #ownerOf({ metadata: { labels = {} } }: KubeObject): boolean | undefined {
    const { plan, watches } = this.#context;
    const isOurs =
      labels[definitionLabel] === plan.name && labels[hubLabel] === this.#members.hubUid;
    return isOurs && this.#areOwnersKnown
      ? watches.resources.keyOfUid(labels[ownerUidLabel] ?? '') !== undefined
      : undefined;
  }

  get #areOwnersKnown(): boolean {
    return this.#context.watches.resources.informer.state.kind === 'synced';
  }

  #report(member: string, found: readonly KubeObject[]): void {
    const { plan, cluster, logger } = this.#context;
    const before = this.#unknown.get(member) ?? 0;
    this.#count(member, found.length);
    if (found.length === 0) return;
    const kinds = [...new Set(found.map(({ kind }) => kind))].sort().join(', ');
    const message = 'Objects in a member cluster have no resource on the hub';
    if (found.length !== before)
      logger.warn({ definition: plan.name, cluster: member, count: found.length, kinds }, message);
    // Again each time: the server may have rejected the Event before, and deletes it after an hour.
    const objects = found.length === 1 ? '1 object' : `${found.length} objects`;
    const note = `Found ${objects} of definition "${plan.name}" (${kinds}) without a resource on the hub, for example because it was restored from a backup. Nothing there is changed. Label: ${definitionLabel}=${plan.name}`;
    const regarding = this.#members.object(member);
    if (regarding === undefined) return;
    cluster.events.record({
      regarding,
      note,
      type: 'Warning',
      reason: 'UnknownOwners',
      action: 'Search',
      definition: plan.name,
    });
  }

  #count(member: string, unknown: number): void {
    this.#unknown.set(member, unknown);
    const total = [...this.#unknown.values()].reduce((sum, each) => sum + each, 0);
    this.#metrics.gauge(metricCatalogue.unknownOwners).set(total, [this.#context.plan.name]);
  }
}
