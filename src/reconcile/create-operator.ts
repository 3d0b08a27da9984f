import type { OperatorPlan } from '../compile/index.ts';
import type { ReconcileContext, ReconcileResult } from '../controller/index.ts';
import { placesInMembers } from '../definition/index.ts';
import type { KubeError } from '../kube/roles.ts';
import {
  type Counter,
  type MetricRegistry,
  metricCatalogue,
  seriesOf,
} from '../telemetry/roles.ts';
import type { GroupKind, Gvk } from '../util/gvk.ts';
import { HomeostatError } from '../util/homeostat-error.ts';
import type { KubeObject } from '../util/kube-object.ts';
import { definitionLabel, finalizerOf } from '../util/stored-names.ts';
import { rightText } from './failure.ts';
import { type InactivePlanOptions, inactivePlan } from './finalize/inactive-plan.ts';
import { detectOrphaning } from './finalize/prepare-deletion.ts';
import { HistoryRecorder } from './history/history-recorder.ts';
import type { WaitingStates } from './history/object-track.ts';
import { kindsByText } from './identity.ts';
import { Members } from './members/members.ts';
import { createRoutedCluster } from './members/routed-cluster.ts';
import { PlacedObjects } from './observe/placed-objects.ts';
import type { Operator, OperatorOptions, OperatorProblem, Readiness } from './operator.ts';
import { createBudget, type OperatorContext, type Uninstall } from './pass/context.ts';
import { hasRecordInMember } from './pass/inventory.ts';
import type { ResourceState } from './pass/resource-state.ts';
import { createPreviewer } from './preview/create-previewer.ts';
import type { Previewer } from './preview/preview.ts';
import { rememberRemoved } from './removal/finished-children.ts';
import { trackLoss } from './removal/untracked-children.ts';
import { forgetResource, runPass } from './run/run-pass.ts';
import { countUnmatched, unmatchedKeys } from './run/run-unmatched.ts';
import { settled } from './watch/informer-waits.ts';
import { hasRemainingFinalizers, isNarrowed } from './watch/membership.ts';
import { MissingRights } from './watch/missing-rights.ts';
import { ResourceQueue } from './watch/resource-queue.ts';
import { Timetable } from './watch/timetable.ts';
import { UnseenCauses } from './watch/unseen-causes.ts';
import { Watches } from './watch/watches.ts';

/**
 * Creates the reconciler of one definition. It watches nothing before {@link Operator.start}.
 * One per plan: a changed definition gets a new one.
 */
export function createOperator(options: OperatorOptions): Operator {
  return new PlanOperator(options, { isFinalizeOnly: false });
}

type FinalizingOperatorOptions = Omit<OperatorOptions, 'plan'> &
  InactivePlanOptions & {
    /** The plan, if it compiles. @default undefined: a deletion waits where only the definition can decide */
    readonly plan?: OperatorPlan;
    /** Set: the children of live resources are deleted as well. @default undefined: only deletions are completed */
    readonly uninstall?: Uninstall;
  };

/**
 * Creates the reconciler of a definition that is not active. It creates and changes no objects. It completes pending deletions from labels
 * and inventories (docs/definition/deletion.md#a-broken-or-deleted-definition). Without a plan, a deletion waits where only the definition
 * can decide, until the resource is annotated `homeostat.dev/skip-on-delete: "true"`. Must not run beside an active operator of the same
 * definition and kind.
 */
export function createFinalizingOperator({
  plan,
  uninstall,
  ...options
}: FinalizingOperatorOptions): Operator {
  const role = { isFinalizeOnly: plan === undefined, ...(uninstall && { uninstall }) };
  return new PlanOperator({ ...options, plan: plan ?? inactivePlan(options) }, role);
}

type Role = Pick<OperatorContext, 'isFinalizeOnly' | 'uninstall'>;

function isActive({ isFinalizeOnly, uninstall }: Role): boolean {
  return !isFinalizeOnly && uninstall === undefined;
}

type PlanOptions = OperatorOptions & Pick<InactivePlanOptions, 'recordedKinds'>;

class PlanOperator implements Operator {
  readonly #options: PlanOptions;
  readonly #role: Role;
  readonly #states = new Map<string, ResourceState>();
  #context: OperatorContext | undefined;
  #history: HistoryRecorder | undefined;
  #stopPlacedObjects: (() => void) | undefined;

  constructor(options: PlanOptions, role: Role) {
    this.#options = options;
    this.#role = role;
  }

  get instances(): number {
    return this.#context?.watches.resources.keys.size ?? 0;
  }

  readiness(): Readiness {
    const counts = { ready: 0, unready: 0 };
    const keys = this.#context?.watches.resources.keys;
    // There are states of objects that do not match any more, too.
    for (const [key, { isReady }] of this.#states) {
      if (isReady !== undefined && keys?.has(key)) counts[isReady ? 'ready' : 'unready'] += 1;
    }
    const unknown = Math.max(0, this.instances - counts.ready - counts.unready);
    return { ...counts, unknown };
  }

  get unmatchedInstances(): number {
    return this.#context === undefined ? 0 : countUnmatched(this.#context);
  }

  hasChildren(gvk: Gvk): boolean {
    if (this.#context === undefined) return true;
    const { plan, watches } = this.#context;
    // Members may not be reachable now: their objects are on record.
    const resources = Iterator.from(watches.resources.informer.list());
    if (resources.some(({ object }) => hasRecordInMember(object, plan, gvk))) return true;
    const { informer } = watches.children(gvk);
    if (informer.state.kind !== 'synced') return true;
    return Iterator.from(informer.list()).some(
      ({ object }) => object.metadata.labels?.[definitionLabel] === plan.name,
    );
  }

  keys(): Iterable<string> {
    return this.#context?.watches.resources.keys ?? [];
  }

  resource(key: string): KubeObject | undefined {
    return this.#context?.watches.resources.get(key)?.object;
  }

  forget(key: string): void {
    if (this.#context !== undefined) forgetResource(this.#context, key);
  }

  handOver(key: string): WaitingStates | undefined {
    return this.#history?.handOver(key);
  }

  adopt(waiting: WaitingStates): void {
    this.#history?.adopt(waiting);
  }

  retainPreviousKinds(left: readonly Gvk[]): void {
    this.#context?.watches.retainPreviousKinds(left);
  }

  async start(signal: AbortSignal): Promise<void> {
    const { plan, cluster: hub, clock, random, enqueue } = this.#options;
    const { guardedNamespaces = new Set(), previousKinds = [] } = this.#options;
    const queue = this.#createQueue();
    const members = this.#options.members && new Members(hub, this.#options.members);
    const cluster = members === undefined ? hub : createRoutedCluster(hub, members);
    if (members !== undefined && placesInMembers(plan)) await settled(members.open(), signal);
    const left =
      isNarrowed(plan) && (await hasRemainingFinalizers(plan.definition, cluster, signal));
    const history = this.#createHistory(queue);
    const watches = new Watches({
      hasRemainingFinalizers: left,
      plan,
      cluster,
      members,
      clock,
      queue,
      guardedNamespaces,
      onGuarded: this.#options.onGuarded,
      previousKinds,
      onSelectedChange: (...change) => history?.noteEvent(...change),
      onLost: (key, stored) => trackLoss(this.#states.get(key), stored),
      onRemoved: (key, stored) => rememberRemoved(plan, this.#states.get(key), stored),
      onResourceEvent: plan.needsFinalizer
        ? (event) => detectOrphaning(this.#states, event)
        : undefined,
    });
    this.#context = {
      ...this.#options,
      ...this.#role,
      cluster,
      members,
      applies: createCounter(this.#options.metrics, plan.name),
      watches,
      history,
      recorder: this.#options.recordsHistory === false ? undefined : history,
      rights: new MissingRights(cluster, (key, shared) => this.#onGranted(queue, key, shared)),
      causes: new UnseenCauses(clock, (key, shared) => this.#onGranted(queue, key, shared)),
      timetable: new Timetable({
        schedule: plan.definition.schedule,
        clock,
        random,
        keys: () => this.keys(),
        enqueue: (key, priority) => queue.enqueue(key, priority, 'timer'),
      }),
      states: this.#states,
      deletedOwners: new Map(),
      childKinds: this.#childKinds(),
      scopes: new Map(),
      guardedNamespaces,
    };
    this.#history = history;
    await Promise.all([watches.settled(signal), history?.start(signal)]);
    this.#context.timetable.start();
    if (members !== undefined && placesInMembers(plan) && isActive(this.#role))
      this.#startPlacedObjects(this.#context, members);
    for (const key of unmatchedKeys(this.#context)) enqueue(key, 'low');
  }

  #startPlacedObjects(context: OperatorContext, members: Members): void {
    const { metrics, members: clusters } = this.#options;
    const placed = new PlacedObjects(context, members, metrics);
    const isComplete = () => this.readiness().unknown === 0;
    const uncount = clusters?.countPlaced?.(context.plan.name, (member) =>
      isComplete() ? placed.countIn(member) : undefined,
    );
    this.#stopPlacedObjects = () => {
      uncount?.();
      placed.stop();
    };
  }

  /** Undefined: no versions are kept, or nothing is recorded any more. */
  #createHistory(queue: ResourceQueue): HistoryRecorder | undefined {
    const { plan, cluster, clock, logger, metrics, namespace = 'default' } = this.#options;
    if (plan.history === undefined || !isActive(this.#role)) return undefined;
    const { random, recordsHistory = true } = this.#options;
    const { keysNamespace = recordsHistory ? namespace : this.#options.namespace } = this.#options;
    return new HistoryRecorder({
      plan,
      cluster,
      clock,
      random,
      logger,
      metrics,
      history: plan.history,
      clusterNamespace: namespace,
      keysNamespace,
      isReadOnly: !recordsHistory,
      keyOfUid: (uid) => this.#context?.watches.resources.keyOfUid(uid),
      enqueue: (key) => queue.enqueue(key, 'normal', 'history'),
      enqueueAll: () => queue.enqueueAll(),
    });
  }

  /** The kinds that may have children. Without a plan, only the recorded kinds are available. */
  #childKinds(): ReadonlyMap<string, GroupKind> | undefined {
    const { plan, previousKinds = [], recordedKinds } = this.#options;
    if (this.#role.isFinalizeOnly)
      return recordedKinds && kindsByText([...recordedKinds, ...previousKinds]);
    const children = [...plan.children, ...(plan.onDelete?.children ?? [])];
    return kindsByText([...children.map(({ gvk }) => gvk), ...previousKinds]);
  }

  async reconcile(key: string, turn: ReconcileContext): Promise<ReconcileResult> {
    const { trace } = this.#options;
    if (trace === undefined) return this.#reconcile(key, turn);
    trace.onBegin(key);
    try {
      const result = await this.#reconcile(key, turn);
      trace.onEnd(key, result);
      return result;
    } catch (error) {
      // Its message may contain data of a Secret.
      const code = error instanceof HomeostatError ? error.code : 'unexpected-error';
      trace.onEnd(key, { kind: 'error', code });
      throw error;
    }
  }

  async #reconcile(key: string, turn: ReconcileContext): Promise<ReconcileResult> {
    if (this.#context === undefined) throw new Error('Expected a started operator');
    const budget = createBudget(this.#context);
    try {
      return await runPass(this.#context, key, { ...turn, budget });
    } finally {
      budget.release();
    }
  }

  startPreview(): Previewer {
    if (this.#context === undefined) throw new Error('Expected a started operator');
    return createPreviewer(this.#context);
  }

  stop(): void {
    this.#stopPlacedObjects?.();
    this.#stopPlacedObjects = undefined;
    this.#history?.stop();
    this.#history = undefined;
    this.#context?.watches.stop();
    this.#context?.members?.stop();
    this.#context?.rights.stop();
    this.#context?.causes.stop();
    this.#context?.timetable.stop();
    this.#context = undefined;
    this.#states.clear();
  }

  problems(): readonly OperatorProblem[] {
    if (this.#context === undefined) return [];
    const { watches, rights } = this.#context;
    return [
      ...watches
        .problems()
        .map(({ watching, error, literalName }) => problemOf(watching, error, literalName)),
      ...(this.#history?.watchErrors() ?? []).map(({ error, literalName }) =>
        problemOf('history', error, literalName),
      ),
      ...rights.all.map(
        (right) => ({ what: 'resources', code: 'forbidden', message: rightText(right) }) as const,
      ),
      ...this.#unservedProblems(this.#context),
    ];
  }

  #unservedProblems({ plan, watches, clock }: OperatorContext): readonly OperatorProblem[] {
    const count = watches.resources.unserved.count(clock.nowMs());
    if (count === 0) return [];
    const subject = count === 1 ? '1 resource is' : `${count} resources are`;
    const finalizer = finalizerOf(plan.name);
    const message = `${subject} being deleted in namespaces outside "controller.namespaces", blocked by finalizer "${finalizer}": add the namespaces until the deletion completes, or remove the finalizer manually`;
    return [{ what: 'resources', code: 'not-served', message }];
  }

  /** Requests that were rejected for a missing right, or for a cause that nothing shows, are tried again. */
  #onGranted(queue: ResourceQueue, key: string, shared: boolean): void {
    this.#states.get(key)?.attempts.forgetObstacles();
    this.#history?.retry(key);
    queue.enqueue(key, shared ? 'low' : 'normal', 'right');
  }

  #createQueue(): ResourceQueue {
    const { plan, enqueue, trace } = this.#options;
    return new ResourceQueue({
      definition: plan.name,
      keys: () => this.#allKeys(),
      noteEvent: (key) => this.#states.get(key)?.attempts.pace.noteEvent(),
      enqueue,
      trace,
    });
  }

  *#allKeys(): Iterable<string> {
    yield* this.keys();
    if (this.#context !== undefined) yield* unmatchedKeys(this.#context);
  }
}

function problemOf(what: string, error: KubeError, literalName?: string): OperatorProblem {
  const { right, code, message } = error;
  return { what, code, message: right === undefined ? message : rightText(right, literalName) };
}

function createCounter(registry: MetricRegistry, definition: string): Counter {
  const applies = registry.counter(metricCatalogue.applies);
  for (const series of seriesOf(metricCatalogue.applies, { definition })) {
    applies.increment(series, 0);
  }
  return applies;
}
