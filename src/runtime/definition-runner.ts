import { compile, type OperatorPlan } from '../compile/index.ts';
import { Controller } from '../controller/index.ts';
import type { Diagnostic, LocatedDefinition, ServedKind } from '../definition/index.ts';
import { KubeError } from '../kube/roles.ts';
import { createOperator, type Operator, rightText } from '../reconcile/index.ts';
import type { Logger, MetricRegistry } from '../telemetry/roles.ts';
import { backoffMs } from '../util/backoff.ts';
import type { Clock } from '../util/clock.ts';
import { failureFields } from '../util/failure-fields.ts';
import { apiVersionOf, type Gvk, gvkKey } from '../util/gvk.ts';
import { HomeostatError } from '../util/homeostat-error.ts';
import type { Random } from '../util/random.ts';
import { fetchSchemas } from './cluster-schemas.ts';
import { bringsCrd, forgetFormerKinds, installCrd, whenCrdLost } from './crd-installer.ts';
import { type Finisher, startFinisher } from './definition-finisher.ts';
import { DefinitionMetrics } from './definition-metrics.ts';
import type { DefinitionState, DefinitionView } from './definition-view.ts';
import { missingKindText, whenKindLost, whenServed } from './foreign-kind.ts';
import type { RuntimeCluster } from './runtime-cluster.ts';
import { workedMs } from './worked-ms.ts';

export interface DefinitionRunnerOptions {
  readonly located: LocatedDefinition;
  readonly cluster: RuntimeCluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Where the runtime itself lives. @default undefined: outside of the cluster */
  readonly runtimeNamespace?: string;
  /** How long running passes may go on after the signal, in ms. @default 20_000 */
  readonly graceMs?: number;
}

/** How often it is looked (at what is known here, without a request) whether a kind is served by now. */
const newKindPollMs = 5_000;
/** So often the schema of a kind that is served is asked for. */
const schemaTries = 12;

interface Prepared {
  readonly plan: OperatorPlan;
  /** Kinds of children and reads that the server does not serve, and the definition's own while nothing documents it. */
  readonly unknownKinds: readonly Gvk[];
  /** Kinds that it has had children of: what is left of them goes. */
  readonly formerKinds: readonly Gvk[];
}

interface Work {
  readonly signal: AbortSignal;
  /** All that it watches is being watched. */
  readonly onStarted: () => void;
}

/** Between tries of a definition that cannot start: a CRD of somebody else, no rights, no server. */
const retry = { baseDelayMs: 1_000, maxDelayMs: 60_000 };

/**
 * The life of one definition: its CRD, its plan, its operator and controller. Whatever goes wrong stays with this definition;
 * it says so in its {@link view} and tries again.
 */
export class DefinitionRunner {
  readonly #options: DefinitionRunnerOptions;
  readonly #logger: Logger;
  readonly #metrics: DefinitionMetrics;
  #state: DefinitionState = { kind: 'starting', message: 'It has not been looked at yet' };
  /** Since when it does not run as it should. Monotonic. */
  #troubledSinceMs: number | undefined;
  readonly #crdDecided = Promise.withResolvers<void>();
  /** Runs while there is no plan, so that what is being deleted does not wait for one. */
  #finisher: Finisher | undefined;
  #operator: Operator | undefined;
  #controller: Controller | undefined;

  constructor(options: DefinitionRunnerOptions) {
    this.#options = options;
    const { name, revision } = options.located.definition;
    this.#logger = options.logger.child({ definition: name, revision });
    this.#metrics = new DefinitionMetrics(options.metrics, name);
  }

  get view(): DefinitionView {
    const { name, revision, kind } = this.#options.located.definition;
    return {
      name,
      revision,
      apiVersion: apiVersionOf(kind.gvk),
      kind: kind.gvk.kind,
      state: this.#state,
      instances: this.#operator?.instances ?? 0,
      leftInPlace: this.#operator?.leftInPlace ?? 0,
      queued: this.#controller?.depth ?? 0,
      problems: problemsOf(this.#operator),
    };
  }

  /** Brings gauges up to date, for a scrape. */
  observe(): void {
    this.#controller?.observe();
    this.#metrics.observe(this.view, this.#operator?.readiness());
  }

  /** Resolves when it is known for the first time whether the definition may have its CRD, or when it has ended. */
  get crdDecided(): Promise<void> {
    return this.#crdDecided.promise;
  }

  /**
   * Runs until the signal aborts and all passes have ended. Never rejects. `rival`: a definition that brings the same CRD and comes
   * first; where the CRD is nobody's yet, it is that one's.
   */
  async run(signal: AbortSignal, rival?: DefinitionRunner): Promise<void> {
    await this.#giveWayTo(rival, signal);
    let failures = 0;
    while (!signal.aborted) {
      let error: unknown;
      try {
        if (await this.#round(signal)) failures = 0;
      } catch (caught) {
        if (signal.aborted) break;
        error = caught;
        this.#fail(error, failures);
      }
      await this.#pause(backoffMs(failures++, retry), error, signal);
    }
    this.#crdDecided.resolve();
    await this.#finisher?.stop();
    await this.#metrics.forget();
  }

  async #giveWayTo(rival: DefinitionRunner | undefined, signal: AbortSignal): Promise<void> {
    if (rival === undefined) return;
    const { name } = rival.#options.located.definition;
    this.#tellStarting(`The definition "${name}" brings the same CustomResourceDefinition`);
    const isOver = new AbortController();
    void rival.crdDecided.then(() => isOver.abort());
    await aborted(AbortSignal.any([signal, isOver.signal]));
  }

  /** One life: from the kind to the end of the last pass. False: it was refused. */
  async #round(signal: AbortSignal): Promise<boolean> {
    const { located, cluster } = this.#options;
    const { definition } = located;
    const { kind } = definition;
    const onMissing = () => this.#tellWaiting(kind);
    const held =
      kind.source === 'for'
        ? await whenServed(definition, { cluster, onMissing }, signal)
        : undefined;
    try {
      const prepared = await this.#prepare(signal).catch((error: unknown) => {
        // Whatever it is that the definition cannot do, deletions need not wait for it.
        if (!(error instanceof KubeError && error.isSilence)) this.#finishDeletions(signal);
        throw error;
      });
      if (prepared === undefined) {
        this.#finishDeletions(signal);
        return false;
      }
      await this.#finisher?.stop();
      this.#finisher = undefined;
      await this.#work(prepared, { signal, onStarted: () => held?.release() });
      return true;
    } finally {
      held?.release();
    }
  }

  #finishDeletions(signal: AbortSignal): void {
    if (signal.aborted) return;
    const { located, ...shared } = this.#options;
    this.#finisher ??= startFinisher({ ...shared, definition: located.definition }, signal);
  }

  /** Waits until it is time to try again, or a right that was missing is there. */
  async #pause(ms: number, error: unknown, signal: AbortSignal): Promise<void> {
    const { clock, cluster } = this.#options;
    const isOver = new AbortController();
    const right = error instanceof KubeError ? error.right : undefined;
    const unsubscribe = right && cluster.onGranted(right, () => isOver.abort());
    await clock.sleep(ms, AbortSignal.any([signal, isOver.signal])).catch(() => {});
    unsubscribe?.();
  }

  #fail(error: unknown, failures: number): void {
    this.#noteTrouble();
    // Without a server nothing can be said of the definition: it goes on starting. A refusal is an answer.
    const isSilence = error instanceof KubeError && error.isSilence;
    this.#state = { kind: isSilence ? 'starting' : 'failing', message: messageOf(error) };
    if (!isSilence) this.#crdDecided.resolve();
    // The first of a row is worth a look, the others are flow: the state tells what it is. What nobody foresaw is a bug of ours.
    const firstLevel = error instanceof HomeostatError ? 'warn' : 'error';
    const level = failures === 0 ? firstLevel : 'debug';
    this.#logger[level](failureFields(error), 'Definition cannot start, will retry');
  }

  /** Installs the CRD and compiles against the server's schemas. Undefined: refused, the state says why. */
  async #prepare(signal: AbortSignal): Promise<Prepared | undefined> {
    const { located, cluster, clock } = this.#options;
    const { definition } = located;
    const { kind } = definition;
    this.#tellStarting('The schemas of the kinds that it uses are asked for');
    const schemas = await fetchSchemas(definition, cluster, signal);
    const { plan, diagnostics } = compile(located, { schemas, workedMs });
    if (plan === undefined) return this.#refuse('The server has other schemas', diagnostics);
    const formerKinds: Gvk[] = [];
    if (bringsCrd(definition)) {
      this.#tellStarting('Its CustomResourceDefinition is being installed');
      const installed = await installCrd({ definition, cluster, clock }, signal);
      this.#crdDecided.resolve();
      if (installed.kind === 'refused') return this.#refuse(installed.message, []);
      for (const kind of installed.formerKinds) {
        const type = await cluster.findKind(kind, signal);
        if (type !== undefined) formerKinds.push(type.gvk);
      }
    }
    const kinds = [...definition.children, ...definition.reads].map(({ gvk }) => gvk);
    const unknownKinds = kinds.filter((gvk) => cluster.resourceFor(gvk) === undefined);
    const isUndocumented = kind.source === 'for' && schemas.schemaFor(kind.gvk) === undefined;
    if (isUndocumented) unknownKinds.push(kind.gvk);
    return { plan, unknownKinds, formerKinds };
  }

  /** What it is at; a state that tells of a trouble stays until the trouble is over. */
  #tellStarting(message: string): void {
    if (this.#state.kind === 'starting') this.#state = { kind: 'starting', message };
  }

  #noteTrouble(): void {
    this.#troubledSinceMs ??= this.#options.clock.monotonicMs();
  }

  #tellWaiting(kind: ServedKind): void {
    this.#noteTrouble();
    const message = missingKindText(kind);
    this.#state = { kind: 'waiting', message };
    this.#logger.info({ reason: message }, 'Definition waits for its kind');
  }

  #refuse(message: string, diagnostics: readonly Diagnostic[]): undefined {
    const texts = diagnostics.map((d) => `${d.file}:${d.line}:${d.column}: ${d.message}`);
    this.#noteTrouble();
    this.#crdDecided.resolve();
    const isNews = this.#state.kind !== 'refused' || this.#state.message !== message;
    this.#state = { kind: 'refused', message, diagnostics: texts };
    const details = texts.length === 0 ? {} : { diagnostics: texts };
    if (isNews) this.#logger.warn({ reason: message, ...details }, 'Definition refused');
  }

  async #work(prepared: Prepared, { signal, onStarted }: Work): Promise<void> {
    const { plan, unknownKinds, formerKinds } = prepared;
    const { cluster, clock, random, metrics, graceMs, runtimeNamespace } = this.#options;
    const { controller: settings } = plan.definition;
    const operator = createOperator({
      plan,
      cluster,
      clock,
      random,
      metrics,
      // A pass adds the definition's name itself.
      logger: this.#options.logger,
      formerKinds,
      ...(runtimeNamespace === undefined ? {} : { runtimeNamespace }),
      onDecisions: (_key, record) => this.#metrics.passed(record),
      enqueue: (key, priority) => controller.enqueue(key, priority),
      hold: (isHeld) => (isHeld ? controller.hold() : controller.release()),
    });
    const controller = new Controller({
      name: plan.name,
      reconciler: operator,
      clock,
      metrics,
      logger: this.#logger,
      concurrency: settings.concurrency,
      baseDelayMs: settings.retry.initialMs,
      maxDelayMs: settings.retry.maxMs,
      ...(graceMs === undefined ? {} : { graceMs }),
    });
    this.#operator = operator;
    this.#controller = controller;
    // After an outage every resource waits for a delay that has grown with it.
    const unsubscribe = cluster.onReachable(() => controller.retryNow());
    const ending = new AbortController();
    const end = () => ending.abort(signal.reason);
    signal.addEventListener('abort', end, { once: true });
    this.#state = { kind: 'syncing' };
    try {
      await operator.start(signal);
      onStarted();
      this.#tellRunning(operator);
      await Promise.all([
        controller.run(ending.signal),
        this.#resync(plan, operator, controller, ending.signal),
        this.#endWithKind(plan, ending),
        this.#endWithNewKinds(unknownKinds, ending),
        this.#forgetFormerKinds(prepared, operator, ending.signal),
      ]);
    } finally {
      unsubscribe();
      signal.removeEventListener('abort', end);
      ending.abort();
      operator.stop();
      this.#controller = undefined;
      this.#operator = undefined;
    }
  }

  /** Ends the work when its kind goes, or the CRD becomes somebody else's; the definition then starts over. */
  async #endWithKind(plan: OperatorPlan, ending: AbortController): Promise<void> {
    const { cluster, clock } = this.#options;
    const { definition } = plan;
    const lost = bringsCrd(definition)
      ? whenCrdLost({ definition, cluster, clock }, ending.signal)
      : whenKindLost(plan, cluster, ending.signal);
    const reason = await lost.catch(() => undefined);
    if (reason === undefined || ending.signal.aborted) return;
    this.#noteTrouble();
    this.#state = { kind: 'failing', message: reason };
    this.#logger.warn({ reason }, 'Definition stopped, will start over');
    ending.abort(new Error(reason));
  }

  /**
   * Starts over when a kind that nobody knew is served: only then are its values fitted and compared by its schema.
   * Asks nobody: the informer that waits for the kind does.
   */
  async #endWithNewKinds(unknown: readonly Gvk[], ending: AbortController): Promise<void> {
    const { cluster, clock } = this.#options;
    const { signal } = ending;
    const sinceMs = clock.monotonicMs();
    let tries = 0;
    while (unknown.length > 0 && tries < schemaTries && !signal.aborted) {
      await clock.sleep(newKindPollMs, signal).catch(() => {});
      const served = unknown.find((gvk) => cluster.resourceFor(gvk) !== undefined);
      if (served === undefined || signal.aborted) continue;
      // The server documents a kind a little after it serves it, and some never.
      tries++;
      const schema = await cluster.fetchKindSchema(served, signal).catch(() => undefined);
      if (schema === undefined || signal.aborted) continue;
      const missingForMs = Math.round(clock.monotonicMs() - sinceMs);
      const about = { kind: gvkKey(served), missingForMs };
      this.#logger.info(about, 'Kind is served now, definition starts over');
      ending.abort(new Error('A kind is served now'));
    }
  }

  /** A kind of which nothing is left is not watched any more from the next start on. */
  async #forgetFormerKinds(
    { plan: { definition }, formerKinds }: Prepared,
    operator: Operator,
    signal: AbortSignal,
  ): Promise<void> {
    const left = formerKinds.filter((gvk) => operator.hasChildren(gvk));
    if (left.length === formerKinds.length || !bringsCrd(definition)) return;
    const { cluster, clock } = this.#options;
    try {
      await forgetFormerKinds({ definition, cluster, clock }, left, signal);
    } catch (error) {
      // It costs a watch, and is tried again at the next start.
      this.#logger.debug(failureFields(error), 'Former kinds stay on record');
    }
  }

  #tellRunning(operator: Operator): void {
    this.#state = { kind: 'running' };
    const { instances, leftInPlace } = operator;
    if (leftInPlace > 0)
      this.#logger.warn({ leftInPlace }, 'Objects that match no more keep their children');
    const problems = problemsOf(operator);
    const after = this.#endTrouble();
    if (problems.length === 0) this.#logger.info({ instances, ...after }, 'Definition running');
    else this.#logger.warn({ instances, ...after, problems }, 'Definition running');
  }

  /** How long it was in trouble, if it was. */
  #endTrouble(): { readonly troubledForMs?: number } {
    const sinceMs = this.#troubledSinceMs;
    this.#troubledSinceMs = undefined;
    if (sinceMs === undefined) return {};
    return { troubledForMs: Math.round(this.#options.clock.monotonicMs() - sinceMs) };
  }

  /** Runs every resource once in a while, as a net under all that watches might miss. */
  async #resync(
    plan: OperatorPlan,
    operator: Operator,
    controller: Controller,
    signal: AbortSignal,
  ) {
    const { clock, random } = this.#options;
    const { resyncMs } = plan.definition.controller;
    while (!signal.aborted && resyncMs > 0) {
      await clock.sleep(resyncMs * (0.9 + 0.2 * random.fraction()), signal).catch(() => {});
      if (signal.aborted) return;
      for (const key of operator.keys()) controller.enqueue(key, 'low');
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function problemsOf(operator: Operator | undefined): readonly string[] {
  return operator?.problems().map(({ what, message }) => `${what}: ${message}`) ?? [];
}

function messageOf(error: unknown): string {
  if (error instanceof KubeError && error.right !== undefined) return rightText(error.right);
  if (error instanceof KubeError && error.code === 'unauthorized')
    return 'The API server does not accept our credentials';
  return error instanceof Error ? error.message : String(error);
}
