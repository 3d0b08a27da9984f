import type { OperatorPlan } from '#compile';
import type { Priority, ReconcileResult } from '#controller';
import type { MemberClusters, ResourceType } from '#kube/roles.ts';
import {
  createFinalizingOperator,
  createOperator,
  type DecisionRecord,
  type DeletionGuard,
  type EnqueueCause,
  type Operator,
  type OperatorOptions,
  type ReconcileTrace,
  SharedHistory,
} from '#reconcile';
import { createLogger } from '#telemetry';
import { type Gvk, gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { createSystemRandom } from '#util/random.ts';
import { unlimitedTimeSlicer } from '#util/time-slicer.ts';
import { FakeClock, settle } from '../fake-clock.ts';
import { freshMetrics } from '../silent-telemetry.ts';
import { FakeCluster } from './fake-cluster.ts';

const namespaced = { namespaced: true, hasStatus: true, verbs: [] };

/** The kinds that the fake cluster serves. */
export const types: readonly ResourceType[] = [
  { gvk: gvkOf('apps.example.com/v1', 'PodSet'), plural: 'podsets', ...namespaced },
  { gvk: gvkOf('apps/v1', 'Deployment'), plural: 'deployments', ...namespaced },
  {
    gvk: gvkOf('apps/v1', 'ControllerRevision'),
    plural: 'controllerrevisions',
    ...namespaced,
    hasStatus: false,
  },
  { gvk: gvkOf('batch/v1', 'Job'), plural: 'jobs', ...namespaced },
  { gvk: gvkOf('v1', 'ConfigMap'), plural: 'configmaps', ...namespaced, hasStatus: false },
  { gvk: gvkOf('v1', 'Secret'), plural: 'secrets', ...namespaced, hasStatus: false },
  { gvk: gvkOf('v1', 'Service'), plural: 'services', ...namespaced },
  { gvk: gvkOf('v1', 'Pod'), plural: 'pods', ...namespaced },
  { gvk: gvkOf('v1', 'Namespace'), plural: 'namespaces', ...namespaced, namespaced: false },
  {
    gvk: gvkOf('homeostat.dev/v1alpha1', 'Cluster'),
    plural: 'clusters',
    ...namespaced,
    namespaced: false,
  },
];

/** A line of the log. */
export interface LogEntry {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** One operator on a fake cluster, with a queue that runs only when the test says so. */
export class OperatorHarness {
  readonly cluster: FakeCluster;
  readonly clock = new FakeClock();
  readonly metrics = freshMetrics();
  readonly signal = new AbortController().signal;
  /** Keys that are queued, with the priority they were last added with. */
  readonly queued = new Map<string, Priority>();
  /** Called with every key that the operator enqueues, in place of {@link queued}. */
  onEnqueue: ((key: string, priority: Priority) => void) | undefined;
  /** The passes that have run, by key, oldest first. */
  readonly passes: { readonly key: string; readonly end: ReconcileResult }[] = [];
  /** What was logged, oldest first. */
  readonly log: LogEntry[] = [];
  /** The last decision record of each key. */
  readonly decisions = new Map<string, DecisionRecord>();
  operator: Operator;
  /** Asked by operators that are made from now on. */
  guard: DeletionGuard | undefined;
  /** Called with why the operator enqueues a resource; of operators that are made from now on. */
  onCause: ((key: string, cause: EnqueueCause) => void) | undefined;
  /** Of operators that are made from now on. */
  formerKinds: readonly Gvk[] = [];
  /** By key, cancels the timer of what is due. */
  readonly #cancelDue = new Map<string, () => void>();
  /** The operator wants no pass to run. */
  #turns = new AbortController();
  #history = new SharedHistory();

  /** The member clusters. */
  readonly members: MemberClusters | undefined;

  constructor(plan: OperatorPlan, members?: MemberClusters, cluster = new FakeCluster(types)) {
    this.cluster = cluster;
    this.members = members;
    this.operator = this.#create(plan);
  }

  async start(): Promise<void> {
    await this.operator.start(this.signal);
  }

  /** Runs until the queue is empty and the cache knows everything. */
  async settle(): Promise<void> {
    for (let rounds = 0; rounds < 100; rounds++) {
      await settle();
      const [key] = this.queued.keys();
      if (key !== undefined) await this.runOne(key);
      else if (!this.deliver()) return;
    }
    throw new Error('Expected the harness to settle');
  }

  /** Tells the caches what has changed. False: nothing. */
  deliver(): boolean {
    return this.cluster.deliver();
  }

  /** Runs one pass, without telling the cache of anything before or after. */
  async runOne(key: string): Promise<ReconcileResult> {
    this.queued.delete(key);
    this.#cancelDue.get(key)?.();
    // As the controller does it.
    const yieldWorker = async () => (this.queued.get(key) === 'normal' ? 'superseded' : 'current');
    const end = await this.operator
      .reconcile(key, { signal: this.#turns.signal, yieldWorker })
      .catch((error: unknown): ReconcileResult => ({ kind: 'error', error }));
    this.passes.push({ key, end });
    const { due } = end;
    if (due !== undefined)
      this.#cancelDue.set(
        key,
        this.clock.after(due.afterMs, () => this.queued.set(key, due.priority ?? 'normal')),
      );
    return end;
  }

  /** Passes that are running send nothing any more, as those of a process that was killed. */
  kill(): void {
    this.#turns.abort();
    this.#turns = new AbortController();
  }

  /** A new process with the same cluster: nothing is remembered. */
  async restart(plan: OperatorPlan): Promise<void> {
    this.operator.stop();
    for (const cancel of this.#cancelDue.values()) cancel();
    this.queued.clear();
    this.#history = new SharedHistory();
    this.operator = this.#create(plan);
    await this.start();
  }

  /** The operator of another revision, beside the one that runs and with its history: passes are the new one's. */
  another(plan: OperatorPlan): Operator {
    this.operator = this.#create(plan);
    return this.operator;
  }

  podSet(name: string, spec: unknown = {}): KubeObject {
    return this.cluster.server.put({
      apiVersion: 'apps.example.com/v1',
      kind: 'PodSet',
      metadata: { name, namespace: 'default' },
      spec,
    }).object;
  }

  /** An object of namespace `default` as the server has it. */
  get(apiVersion: string, kind: string, name: string): KubeObject | undefined {
    return this.cluster.server.get(gvkOf(apiVersion, kind), 'default', name)?.object;
  }

  names(apiVersion: string, kind: string): readonly string[] {
    return this.cluster.server
      .list(gvkOf(apiVersion, kind))
      .map(({ object }) => object.metadata.name)
      .sort();
  }

  /** Somebody else changes an object. */
  edit(object: KubeObject, change: Readonly<Record<string, unknown>>): KubeObject {
    const { apiVersion, kind, metadata } = object;
    const now = this.get(apiVersion, kind, metadata.name) ?? object;
    return this.cluster.server.put({ ...now, ...change } as KubeObject).object;
  }

  /** Somebody else deletes an object. */
  remove({ apiVersion, kind, metadata }: KubeObject): void {
    const { namespace, name } = metadata;
    this.cluster.server.delete(gvkOf(apiVersion, kind), { namespace, name });
  }

  /** The status of a PodSet. */
  status(name: string): Readonly<Record<string, unknown>> {
    return (this.get('apps.example.com/v1', 'PodSet', name)?.status ?? {}) as Readonly<
      Record<string, unknown>
    >;
  }

  /** `Ready` of a PodSet as `reason: message`. */
  ready(name: string): string {
    const conditions = this.status(name).conditions as readonly Condition[] | undefined;
    const condition = conditions?.find(({ type }) => type === 'Ready');
    return `${condition?.status} ${condition?.reason}: ${condition?.message}`;
  }

  /** A new process, for which the definition is broken: only what is being deleted is worked on. */
  async breakDefinition(
    { name, definition: { kind }, children, onDelete }: OperatorPlan,
    { former = [] as readonly Gvk[] } = {},
  ): Promise<void> {
    this.operator.stop();
    this.queued.clear();
    // As its CRD has it on record.
    const made = [...children, ...(onDelete?.children ?? [])].map(({ gvk }) => gvk);
    const recordedKinds = [...made, ...former];
    this.operator = createFinalizingOperator({ ...this.#options(), name, kind, recordedKinds });
    this.operator.guardDeletions(this.guard);
    await this.start();
  }

  /** A user removes the definition with what it has made; the keys of resources of which nothing is left are put into `removed`. */
  async retire(
    plan: OperatorPlan,
    { deletesChildren = true, isBroken = false, removed = new Set<string>() } = {},
  ): Promise<ReadonlySet<string>> {
    this.operator.stop();
    this.queued.clear();
    const sinceMs = this.clock.nowMs();
    const onRemoved = (key: string) => void removed.add(key);
    const { name, definition } = plan;
    this.operator = createFinalizingOperator({
      ...this.#options(),
      name,
      kind: definition.kind,
      ...(!isBroken && { plan }),
      uninstall: { deletesChildren, sinceMs, onRemoved },
    });
    this.operator.guardDeletions(this.guard);
    await this.start();
    return removed;
  }

  #create(plan: OperatorPlan): Operator {
    const guardedNamespaces = new Set(['homeostat-system', 'operators']);
    const operator = createOperator({
      ...this.#options(),
      plan,
      guardedNamespaces,
      history: this.#history,
    });
    operator.guardDeletions(this.guard);
    return operator;
  }

  #options(): Omit<OperatorOptions, 'plan'> {
    return {
      cluster: this.cluster,
      ...(this.members && { members: this.members }),
      clock: this.clock,
      random: createSystemRandom(),
      timeSlicer: unlimitedTimeSlicer,
      logger: createLogger({
        level: 'debug',
        destination: { write: (line) => void this.log.push(JSON.parse(line)) },
      }),
      metrics: this.metrics,
      enqueue: (key, priority) => {
        if (this.onEnqueue === undefined) this.queued.set(key, priority);
        else this.onEnqueue(key, priority);
      },
      previousKinds: this.formerKinds,
      ...(this.onCause && { trace: traceOf(this.onCause) }),
      onDecisions: (key, record) => void this.decisions.set(key, record),
    };
  }
}

/** A trace that follows only what enqueues. */
function traceOf(onEnqueue: (key: string, cause: EnqueueCause) => void): ReconcileTrace {
  const nothing = () => undefined;
  return {
    onEnqueue,
    onBegin: nothing,
    onPhase: nothing,
    onDesired: nothing,
    onRequest: () => nothing,
    onDecisions: nothing,
    onEnd: nothing,
  };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}
