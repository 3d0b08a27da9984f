import { type Informer, KubeError, type MemberCluster } from '../../kube/roles.ts';
import { type MetricRegistry, metricCatalogue, silentMetrics } from '../../telemetry/roles.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { gvkOf } from '../../util/gvk.ts';
import { whenAborted } from '../../util/when-aborted.ts';
import type { DefinitionTask } from '../definitions/decide.ts';
import { errorMessage } from '../error-message.ts';
import type { SharedOptions } from '../runner-options.ts';
import type { ClusterRecord } from './cluster-record.ts';
import type { ClusterFacts } from './cluster-status.ts';
import { ConnectionError, type ConnectionState } from './connection-state.ts';
import { accessOf, type MemberAccess, type SecretPolicy, secretRefOf } from './member-access.ts';
import {
  type Connected,
  type ConnectionEvents,
  type ConnectMember,
  MemberConnection,
} from './member-connection.ts';
import { MemberDefinition, memberTaskOf } from './member-definition.ts';
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
  /** Checks that this member may be the cluster with that UID. @throws ConnectionError */
  readonly admit: (record: ClusterRecord, uid: string) => void;
  /** Stops all work. */
  readonly signal: AbortSignal;
  /** The member must be reconciled. */
  readonly onChange: () => void;
  /** It can be used now, or cannot be used any more. */
  readonly onUsable: () => void;
}

/** The connection for one version of the kubeconfig. */
interface Work {
  readonly digest: string;
  readonly stopper: AbortController;
  readonly connection: MemberConnection;
  readonly ended: Promise<void>;
}

const secretGvk = gvkOf('v1', 'Secret');

/** One member cluster: its connection, and the definitions in it. */
export class Member {
  readonly name: string;
  readonly #options: MemberOptions;
  readonly #definitions = new Map<string, MemberDefinition>();
  #record: ClusterRecord;
  #secret:
    | { readonly key: string; readonly informer: Informer; readonly stop: () => void }
    | undefined;
  #accessState: ConnectionState = { kind: 'connecting' };
  #work: Work | undefined;
  /** Number of placed objects; undefined: none so far. */
  #placed: number | undefined;
  /** The identity that the status contains. */
  #recorded: { readonly uid: string; readonly notify: () => void } | undefined;
  /** Set while definitions may run there. */
  #connected: (Connected & { readonly signal: AbortSignal }) | undefined;

  constructor(record: ClusterRecord, options: MemberOptions) {
    this.name = record.name;
    this.#record = record;
    this.#options = options;
    this.#placed = record.placed;
    const { onChange } = options;
    for (const recorded of record.definitions) {
      const { name } = recorded;
      this.#definitions.set(name, new MemberDefinition({ name, recorded, onChange }));
    }
  }

  get record(): ClusterRecord {
    return this.#record;
  }

  get connection(): ConnectionState {
    return this.#work?.connection.state ?? this.#accessState;
  }

  /** Undefined while it cannot be used. */
  get usable(): MemberCluster | undefined {
    if (this.#connected === undefined || this.#record.isPaused) return undefined;
    const { uid, cluster } = this.#connected;
    return { name: this.name, uid, cluster };
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

  get facts(): ClusterFacts {
    const { connection } = this;
    const uid = connection.kind === 'connected' ? connection.uid : this.#record.knownUid;
    const version = connection.kind === 'connected' ? connection.version : this.#record.version;
    return {
      ...{ connection, isPaused: this.#record.isPaused },
      ...(uid !== undefined && { uid }),
      ...(version !== undefined && { version }),
      ...(this.#placed !== undefined && { placed: this.#placed }),
      definitions: Array.from(this.#definitions.values(), (each) => each.statusEntry()).sort(
        (a, b) => (String(a.name) < String(b.name) ? -1 : 1),
      ),
    };
  }

  /** Call with every version of the object. */
  update(record: ClusterRecord): void {
    const { isPaused: wasPaused, labels } = this.#record;
    this.#record = record;
    if (!deepEqual(labels, record.labels))
      for (const definition of this.#definitions.values()) definition.runAll();
    this.#watchSecret();
    if (this.#isSecretKnown) this.#connectWith(this.#access());
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

  /** Gives up definitions that have nothing left to do, and returns their names. @throws KubeError */
  async releaseFinished(signal: AbortSignal): Promise<readonly string[]> {
    const released: string[] = [];
    for (const definition of [...this.#definitions.values()]) {
      if (!definition.isDone) continue;
      await definition.release(signal);
      this.#definitions.delete(definition.name);
      released.push(definition.name);
    }
    return released;
  }

  /** Call when the status was written. `definitions`: the recorded states in it. */
  onWritten(
    uid: string | undefined,
    definitions: ReadonlyMap<string, MemberDefinition['state']>,
  ): void {
    const recorded = this.#recorded;
    if (recorded !== undefined && recorded.uid === uid) {
      this.#recorded = undefined;
      recorded.notify();
    }
    for (const [name, state] of definitions) this.#definitions.get(name)?.onWritten(state);
  }

  /** Connects again, for example because another member has its UID. */
  async restart(): Promise<void> {
    const work = this.#work;
    this.#work = undefined;
    work?.stopper.abort(new Error('Connecting again'));
    await work?.ended;
    this.#options.onChange();
  }

  /** Ends all work; resolves when it has ended. */
  async stop(): Promise<void> {
    this.#secret?.stop();
    this.#work?.stopper.abort(new Error('The Cluster was removed'));
    await this.#work?.ended;
  }

  /** Updates the gauges before a scrape. */
  observe(): void {
    for (const definition of this.#definitions.values()) definition.observe();
  }

  #addDefinition(name: string): MemberDefinition {
    const { onChange } = this.#options;
    const definition = new MemberDefinition({ name, onChange });
    this.#definitions.set(name, definition);
    this.#startDefinition(definition);
    onChange();
    return definition;
  }

  #watchSecret(): void {
    const { cluster, secrets, onChange } = this.#options;
    const ref = secretRefOf(this.#record, secrets);
    const key = ref === undefined ? '' : `${ref.namespace}/${ref.name}`;
    if (this.#secret?.key === key) return;
    this.#secret?.stop();
    this.#secret = undefined;
    if (ref === undefined) return;
    const informer = cluster.acquire({
      gvk: secretGvk,
      namespace: ref.namespace,
      fieldSelector: `metadata.name=${ref.name}`,
    });
    const stops = [informer.subscribe(onChange), informer.onState(onChange)];
    const stop = () => {
      for (const each of stops) each();
      informer.release();
    };
    this.#secret = { key, informer, stop };
  }

  get #isSecretKnown(): boolean {
    return this.#secret === undefined || this.#secret.informer.state.kind !== 'waiting';
  }

  #access(): MemberAccess | Extract<ConnectionState, { kind: 'failed' }> {
    const { secrets } = this.#options;
    const { informer } = this.#secret ?? {};
    if (this.name === 'hub') {
      const message = 'The name "hub" is reserved for the cluster of the runtime';
      return failed({ reason: 'InvalidName', message });
    }
    if (informer?.state.kind === 'failing') {
      const message = `The Secret cannot be read: ${errorMessage(informer.state.error)}`;
      return failed({ reason: 'Forbidden', message });
    }
    const ref = secretRefOf(this.#record, secrets);
    const secret = ref && informer?.get(ref.namespace, ref.name)?.object;
    const access = accessOf(this.#record, secrets, secret);
    return 'reason' in access ? failed(access) : access;
  }

  #connectWith(access: MemberAccess | Extract<ConnectionState, { kind: 'failed' }>): void {
    const before = this.#work;
    const digest = 'kind' in access ? undefined : access.digest;
    if ('kind' in access) this.#accessState = access;
    if (before?.digest === digest) return;
    before?.stopper.abort(new Error('The kubeconfig has changed'));
    this.#work = undefined;
    if ('kind' in access) return;
    const { signal, onChange, clock, random, admit } = this.#options;
    const stopper = new AbortController();
    const connection = new MemberConnection({
      ...{ config: access.config, clock, random, onChange },
      connect: (options) => this.#createClient(access, options),
      admit: (uid) => {
        this.#checkUid(uid);
        admit(this.#record, uid);
      },
      onConnected: (connected, ending) => this.#runDefinitions(connected, ending),
    });
    const all = AbortSignal.any([signal, stopper.signal]);
    const ended = (before?.ended ?? Promise.resolve()).then(() => connection.run(all));
    this.#work = { digest: access.digest, stopper, connection, ended };
  }

  #createClient({ config }: MemberAccess, options: ConnectionEvents) {
    const { connect, metrics } = this.#options;
    return connect(config, {
      ...options,
      name: this.name,
      labels: () => this.#record.labels,
      metrics: requestCounter(metrics, this.name),
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
  #whenRecorded(uid: string, signal: AbortSignal): Promise<void> {
    if (this.#record.knownUid === uid) return Promise.resolve();
    const written = Promise.withResolvers<void>();
    this.#recorded = { uid, notify: written.resolve };
    this.#options.onChange();
    return Promise.race([written.promise, whenAborted(signal)]);
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

function failed(failure: Extract<ConnectionState, { kind: 'failed' }>['failure']) {
  return { kind: 'failed', failure } as const;
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
