import { Controller, type ReconcileContext, type ReconcileResult } from '../../controller/index.ts';
import { selectsMember, usesClusters } from '../../definition/index.ts';
import type { Cluster, MemberCluster, MemberClusters, PlacedCount } from '../../kube/roles.ts';
import { metricCatalogue } from '../../telemetry/roles.ts';
import { gvkOf } from '../../util/gvk.ts';
import { HomeostatError } from '../../util/homeostat-error.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { pause } from '../../util/pause.ts';
import { runtimeLabel } from '../../util/stored-names.ts';
import { whenAborted } from '../../util/when-aborted.ts';
import type { DefinitionTask } from '../definitions/decide.ts';
import type { MembersView, MemberTasks } from '../definitions/member-tasks.ts';
import { OwnObjectInformer } from '../objects/own-object-informer.ts';
import { StatusReporter } from '../objects/status-reporter.ts';
import type { SharedOptions } from '../runner-options.ts';
import { retryUntilDone } from '../waits.ts';
import { clusterKind } from './cluster-kind.ts';
import { type ClusterRecord, clusterRecordOf } from './cluster-record.ts';
import { type ClusterStatus, connectionEvent, hasClusterStatus } from './cluster-status.ts';
import { Member, type MemberOptions } from './member.ts';
import { selectorOf } from './member-definition.ts';
import { membersViewOf } from './members-view.ts';
import { PlacedCounts } from './placed-counts.ts';
import { UidClaims } from './uid-claims.ts';

export interface ClustersControllerOptions
  extends SharedOptions,
    Pick<MemberOptions, 'secrets' | 'connect'> {
  readonly cluster: SharedOptions['cluster'] & Cluster;
  /** A definition in a member has changed. */
  readonly onDefinition: (name: string) => void;
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
    this.#activated.resolve();
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
    const unsubscribe = this.#options.notifier.subscribeChecks(() => this.#checkStatuses());
    try {
      const counting = this.#countPlaced(signal);
      await Promise.all([this.#objects.run(signal), controller.run(signal), counting]);
    } finally {
      unsubscribe();
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
    if (task.kind === 'run' && usesClusters(task.desired.located.definition)) this.activate();
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
    return { ...view, isSettled: view.isSettled && this.#isComplete };
  }

  isDone(name: string): boolean {
    if (!this.#isActive) return true;
    // Which members have something of it is not known yet.
    if (!this.#isComplete) return false;
    return [...this.#members.values()].every(({ definitions }) => !definitions.has(name));
  }

  async forget(name: string): Promise<void> {
    this.#tasks.delete(name);
    const stops = Array.from(this.#members.values(), (member) =>
      member.definitions.get(name)?.stop(),
    );
    await Promise.all(stops);
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

  /** Whether every `Cluster` is known. */
  get #isComplete(): boolean {
    const isKnown = ({ metadata }: KubeObject) => this.#members.has(metadata.name);
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
    return { kind: 'done', ...(afterMs > 0 && { afterMs }) };
  }

  /** @returns the delay of the status, in ms. @throws KubeError */
  async #report(member: Member, signal: AbortSignal): Promise<number> {
    const { object } = member.record;
    const { status, onWritten } = member.report();
    const waitMs = hasClusterStatus(object, status) ? 0 : member.statusDelayMs;
    if (waitMs > 0) return waitMs;
    const delayMs = await this.#reporter.report(object, status, signal);
    if (delayMs === 0) onWritten();
    // The object is deleted; an event follows.
    return delayMs ?? 0;
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
        this.#options.notifier.notify();
      },
      onUsable: () => {
        for (const listener of [...this.#listeners]) listener(name);
      },
    });
    this.#members.set(name, member);
    return member;
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

  #checkStatuses(): void {
    for (const member of this.#members.values())
      if (!hasClusterStatus(member.record.object, member.report().status))
        this.#controller?.enqueue(member.name);
  }
}

/** Marks writes of statuses, so that their watch events do not enqueue the object again. */
const passName = 'homeostat.dev/clusters';
const flow = { name: 'clusters', priority: 'status' } as const;
