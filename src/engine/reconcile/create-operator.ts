import type { OperatorPlan } from '#compile';
import type { Outcome, ReconcileContext, ReconcileResult } from '#controller';
import { childKindsOf } from '#definition';
import type { KubeError } from '#kube/roles.ts';
import { type Counter, type MetricRegistry, metricCatalogue, seriesOf } from '#telemetry/roles.ts';
import type { GroupKind, Gvk } from '#util/gvk.ts';
import { HomeostatError } from '#util/homeostat-error.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { definitionLabel, finalizerOf } from '#util/stored-names.ts';
import { type DeletionGuard, guardFeature } from './deletion-guard.ts';
import { rightText } from './failure.ts';
import { createFeatures, createOtherClusters } from './features.ts';
import { type InactivePlanOptions, inactivePlan } from './finalize/inactive-plan.ts';
import { detectOrphaning } from './finalize/prepare-deletion.ts';
import { kindsByText } from './identity.ts';
import { CronTimer } from './ledger/cron-timer.ts';
import { nextDue, takeDue } from './ledger/due.ts';
import { Obstacles } from './ledger/obstacles.ts';
import type { Operator, OperatorOptions, OperatorProblem, Readiness } from './operator.ts';
import { isLabelledBy } from './ownership-claims.ts';
import { createBudget, type OperatorContext, type Uninstall } from './pass/context.ts';
import type { Feature } from './pass/feature.ts';
import { hasRecordElsewhere, hasRecordedChildren } from './pass/inventory.ts';
import type { ResourceState } from './pass/resource-state.ts';
import { createPreviewer } from './preview/create-previewer.ts';
import type { Previewer } from './preview/preview.ts';
import { rememberRemoved } from './removal/finished-children.ts';
import { trackLoss } from './removal/untracked-children.ts';
import { forgetResource } from './run/forget-resource.ts';
import { runPass } from './run/run-pass.ts';
import { countUnmatched, unmatchedKeys } from './run/run-unmatched.ts';
import type { ReconcileEnd } from './trace.ts';
import { hasRemainingFinalizers, isNarrowed } from './watch/membership.ts';
import { ResourceQueue } from './watch/resource-queue.ts';
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
  #cron: CronTimer | undefined;
  #guard: Feature | undefined;

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
    // Other clusters may not be reachable now: their objects are on record.
    const resources = Iterator.from(watches.resources.informer.list());
    if (resources.some(({ object }) => hasRecordElsewhere(object, plan, gvk))) return true;
    const { informer } = watches.children(gvk);
    if (informer.state.kind !== 'synced') return true;
    return Iterator.from(informer.list()).some(
      ({ object }) => object.metadata.labels?.[definitionLabel] === plan.name,
    );
  }

  hasChildrenOf(key: string): boolean {
    const resource = this.resource(key);
    if (this.#context === undefined || resource === undefined) return false;
    const { plan, watches } = this.#context;
    if (hasRecordedChildren(resource, plan)) return true;
    const { uid = '' } = resource.metadata;
    return Iterator.from(watches.childrenOf(key))
      .flatMap((watch) => watch.labelledWith(uid))
      .some(({ object }) => isLabelledBy(object, plan.name));
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

  guardDeletions(guard: DeletionGuard | undefined): void {
    const features = this.#context?.features;
    if (this.#guard !== undefined) features?.remove(this.#guard);
    this.#guard = guard && guardFeature(guard);
    if (this.#guard !== undefined) features?.add(this.#guard);
  }

  retainPreviousKinds(left: readonly Gvk[]): void {
    this.#context?.watches.retainPreviousKinds(left);
  }

  async start(signal: AbortSignal): Promise<void> {
    const { plan, clock, enqueue } = this.#options;
    const { guardedNamespaces = new Set(), previousKinds = [] } = this.#options;
    const queue = this.#createQueue();
    const others = createOtherClusters(this.#options);
    const { cluster } = others;
    await others.settled(signal);
    const left =
      isNarrowed(plan) && (await hasRemainingFinalizers(plan.definition, cluster, signal));
    const features = createFeatures({
      ...this.#options,
      isActive: isActive(this.#role),
      queue,
      keyOfUid: (uid) => this.#context?.watches.resources.keyOfUid(uid),
    });
    if (this.#guard !== undefined) features.add(this.#guard);
    const watches = new Watches({
      hasRemainingFinalizers: left,
      plan,
      cluster,
      onClusterChange: others.onChange.bind(others),
      clock,
      queue,
      guardedNamespaces,
      onGuarded: this.#options.onGuarded,
      previousKinds,
      onWatchState: this.#options.onWatchState,
      tapsOf: (read) => features.all.flatMap((feature) => feature.tap?.(read) ?? []),
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
      others,
      applies: createCounter(this.#options.metrics, plan.name),
      watches,
      features,
      obstacles: new Obstacles({
        cluster,
        clock,
        onEnded: (key, shared) => this.#onGranted(queue, key, shared),
      }),
      states: this.#states,
      deletedOwners: new Map(),
      childKinds: this.#childKinds(),
      scopes: new Map(),
      guardedNamespaces,
    };
    const starts = features.all.map((feature) => feature.start?.(signal));
    await Promise.all([watches.settled(signal), ...starts]);
    this.#cron = this.#startCron(queue);
    if (isActive(this.#role)) others.start(this.#context, () => this.readiness().unknown === 0);
    for (const key of unmatchedKeys(this.#context)) enqueue(key, 'low');
  }

  /** `schedule.cron` enqueues all resources. */
  #startCron(queue: ResourceQueue): CronTimer {
    const { plan, clock } = this.#options;
    const cron = new CronTimer({
      cron: plan.definition.schedule?.cron,
      clock,
      onDue: () => {
        for (const key of this.keys()) queue.enqueue(key, 'low', 'timer');
      },
    });
    cron.start();
    return cron;
  }

  /** The kinds that may have children. Without a plan, only the recorded kinds are available. */
  #childKinds(): ReadonlyMap<string, GroupKind> | undefined {
    const { plan, previousKinds = [], recordedKinds } = this.#options;
    if (this.#role.isFinalizeOnly)
      return recordedKinds && kindsByText([...recordedKinds, ...previousKinds]);
    return kindsByText([...childKindsOf(plan), ...previousKinds]);
  }

  async reconcile(key: string, turn: ReconcileContext): Promise<ReconcileResult> {
    if (this.#context === undefined) throw new Error('Expected a started operator');
    const { trace } = this.#options;
    this.#takeDue(this.#context, key);
    trace?.onBegin(key);
    const outcome = await this.#reconcile(this.#context, key, turn);
    trace?.onEnd(key, endOf(outcome));
    if (outcome.kind === 'error' && turn.signal.aborted) throw outcome.error;
    const ledger = this.#states.get(key)?.ledger;
    const due = ledger && nextDue(this.#options, ledger);
    return due === undefined ? outcome : { ...outcome, due };
  }

  /** A time that has come counts as an event. */
  #takeDue({ watches }: OperatorContext, key: string): void {
    const ledger = this.#states.get(key)?.ledger;
    const kind = ledger && takeDue(this.#options, ledger);
    if (kind !== undefined) watches.queue.noteDue(key, kind === 'timeout' ? 'timeout' : 'timer');
  }

  async #reconcile(
    context: OperatorContext,
    key: string,
    turn: ReconcileContext,
  ): Promise<Outcome> {
    const budget = createBudget(context);
    try {
      return await runPass(context, key, { ...turn, budget });
    } catch (error) {
      return { kind: 'error', error };
    } finally {
      budget.release();
    }
  }

  startPreview(): Previewer {
    if (this.#context === undefined) throw new Error('Expected a started operator');
    return createPreviewer(this.#context);
  }

  stop(): void {
    for (const feature of this.#context?.features.all ?? []) feature.stop?.();
    this.#context?.watches.stop();
    this.#context?.others.stop();
    this.#context?.obstacles.stop();
    this.#cron?.stop();
    this.#cron = undefined;
    this.#context = undefined;
    this.#states.clear();
  }

  problems(): readonly OperatorProblem[] {
    if (this.#context === undefined) return [];
    const { watches, obstacles, features } = this.#context;
    const failing = [
      ...watches.problems(),
      ...features.all.flatMap((feature) => feature.watchProblems?.() ?? []),
    ];
    return [
      ...failing.map(({ watching, error, literalName }) => problemOf(watching, error, literalName)),
      ...obstacles.missingRights.map(
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
    this.#states.get(key)?.ledger.forgetObstacles();
    for (const feature of this.#context?.features.all ?? []) feature.retry?.(key);
    queue.enqueue(key, shared ? 'low' : 'normal', 'right');
  }

  #createQueue(): ResourceQueue {
    const { plan, enqueue, trace } = this.#options;
    return new ResourceQueue({
      definition: plan.name,
      keys: () => this.#allKeys(),
      noteEvent: (key) => this.#states.get(key)?.ledger.noteEvent(),
      enqueue,
      trace,
    });
  }

  *#allKeys(): Iterable<string> {
    yield* this.keys();
    if (this.#context !== undefined) yield* unmatchedKeys(this.#context);
  }
}

/** The message of an error may contain data of a Secret. */
function endOf(outcome: Outcome): ReconcileEnd {
  if (outcome.kind !== 'error') return outcome;
  const { error } = outcome;
  return {
    kind: 'error',
    code: error instanceof HomeostatError ? error.code : 'unexpected-error',
  };
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
