import { selectsMember } from '#definition';
import { KubeError, type MemberCluster } from '#kube/roles.ts';
import { rightText } from '#reconcile';
import { type MetricRegistry, metricCatalogue, silentMetrics } from '#telemetry/roles.ts';
import { anySignal } from '#util/any-signal.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { gvkOf } from '#util/gvk.ts';
import { conditionsOf } from '#util/kube-object.ts';
import { whenAborted } from '#util/when-aborted.ts';
import type { DefinitionTask } from '../definitions/decide.ts';
import { errorMessage } from '../error-message.ts';
import { type ObjectWatch, watchObject } from '../objects/watch-object.ts';
import type { SharedOptions } from '../runner-options.ts';
import { failureDelayMs, startDelayMs } from '../start-delay.ts';
import type { ViewListener } from '../view-change-notifier.ts';
import type { ClusterRecord } from './cluster-record.ts';
import { type ClusterStatus, clusterStatusOf, hasClusterStatus } from './cluster-status.ts';
import {
  ConnectionError,
  type ConnectionFailure,
  type ConnectionState,
} from './connection-state.ts';
import { accessOf, type MemberAccess, type SecretPolicy, secretRefOf } from './member-access.ts';
import {
  type Connected,
  type ConnectionEvents,
  type ConnectMember,
  MemberConnection,
  reportAfterMs,
} from './member-connection.ts';
import { MemberDefinition, memberTaskOf, selectorOf } from './member-definition.ts';
import { SummedMetrics } from './summed-metrics.ts';

export interface MemberOptions extends SharedOptions {
  /** The hub. */
  readonly cluster: SharedOptions['cluster'];
  readonly secrets: SecretPolicy;
  readonly connect: ConnectMember;
  /** UID of the hub. */
  readonly hubUid: string;
  /** The newest task of each definition. */
  readonly tasks: ReadonlyMap<string, DefinitionTask>;
  /** Whether there is no definition of that name, and none can come from a manifest. */
  readonly isGone: (definition: string) => boolean;
  /** Resolves when this member may be the cluster with that UID. @throws ConnectionError */
  readonly admit: (uid: string) => Promise<void>;
  /** Stops all work. */
  readonly signal: AbortSignal;
  /** The member must be reconciled. */
  readonly onChange: () => void;
  /** Called when what a definition shows in the member has changed. */
  readonly listenerOf: (definition: string) => ViewListener;
  /** It can be used now, or cannot be used any more. */
  readonly onUsable: () => void;
}

const secretGvk = gvkOf('v1', 'Secret');

/** One member cluster: its connection, and the definitions in it. */
export class Member {
  readonly name: string;
  readonly #options: MemberOptions;
  readonly #definitions = new Map<string, MemberDefinition>();
  readonly #connection: MemberConnection;
  readonly #stopper = new AbortController();
  readonly #ended: Promise<void>;
  readonly #createdMs: number;
  #record: ClusterRecord;
  #secret: ObjectWatch | undefined;
  /** What the kubeconfig was, so that it is parsed once. */
  #known: MemberAccess | undefined;
  /** Whether this process has written its status, or has found it as it should be. */
  #hasReported = false;
  /** Number of placed objects; undefined: none so far. */
  #placed: number | undefined;
  /** The identity that the status must contain. */
  #recorded: { readonly uid: string; readonly notify: () => void } | undefined;
  /** Set while definitions may run there. */
  #connected: (Connected & { readonly signal: AbortSignal }) | undefined;

  constructor(record: ClusterRecord, options: MemberOptions) {
    this.name = record.name;
    this.#record = record;
    this.#options = options;
    this.#placed = record.placed;
    const { clock, random, admit, onChange, listenerOf } = options;
    this.#createdMs = clock.monotonicMs();
    for (const recorded of record.definitions) {
      const { name } = recorded;
      this.#definitions.set(
        name,
        new MemberDefinition({ name, recorded, listener: listenerOf(name) }),
      );
    }
    this.#connection = new MemberConnection({
      clock,
      random,
      onChange,
      logger: options.logger.child({ cluster: record.name }),
      connect: (config, events) => this.#createClient(config, events),
      admit: async (uid) => {
        this.#checkUid(uid);
        await admit(uid);
      },
      onConnected: (connected, ending) => this.#runDefinitions(connected, ending),
    });
    this.#ended = this.#connection.run(anySignal([options.signal, this.#stopper.signal]));
  }

  get record(): ClusterRecord {
    return this.#record;
  }

  get connection(): ConnectionState {
    return this.#connection.state;
  }

  /** Whether it waits for the removal of another `Cluster`. */
  get isDuplicate(): boolean {
    const { connection } = this;
    return connection.kind === 'failed' && connection.failure.reason === 'Duplicate';
  }

  /** Undefined while it cannot be used. */
  get usable(): MemberCluster | undefined {
    if (this.#connected === undefined || this.#record.isPaused) return undefined;
    const { uid, cluster } = this.#connected;
    return { uid, cluster };
  }

  /** Whether work waits until its status is written. */
  get isAwaited(): boolean {
    return (
      this.#recorded !== undefined || [...this.#definitions.values()].some((each) => each.isAwaited)
    );
  }

  get definitions(): ReadonlyMap<string, MemberDefinition> {
    return this.#definitions;
  }

  /** How long a status that only shows the start may wait, in ms: after a restart, most members are soon as their status says. */
  statusDelayMs(status: ClusterStatus): number {
    const { object } = this.#record;
    const isNew = conditionsOf(object).length === 0;
    if (isNew || this.isAwaited) return 0;
    if (this.connection.kind === 'connecting') return reportAfterMs;
    const start = {
      createdMs: this.#createdMs,
      isOfEarlier: !this.#hasReported,
      changesCountsOnly: hasClusterStatus(object, status, true),
      includesConnection: true,
      nowMs: this.#options.clock.monotonicMs(),
    };
    if (this.connection.kind === 'failed') return failureDelayMs(start);
    const views = [...this.#definitions.values()].flatMap(({ view }) => view ?? []);
    return Math.max(0, ...views.map((view) => startDelayMs(view, start)));
  }

  /** What its status shows now. */
  report(): ClusterStatus {
    const { connection } = this;
    const { object, isPaused, knownUid, version: knownVersion } = this.#record;
    const known = { uid: knownUid, version: knownVersion };
    const { uid, version } = connection.kind === 'connected' ? connection : known;
    const definitions = [...this.#definitions.values()]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((each) => each.report());
    return clusterStatusOf(
      {
        connection,
        isPaused,
        uid,
        version,
        placed: this.#placed,
        definitions,
      },
      { object, now: new Date(this.#options.clock.nowMs()).toISOString() },
    );
  }

  /** Call when its status contains what was reported. */
  recorded({ knownUid, definitions }: ClusterRecord): void {
    this.#hasReported = true;
    if (this.#recorded?.uid === knownUid) this.#recorded?.notify();
    for (const entry of definitions) this.#definitions.get(entry.name)?.recorded(entry);
  }

  /** Call with every version of the object. */
  update(record: ClusterRecord): void {
    const { isPaused: wasPaused, labels } = this.#record;
    this.#record = record;
    if (!deepEqual(labels, record.labels)) {
      for (const definition of this.#definitions.values()) definition.runAll();
      this.#showSelection(labels);
    }
    this.#watchSecret();
    if (this.#secret?.state.kind !== 'waiting') this.#connection.setAccess(this.#access());
    if (wasPaused !== record.isPaused) this.#options.onUsable();
    this.syncDefinitions();
  }

  /** Changes the number of objects that resources of the hub have there. Undefined: not known now. */
  setPlaced(placed: number | undefined): void {
    // A member without any does not show 0.
    if (placed === undefined || placed === (this.#placed ?? 0)) return;
    this.#placed = placed;
    this.#options.onChange();
  }

  /** Call when labels have changed or the member is connected. */
  syncDefinitions(): void {
    const names = [...this.#options.tasks.keys(), ...this.#definitions.keys()];
    for (const name of new Set(names)) this.syncDefinition(name);
  }

  /** Call when the task of a definition has changed. */
  syncDefinition(name: string): void {
    const { tasks } = this.#options;
    const { labels, isPaused } = this.#record;
    const task = tasks.get(name);
    const known = this.#definitions.get(name);
    // Its state in the hub is not known yet.
    if (task === undefined) return;
    const wanted = memberTaskOf(task, { labels, isPaused, isKnown: known !== undefined });
    if (wanted === undefined || (known === undefined && this.usable === undefined)) return;
    (known ?? this.#addDefinition(name)).setTask(wanted);
  }

  /** Gives up definitions that have nothing left to do or are gone, and returns their names. @throws KubeError */
  async releaseFinished(signal: AbortSignal): Promise<readonly string[]> {
    const released: string[] = [];
    for (const definition of [...this.#definitions.values()]) {
      if (!definition.isDone && !this.#isGone(definition)) continue;
      await definition.release(signal);
      this.#definitions.delete(definition.name);
      // Its task may have changed since.
      this.syncDefinition(definition.name);
      released.push(definition.name);
    }
    return released;
  }

  /** Its object was removed without being finalized: what is there stays, but no hub serves it. */
  #isGone({ name }: MemberDefinition): boolean {
    const { tasks, isGone } = this.#options;
    return this.usable !== undefined && !tasks.has(name) && isGone(name);
  }

  /** Connects again, for example because another member has its UID; resolves when its work has ended. */
  restart(): Promise<void> {
    return this.#connection.restart();
  }

  /** Ends all work; resolves when it has ended. */
  async stop(): Promise<void> {
    this.#secret?.stop();
    this.#stopper.abort(new Error('The Cluster was removed'));
    await this.#ended;
  }

  /** Updates the gauges before a scrape. */
  observe(): void {
    for (const definition of this.#definitions.values()) definition.observe();
  }

  #addDefinition(name: string): MemberDefinition {
    const listener = this.#options.listenerOf(name);
    const definition = new MemberDefinition({ name, listener });
    this.#definitions.set(name, definition);
    this.#startDefinition(definition);
    listener.awaited();
    return definition;
  }

  /** Definitions show the members that they select, those that cannot be used included. `before`: the labels before. */
  #showSelection(before: ClusterRecord['labels']): void {
    const { tasks, listenerOf } = this.#options;
    const { labels } = this.#record;
    for (const [name, task] of tasks) {
      const selector = selectorOf(task);
      if (selectsMember(selector, before) !== selectsMember(selector, labels))
        listenerOf(name).changed();
    }
  }

  #watchSecret(): void {
    const { cluster, secrets, onChange } = this.#options;
    const ref = secretRefOf(this.#record, secrets);
    const key = ref && `${ref.namespace}/${ref.name}`;
    if (this.#secret?.key === key) return;
    this.#secret?.stop();
    this.#secret = ref && watchObject(cluster, { gvk: secretGvk, ...ref }, onChange);
  }

  #access(): MemberAccess | ConnectionFailure {
    if (this.name === 'hub') {
      const message = 'The name "hub" is reserved for the cluster of the runtime';
      return { reason: 'InvalidName', message };
    }
    const { state, object } = this.#secret ?? {};
    if (state?.kind === 'failing') {
      const { right } = state.error;
      const why = right ? rightText(right, this.#record.secret.name) : errorMessage(state.error);
      const message = `The Secret cannot be read: ${why}`;
      return { reason: 'Forbidden', message };
    }
    const access = accessOf(this.#record, this.#options.secrets, object, this.#known);
    this.#known = 'config' in access ? access : undefined;
    return access;
  }

  #createClient(config: MemberAccess['config'], events: ConnectionEvents) {
    const { connect, metrics } = this.#options;
    const throttled = metrics.counter(metricCatalogue.clusterThrottledSeconds);
    throttled.increment([this.name], 0);
    return connect(config, {
      ...events,
      name: this.name,
      labels: () => this.#record.labels,
      metrics: requestCounter(metrics, this.name),
      onReadWaited: (seconds) => throttled.increment([this.name], seconds),
      beforeWrite: () => {
        if (!this.#record.isPaused) return;
        throw new KubeError('aborted', 'Not sent: the cluster is paused', { status: 0 });
      },
    });
  }

  /** @throws ConnectionError */
  #checkUid(uid: string): void {
    const { expectedUid, knownUid } = this.#record;
    const expected = expectedUid ?? knownUid;
    if (expected === undefined || expected === uid) return;
    const where = expectedUid === undefined ? 'status.uid' : 'spec.uid';
    const message = `Expected the cluster with UID "${expected}" (${where}), found "${uid}"; if this is right, set "spec.uid: ${uid}"`;
    throw new ConnectionError({ reason: 'Replaced', message });
  }

  /** Runs the definitions until the signal aborts and all work has ended. */
  async #runDefinitions(connected: Connected, signal: AbortSignal): Promise<void> {
    const { onUsable, onChange } = this.#options;
    await this.#whenRecorded(connected.uid, signal);
    if (signal.aborted) return;
    this.#connected = { ...connected, signal };
    for (const definition of this.#definitions.values()) this.#startDefinition(definition);
    onUsable();
    this.syncDefinitions();
    onChange();
    try {
      await whenAborted(signal);
    } finally {
      this.#connected = undefined;
      onUsable();
      await Promise.all(Array.from(this.#definitions.values(), (each) => each.stop()));
    }
  }

  /** The identity is recorded before anything is listed or written in the member. */
  async #whenRecorded(uid: string, signal: AbortSignal): Promise<void> {
    if (this.#record.knownUid === uid) return;
    const written = Promise.withResolvers<void>();
    this.#recorded = { uid, notify: written.resolve };
    this.#options.onChange();
    await Promise.race([written.promise, whenAborted(signal)]);
    this.#recorded = undefined;
  }

  #startDefinition(definition: MemberDefinition): void {
    const connected = this.#connected;
    if (connected === undefined) return;
    const { cluster: hub, hubUid, logger, metrics, ...rest } = this.#options;
    // A resource of a member cannot reach other members. Keys of reconciles and the namespace are those of the hub.
    const { members: _, observer, namespace: __, ...shared } = rest;
    definition.start(
      {
        ...shared,
        ...(observer && { observer: observer.inMember(this.name) }),
        cluster: connected.cluster,
        logger: logger.child({ cluster: this.name }),
        metrics: new SummedMetrics(metrics),
        hub: { uid: hubUid, cluster: hub },
      },
      connected.signal,
    );
  }
}

/** Of the client of a member, only the number of requests is measured. */
function requestCounter(metrics: MetricRegistry, name: string): MetricRegistry {
  const requests = metrics.counter(metricCatalogue.clusterRequests);
  return {
    ...silentMetrics,
    counter: (spec) =>
      spec.name === metricCatalogue.requests.name
        ? { increment: (_labels, by = 1) => requests.increment([name], by) }
        : silentMetrics.counter(spec),
  };
}
