import { Controller, type ReconcileContext, type ReconcileResult } from '#controller';
import { runsInMembers, selectsMember, usesClusters } from '#definition';
import type { Cluster, MemberCluster, MemberClusters, PlacedCount } from '#kube/roles.ts';
import { metricCatalogue } from '#telemetry/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import { HomeostatError } from '#util/homeostat-error.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { pause } from '#util/pause.ts';
import { runtimeLabel } from '#util/stored-names.ts';
import { whenAborted } from '#util/when-aborted.ts';
import type { DefinitionTask } from '../definitions/decide.ts';
import { OwnObjectInformer } from '../objects/own-object-informer.ts';
import { StatusReporter } from '../objects/status-reporter.ts';
import type { SharedOptions } from '../runner-options.ts';
import type { ViewChangeNotifier, ViewListener } from '../view-change-notifier.ts';
import { retryUntilDone } from '../waits.ts';
import { clusterKind } from './cluster-kind.ts';
import { type ClusterRecord, clusterRecordOf } from './cluster-record.ts';
import { type ClusterStatus, connectionEvent, hasClusterStatus } from './cluster-status.ts';
import { Member, type MemberOptions } from './member.ts';
import { selectorOf } from './member-definition.ts';
import type { MembersView, MemberTasks } from './member-places.ts';
import { membersViewOf } from './members-view.ts';
import { PlacedCounts } from './placed-counts.ts';
import { UidClaims } from './uid-claims.ts';

export interface ClustersControllerOptions
  extends SharedOptions,
    Pick<MemberOptions, 'secrets' | 'connect' | 'isGone'> {
  readonly cluster: SharedOptions['cluster'] & Cluster;
  readonly notifier: ViewChangeNotifier;
  /** What a definition has to do in members may have changed. */
  readonly onDefinition: (name: string) => void;
  /** Called once, before a definition has, or may have had, something to do in members. Until then it is asked nothing about tasks. */
  readonly onUsed: (clusters: ClustersController) => void;
  /** Called when what a definition shows of members has changed. */
  readonly listenerOf: (definition: string) => ViewListener;
}

/** `Cluster` objects reconciled in parallel. */
const concurrency = 16;
const maxDelayMs = 60_000;
/** Interval of counts of placed objects, and minimum time between writes of numbers. */
const countsMs = 10_000;
const limits = { burst: 10, refillMs: 500 };
const namespaceGvk = gvkOf('v1', 'Namespace');

/**
 * Works in member clusters: reconciles `Cluster` objects. Does nothing before {@link activate}, and sends no request.
 */
export class ClustersController implements MemberClusters, MemberTasks {
  readonly #options: ClustersControllerOptions;
  /** Created when it is needed: a runtime without members has no series for it. */
  #controller: Controller | undefined;
  readonly #objects: OwnObjectInformer;
  readonly #reporter: StatusReporter<ClusterStatus>;
  readonly #members = new Map<string, Member>();
  /** The newest task of each definition. */
  readonly #tasks = new Map<string, DefinitionTask>();
  readonly #claims = new UidClaims();
  readonly #listeners = new Set<(name: string) => void>();
  readonly #placed = new PlacedCounts();
  readonly #activated = Promise.withResolvers<void>();
  #isActive = false;
  #isUsed = false;
  #hubUid = '';
  #signal: AbortSignal = AbortSignal.abort();

  constructor(options: ClustersControllerOptions) {
    this.#options = options;
    this.#objects = new OwnObjectInformer({
      ...options,
      kind: clusterKind,
      onEvent: ({ name, pass }) => {
        if (pass?.definition !== passName) this.#controller?.enqueue(name);
      },
      onSynced: () => this.#enqueueAll(),
    });
    const { cluster, clock } = options;
    this.#reporter = new StatusReporter<ClusterStatus>({
      cluster,
      clock,
      limits,
      countsMs,
      fieldManager: 'homeostat/clusters.status',
      writeOptionsOf: (name) => ({ flow, pass: { key: name, definition: passName } }),
      hasStatus: hasClusterStatus,
      onForeignChange: (name) => this.#controller?.enqueue(name),
      onWritten(regarding, status) {
        const event = connectionEvent(regarding, status);
        if (event) cluster.events.record({ ...event, regarding, definition: 'clusters' });
      },
    });
  }

  get hubUid(): string {
    return this.#hubUid;
  }

  /** Starts working in members. Call when the kind `Cluster` is served; a definition that needs it starts it, too. */
  activate(): void {
    this.#isActive = true;
    this.#use();
    this.#activated.resolve();
  }

  /** Call with a task of another revision, before it begins. */
  noteTask(task: DefinitionTask): void {
    if (task.kind === 'run' && usesClusters(task.desired.located.definition)) this.activate();
    const uninstall = task.kind === 'finalize' ? task.uninstall : undefined;
    // What it has in the cluster of the runtime is not deleted with it.
    if (uninstall !== undefined && runsInMembers(uninstall.located.definition)) this.#use();
  }

  #use(): void {
    if (this.#isUsed) return;
    this.#isUsed = true;
    this.#options.onUsed(this);
  }

  /** Runs until the signal aborts and all work in members has ended. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#activated.promise, whenAborted(signal)]);
    if (signal.aborted) return;
    this.#signal = signal;
    await retryUntilDone(() => this.#readHubUid(signal), {
      ...this.#options,
      signal,
      message: 'The UID of the namespace kube-system cannot be read, will retry',
    });
    const { clock, logger, metrics } = this.#options;
    const controller = new Controller({
      name: passName,
      reconciler: { reconcile: (name, context) => this.#reconcile(name, context) },
      clock,
      logger,
      metrics,
      concurrency,
      maxDelayMs,
    });
    this.#controller = controller;
    try {
      const counting = this.#countPlaced(signal);
      await Promise.all([this.#objects.run(signal), controller.run(signal), counting]);
    } finally {
      await Promise.all(Array.from(this.#members.values(), (member) => member.stop()));
    }
  }

  // MemberClusters

  countPlaced(definition: string, countIn: PlacedCount): () => void {
    return this.#placed.add(definition, countIn);
  }

  get(name: string): MemberCluster | undefined {
    return this.#members.get(name)?.usable;
  }

  onChange(listener: (name: string) => void): () => void {
    // Wrapped: the same function may be subscribed twice.
    const entry = (name: string) => listener(name);
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  // MemberTasks

  setTask(name: string, task: DefinitionTask): void {
    this.#tasks.set(name, task);
    for (const member of this.#members.values()) member.syncDefinition(name);
  }

  viewOf(name: string): MembersView | undefined {
    const task = this.#tasks.get(name);
    const selector = task && selectorOf(task);
    const members = [...this.#members.values()].filter(
      ({ definitions, record }) => definitions.has(name) || selectsMember(selector, record.labels),
    );
    if (members.length === 0 && selector === undefined) return undefined;
    const view = membersViewOf(name, members, selector);
    return this.#isComplete ? view : { ...view, isSettled: false, revisions: undefined };
  }

  isDone(name: string): boolean {
    if (!this.#isActive) return true;
    // Which members have something of it is not known yet.
    if (!this.#isComplete) return false;
    return [...this.#members.values()].every(({ definitions }) => !definitions.has(name));
  }

  async forget(name: string): Promise<void> {
    this.#tasks.delete(name);
    const ends = Array.from(this.#members.values(), (member) =>
      member.definitions.get(name)?.forget(),
    );
    await Promise.all(ends);
    this.giveUpGone();
  }

  /** Call when definitions that members have may be gone. */
  giveUpGone(): void {
    for (const { name, definitions } of this.#members.values())
      if (definitions.keys().some((each) => !this.#tasks.has(each)))
        this.#controller?.enqueue(name);
  }

  /** Updates the gauges before a scrape. */
  observe(): void {
    if (!this.#isActive) return;
    this.#controller?.observe();
    const { metrics } = this.#options;
    const connected = metrics.gauge(metricCatalogue.clusterConnected);
    const ready = metrics.gauge(metricCatalogue.clusterReady);
    const resources = metrics.gauge(metricCatalogue.clusterResources);
    for (const member of this.#members.values()) {
      member.observe();
      const { name, definitions } = member;
      const failures = [...definitions.values()].filter(({ failure }) => failure !== undefined);
      const isConnected = member.connection.kind === 'connected';
      connected.set(Number(isConnected), [name]);
      ready.set(Number(member.usable !== undefined && failures.length === 0), [name]);
      const counts = Array.from(definitions.values(), ({ view }) => view?.instances ?? 0);
      const total = counts.reduce((sum, each) => sum + each, 0);
      resources.set(total, [name]);
    }
  }

  /** Whether every `Cluster` of this runtime is known. */
  get #isComplete(): boolean {
    const { runtime } = this.#options;
    const isKnown = ({ metadata: { name, labels } }: KubeObject) =>
      this.#members.has(name) || (labels?.[runtimeLabel] ?? runtime) !== runtime;
    return this.#objects.isSynced && this.#live.every(isKnown);
  }

  /** The objects that are not being deleted. */
  get #live(): readonly KubeObject[] {
    return [...this.#objects.list()].filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
    );
  }

  async #readHubUid(signal: AbortSignal): Promise<void> {
    const { cluster } = this.#options;
    const ref = { gvk: namespaceGvk, name: 'kube-system' };
    const live = await cluster.get(ref, { flow }, signal);
    const uid = live?.object.metadata.uid;
    if (uid === undefined)
      throw new HomeostatError('not-found', 'Expected the namespace "kube-system", found none');
    this.#hubUid = uid;
  }

  #enqueueAll(): void {
    const live = this.#live.map(({ metadata }) => metadata.name);
    const names = new Set([...this.#members.keys(), ...live]);
    for (const name of names) this.#controller?.enqueue(name, 'low');
    for (const name of this.#tasks.keys()) this.#options.onDefinition(name);
  }

  async #reconcile(name: string, { signal }: ReconcileContext): Promise<ReconcileResult> {
    if (!this.#objects.isSynced) return { kind: 'done' };
    const object = this.#objects.get(name);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) {
      await this.#remove(name);
      return { kind: 'done' };
    }
    const record = clusterRecordOf(object);
    // Deleted and created anew: nothing of the old one counts.
    const isOther = this.#members.get(name)?.record.object.metadata.uid !== object.metadata.uid;
    if (isOther) await this.#remove(name);
    if (!(await this.#isOurs(record, signal))) {
      await this.#remove(name);
      return { kind: 'done' };
    }
    const member = this.#members.get(name) ?? this.#add(record);
    member.update(record);
    for (const definition of await member.releaseFinished(signal))
      this.#options.onDefinition(definition);
    const afterMs = await this.#report(member, signal);
    return { kind: 'done', ...(afterMs > 0 && { due: { afterMs } }) };
  }

  /** @returns the delay of the status, in ms. @throws KubeError */
  async #report(member: Member, signal: AbortSignal): Promise<number> {
    const { object } = member.record;
    const status = member.report();
    const waitMs = hasClusterStatus(object, status) ? 0 : member.statusDelayMs(status);
    if (waitMs > 0) return waitMs;
    const report = await this.#reporter.report(object, status, signal);
    // The object is deleted; an event follows.
    if (report === undefined) return 0;
    if (report.afterMs === 0) member.recorded(clusterRecordOf(report.object));
    return report.afterMs;
  }

  /** Whether a `Cluster` belongs to this runtime; claims one without an owner. @throws KubeError */
  async #isOurs({ object, labels, name }: ClusterRecord, signal: AbortSignal): Promise<boolean> {
    const { cluster, runtime } = this.#options;
    const owner = labels[runtimeLabel];
    if (owner !== undefined || runtime === undefined) return owner === runtime;
    const { uid = '' } = object.metadata;
    await cluster.editMetadata(
      { gvk: clusterKind.gvk, name },
      {
        flow,
        uid,
        cached: object,
        change: (live) =>
          live.labels?.[runtimeLabel] === undefined
            ? { labels: { [runtimeLabel]: runtime } }
            : undefined,
      },
      signal,
    );
    // An event with the label of this or another runtime follows.
    return false;
  }

  #add(record: ClusterRecord): Member {
    const { name } = record;
    for (const definition of this.#tasks.keys()) this.#options.onDefinition(definition);
    const member: Member = new Member(record, {
      ...this.#options,
      hubUid: this.#hubUid,
      tasks: this.#tasks,
      signal: this.#signal,
      admit: (uid) => {
        const recorded = this.#live.map(clusterRecordOf);
        return this.#claims.admit(member, uid, { hubUid: this.#hubUid, recorded });
      },
      onChange: () => {
        this.#controller?.enqueue(name);
        this.#showChange(member);
      },
      listenerOf: (definition) => this.#listenerIn(name, definition),
      onUsable: () => {
        for (const listener of [...this.#listeners]) listener(name);
      },
    });
    this.#members.set(name, member);
    return member;
  }

  /** Definitions show the state of the members where they are or should be. */
  #showChange({ definitions, record }: Member): void {
    for (const [name, task] of this.#tasks)
      if (definitions.has(name) || selectsMember(selectorOf(task), record.labels))
        this.#options.listenerOf(name).changed();
  }

  /** What a definition shows in a member is part of two statuses. */
  #listenerIn(member: string, definition: string): ViewListener {
    const { notifier, listenerOf } = this.#options;
    const here = notifier.listenerFor((delayMs) => this.#controller?.enqueueAfter(member, delayMs));
    const inHub = listenerOf(definition);
    return {
      awaited() {
        here.awaited();
        inHub.changed();
      },
      changed() {
        here.changed();
        inHub.changed();
      },
      counted() {
        here.counted();
        inHub.counted();
      },
    };
  }

  async #remove(name: string): Promise<void> {
    const member = this.#members.get(name);
    if (member === undefined) return;
    await member.stop();
    this.#members.delete(name);
    this.#reporter.forget(name);
    this.#claims.remove(member);
    for (const other of this.#members.values()) if (other.isDuplicate) void other.restart();
    const definitions = new Set([...member.definitions.keys(), ...this.#tasks.keys()]);
    for (const definition of definitions) this.#options.onDefinition(definition);
    await this.#options.metrics.removeSeries('cluster', name);
  }

  async #countPlaced(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(this.#options.clock, countsMs, signal);
      for (const member of this.#members.values())
        member.setPlaced(this.#placed.countIn(member.name, this.#tasks.values()));
    }
  }
}

/** Marks writes of statuses, so that their watch events do not enqueue the object again. */
const passName = 'homeostat.dev/clusters';
const flow = { name: 'clusters', priority: 'status' } as const;
