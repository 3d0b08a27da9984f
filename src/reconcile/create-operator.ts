import type { Outcome, Turn } from '../controller/index.ts';
import { type MetricRegistry, metricCatalogue, seriesOf } from '../telemetry/roles.ts';
import type { GroupKind, Gvk } from '../util/gvk.ts';
import type { KubeObject } from '../util/kube-object.ts';
import { parseKey } from '../util/object-key.ts';
import { endlessTurns } from '../util/work-turns.ts';
import { rightText } from './failure.ts';
import { noteOrphaning } from './finalize/note-orphaning.ts';
import { type FinishedDefinition, removalPlan } from './finalize/removal-plan.ts';
import { definitionLabel, finalizerOf } from './names.ts';
import type { Operator, OperatorOptions, OperatorProblem, Readiness } from './operator.ts';
import {
  createBudget,
  type OperatorContext,
  type PassMetrics,
  type Retirement,
} from './pass/context.ts';
import { kindMap } from './pass/inventory.ts';
import type { ResourceState } from './pass/resource-state.ts';
import { createPreviewer } from './preview/create-previewer.ts';
import type { Previewer } from './preview/preview.ts';
import { noteLoss } from './removal/strays.ts';
import { forgetResource, runPass } from './run/run-pass.ts';
import { countLeftInPlace, unmatchedKeys } from './run/run-unmatched.ts';
import { hasLeftFinalizers, isNarrowed } from './wake/membership.ts';
import { MissingRights } from './wake/missing-rights.ts';
import { ResourceQueue } from './wake/resource-queue.ts';
import { Timetable } from './wake/timetable.ts';
import { Watches } from './wake/watches.ts';

/**
 * Makes the reconciler of one definition. Nothing is watched before {@link Operator.start}.
 * One per plan: a changed definition gets a new one.
 */
export function createOperator(options: OperatorOptions): Operator {
  return new PlanOperator(options, { isFinishing: false, isQuiet: false });
}

export type FinisherOptions = Omit<OperatorOptions, 'plan'> & FinishedDefinition;

/**
 * Makes the reconciler of a definition that is broken or gone: it makes and changes nothing, and brings what is being deleted to its
 * end, from labels and inventory alone (definition.md section 7). What only the definition can say is waited for, until the resource
 * says `homeostat.dev/skip-on-delete: "true"`. Never beside a running operator of the same definition.
 */
export function createFinisher(options: FinisherOptions): Operator {
  const { isQuiet = false } = options;
  return new PlanOperator(
    { ...options, plan: removalPlan(options) },
    { isFinishing: true, isQuiet },
  );
}

export type RetireeOptions = OperatorOptions & { readonly retirement: Retirement };

/**
 * Makes the reconciler of a definition that a user removes together with what it has made: nothing is made or changed in resources that
 * live, their children go where that is asked for, and what is being deleted is brought to its end with all that the definition says.
 * Never beside another operator of the same definition.
 */
export function createRetiree(options: RetireeOptions): Operator {
  const { retirement } = options;
  return new PlanOperator(options, { isFinishing: false, isQuiet: false, retirement });
}

/** The same for a definition that is broken: what is known of it. */
export function createBrokenRetiree(
  options: FinisherOptions & { readonly retirement: Retirement },
): Operator {
  const { isQuiet = false, retirement } = options;
  const plan = removalPlan(options);
  return new PlanOperator({ ...options, plan }, { isFinishing: true, isQuiet, retirement });
}

type Role = Pick<OperatorContext, 'isFinishing' | 'isQuiet' | 'retirement'>;

type PlanOptions = OperatorOptions & Pick<FinishedDefinition, 'recordedKinds'>;

class PlanOperator implements Operator {
  readonly #options: PlanOptions;
  readonly #role: Role;
  readonly #states = new Map<string, ResourceState>();
  #context: OperatorContext | undefined;

  constructor(options: PlanOptions, role: Role) {
    this.#options = options;
    this.#role = role;
  }

  get instances(): number {
    return this.#context?.watches.resources.keys.size ?? 0;
  }

  readiness(): Readiness {
    const counts = { ready: 0, unready: 0 };
    for (const { isReady } of this.#states.values()) {
      if (isReady !== undefined) counts[isReady ? 'ready' : 'unready'] += 1;
    }
    const unknown = Math.max(0, this.instances - counts.ready - counts.unready);
    return { ...counts, unknown };
  }

  get leftInPlace(): number {
    return this.#context === undefined ? 0 : countLeftInPlace(this.#context);
  }

  hasChildren(gvk: Gvk): boolean {
    if (this.#context === undefined) return true;
    const { plan, watches } = this.#context;
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
    const { namespace, name } = parseKey(key);
    return this.#context?.watches.resources.get(namespace, name)?.object;
  }

  forget(key: string): void {
    if (this.#context !== undefined) forgetResource(this.#context, key);
  }

  keepFormerKinds(left: readonly Gvk[]): void {
    this.#context?.watches.keepFormerKinds(left);
  }

  async start(signal: AbortSignal): Promise<void> {
    const { plan, cluster, clock, random, logger, metrics, enqueue, onDecisions } = this.#options;
    const queue = this.#createQueue();
    const { guardedNamespaces = new Set(), formerKinds = [], memory } = this.#options;
    const left =
      isNarrowed(plan) &&
      (await hasLeftFinalizers({ ...plan.definition, watcher: cluster }, signal));
    const watches = new Watches({
      hasLeftFinalizers: left,
      plan,
      cluster,
      clock,
      queue,
      guardedNamespaces,
      formerKinds,
      onLost: (key, stored) => noteLoss(this.#states.get(key), stored),
      onResourceEvent: plan.isFinalizing
        ? (event) => noteOrphaning(this.#states, event)
        : undefined,
    });
    this.#context = {
      plan,
      cluster,
      clock,
      random,
      logger,
      metrics: createPassMetrics(metrics, plan.name),
      watches,
      turns: this.#options.turns ?? endlessTurns,
      memory,
      rights: new MissingRights({
        cluster,
        onGranted: (key, shared) => this.#onGranted(queue, key, shared),
      }),
      timetable: new Timetable({
        schedule: plan.definition.schedule,
        clock,
        random,
        keys: () => this.keys(),
        enqueue: (key, priority) => queue.enqueue(key, priority),
      }),
      states: this.#states,
      departed: new Map(),
      kinds: this.#kinds(),
      server: { scopes: new Map() },
      guardedNamespaces,
      ...this.#role,
      guard: this.#options.deletionGuard,
      follow: (key) => enqueue(key, 'normal'),
      onDecisions: onDecisions ?? (() => undefined),
    };
    await watches.settled(signal);
    this.#context.timetable.start();
    for (const key of unmatchedKeys(this.#context)) enqueue(key, 'low');
  }

  /** The kinds that may be looked in for children. Of a definition that is broken or gone only what is on record of it tells. */
  #kinds(): ReadonlyMap<string, GroupKind> | undefined {
    const { plan, formerKinds = [], recordedKinds } = this.#options;
    if (this.#role.isFinishing) return recordedKinds && kindMap([...recordedKinds, ...formerKinds]);
    const children = [...plan.children, ...(plan.onDelete?.children ?? [])];
    return kindMap([...children.map(({ gvk }) => gvk), ...formerKinds]);
  }

  async reconcile(key: string, turn: Turn): Promise<Outcome> {
    if (this.#context === undefined) throw new Error('Expected a started operator');
    const budget = createBudget(this.#context);
    try {
      return await runPass(this.#context, key, { ...turn, budget });
    } finally {
      budget.end();
    }
  }

  startPreview(): Previewer {
    if (this.#context === undefined) throw new Error('Expected a started operator');
    return createPreviewer(this.#context);
  }

  stop(): void {
    this.#context?.watches.stop();
    this.#context?.rights.stop();
    this.#context?.timetable.stop();
    this.#context = undefined;
    this.#states.clear();
  }

  problems(): readonly OperatorProblem[] {
    if (this.#context === undefined) return [];
    const { watches, rights } = this.#context;
    const ofWatches = watches.problems().map(({ watching, error, literalName }) => {
      const { right, code } = error;
      const message = right === undefined ? error.message : rightText(right, literalName);
      return { what: watching, code, message };
    });
    const ofPasses = rights.all.map((right) => {
      return { what: 'resources', code: 'forbidden', message: rightText(right) } as const;
    });
    return [...ofWatches, ...ofPasses, ...this.#stranded(this.#context)];
  }

  #stranded({ plan, watches, clock }: OperatorContext): readonly OperatorProblem[] {
    const count = watches.resources.stranded.count(clock.nowMs());
    if (count === 0) return [];
    const which = count === 1 ? 'One is' : `${count} are`;
    const finalizer = finalizerOf(plan.name);
    const message = `${which} being deleted for long in namespaces that "controller.namespaces" leaves out: serve these until their finalizer "${finalizer}" is gone, or take it off by hand`;
    return [{ what: 'resources', code: 'not-served', message }];
  }

  /** What was rejected for want of a right is tried again. */
  #onGranted(queue: ResourceQueue, key: string, shared: boolean): void {
    this.#states.get(key)?.attempts.forgetMissingRights();
    queue.enqueue(key, shared ? 'low' : 'normal');
  }

  #createQueue(): ResourceQueue {
    const { plan, enqueue } = this.#options;
    return new ResourceQueue({
      definition: plan.name,
      keys: () => this.#allKeys(),
      noteEvent: (key) => this.#states.get(key)?.attempts.pace.noteEvent(),
      enqueue,
    });
  }

  *#allKeys(): Iterable<string> {
    yield* this.keys();
    if (this.#context !== undefined) yield* unmatchedKeys(this.#context);
  }
}

function createPassMetrics(registry: MetricRegistry, definition: string): PassMetrics {
  const applies = registry.counter(metricCatalogue.applies);
  for (const series of seriesOf(metricCatalogue.applies, { definition })) {
    applies.increment(series, 0);
  }
  return { applies };
}
