import { Controller, type Outcome, type Turn } from '../../controller/index.ts';
import { type CacheEvent, KubeError } from '../../kube/roles.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { orAborted } from '../../util/or-aborted.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { KnownDefinition } from '../registry/known-definition.ts';
import type { DefinitionOrigin, WantedSet } from '../wanted-definition.ts';
import { ConfigMapEvents } from './config-map-events.ts';
import { isOurs } from './definition-flow.ts';
import type { DefinitionObjects, DefinitionObjectsOptions } from './definition-objects.ts';
import type { Kept } from './kept.ts';
import { KnownMarks } from './known-marks.ts';
import { LeftMirrors } from './left-mirrors.ts';
import { originOfMirror, placeOfMirror, runtimeOfMirror } from './mirror.ts';
import { MirrorKeeper } from './mirror-keeper.ts';
import { isMirror } from './names.ts';
import { ObjectWatch } from './object-watch.ts';
import { ShownTroubles, wordsOf } from './shown-troubles.ts';
import { StatusReporter } from './status-reporter.ts';
import {
  arrangeTold,
  isSameOrigin,
  type ToldDefinition,
  type ToldDefinitions,
} from './told-definitions.ts';
import { ToldMetrics } from './told-metrics.ts';

/** Views are looked at at most so often. */
const lookMs = 200;
/** Objects worked on at once. */
const concurrency = 4;
/** Between tries, at most. */
const maxDelayMs = 60_000;
/** What the server refuses for good is tried again after so long. */
const permanentMs = 600_000;

/** The one keeper of all objects of definitions: a controller whose keys are their names. */
export class ObjectKeeper implements DefinitionObjects {
  readonly #options: DefinitionObjectsOptions;
  readonly #marks = new KnownMarks();
  readonly #troubles: ShownTroubles;
  readonly #watch: ObjectWatch;
  readonly #mirrors: MirrorKeeper;
  readonly #left: LeftMirrors;
  readonly #metrics: ToldMetrics;
  readonly #controller: Controller;
  readonly #known = Promise.withResolvers<void>();
  #told: ToldDefinitions | undefined;
  #views: ReadonlyMap<string, DefinitionView> = new Map();
  #configMaps: ConfigMapEvents | undefined;
  #reporter: StatusReporter;
  #isRunning = false;
  #cancelLook: (() => void) | undefined;
  /** By name: what has to wait. */
  readonly #later = new Map<string, () => void>();

  constructor(options: DefinitionObjectsOptions) {
    const { cluster, clock, logger, metrics, runtime } = options;
    this.#options = options;
    this.#troubles = new ShownTroubles(logger);
    this.#watch = new ObjectWatch({
      cluster,
      clock,
      logger,
      troubles: this.#troubles,
      onEvent: (event) => this.#noteObject(event),
      onAll: () => this.#enqueueAll(),
    });
    const mirrors = new MirrorKeeper(cluster, clock, runtime);
    this.#mirrors = mirrors;
    this.#left = new LeftMirrors({
      ...{ cluster, clock, mirrors },
      isReadHere: (mirror, origin) => this.#isReadHere(mirror, origin),
      readsObjects: () => this.#covers({ source: 'object', ref: '' }),
    });
    this.#metrics = new ToldMetrics(metrics, clock);
    this.#reporter = new StatusReporter({ cluster, clock, configMaps: undefined });
    this.#controller = new Controller({
      name: 'homeostat.dev/operatordefinitions',
      reconciler: { reconcile: (name, turn) => this.#keep(name, turn) },
      clock,
      logger,
      metrics,
      concurrency,
      maxDelayMs,
    });
  }

  get warning(): string | undefined {
    return this.#troubles.now;
  }

  *list(): Iterable<KubeObject> {
    for (const { object } of this.#watch.list()) yield object;
  }

  known(): ReadonlyMap<string, KnownDefinition> {
    return this.#marks.all;
  }

  onKnown(listener: () => void): () => void {
    return this.#marks.onChange(listener);
  }

  whenKnown(signal: AbortSignal): Promise<void> {
    return orAborted(this.#known.promise, signal);
  }

  show(wanted: WantedSet): void {
    const before = this.#told;
    const told = arrangeTold(wanted);
    this.#told = told;
    this.#lookAtViews();
    for (const name of new Set([...(before?.names ?? []), ...told.names])) {
      if (!isSame(before, told, name)) this.#controller.enqueue(name);
    }
    if (before === undefined) this.#enqueueAll();
    this.#tellNameless();
  }

  viewsChanged(): void {
    this.#cancelLook ??= this.#options.clock.after(lookMs, () => {
      this.#cancelLook = undefined;
      this.#lookAtViews();
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { cluster, clock, logger, definitionsNamespace: namespace } = this.#options;
    if (namespace !== undefined) {
      this.#configMaps = new ConfigMapEvents({ cluster, namespace, logger });
      this.#reporter = new StatusReporter({ cluster, clock, configMaps: this.#configMaps });
    }
    try {
      await this.#watch.start(signal);
      this.#known.resolve();
      this.#isRunning = true;
      this.#tellNameless();
      this.#configMaps?.tellPassedOver();
      await Promise.all([this.#watch.keepCrd(signal), this.#controller.run(signal)]);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#cancelLook?.();
      for (const cancel of this.#later.values()) cancel();
      this.#configMaps?.stop();
      this.#watch.stop();
    }
  }

  #tellNameless(): void {
    if (this.#isRunning && this.#told !== undefined)
      this.#configMaps?.tellNameless(this.#told.elsewhere);
  }

  #noteObject({ name, pass, current }: CacheEvent): void {
    this.#marks.note(name, current?.object);
    if (!isOurs(pass)) this.#controller.enqueue(name);
  }

  #enqueueAll(): void {
    for (const name of this.#told?.names ?? []) this.#controller.enqueue(name, 'low');
    for (const { object } of this.#watch.list())
      this.#controller.enqueue(object.metadata.name, 'low');
  }

  #lookAtViews(): void {
    const before = this.#views;
    this.#views = new Map(this.#options.views().map((view) => [view.name, view]));
    for (const name of new Set([...before.keys(), ...this.#views.keys()])) {
      if (!deepEqual(before.get(name), this.#views.get(name))) this.#controller.enqueue(name);
    }
    this.#metrics.observe(this.#told?.holders ?? [], this.#views);
  }

  /** One pass for one name: the object, then what it says. */
  async #keep(name: string, { signal }: Turn): Promise<Outcome> {
    const told = this.#told;
    const { state } = this.#watch;
    // While it is not known what there is nothing is said; all is looked at then.
    if (told === undefined || state === 'unknown') return { kind: 'done' };
    try {
      const kept =
        state === 'synced'
          ? await this.#keepObject(name, told, signal)
          : { told: told.holderOf(name) };
      if (kept.trouble === undefined) this.#troubles.end(name);
      else this.#troubles.tell(kept.trouble, name);
      const isToWait = kept.told === undefined && kept.waitMs !== undefined;
      const reportMs = isToWait ? 0 : await this.#report(name, kept, signal);
      const delays = [kept.waitMs ?? 0, reportMs].filter((delayMs) => delayMs > 0);
      if (delays.length > 0) this.#wake(name, Math.min(...delays));
      return { kind: 'done' };
    } catch (error) {
      return this.#failed(name, error);
    }
  }

  async #keepObject(name: string, told: ToldDefinitions, signal: AbortSignal): Promise<Kept> {
    const stored = this.#watch.get(name);
    const live = stored?.object;
    if (live !== undefined && !isMirror(live)) return { told: told.ofObject(name), object: live };
    const holder = told.holderOf(name);
    if (holder === undefined || holder.origin.source === 'object')
      return stored === undefined ? {} : this.#left.leave(stored, this.#configMaps, signal);
    this.#left.returned(name);
    if (live?.metadata.deletionTimestamp !== undefined) return {};
    const trouble = live && this.#whyNotOurs(live, holder);
    if (trouble !== undefined) return { told: holder, trouble };
    const kept = await this.#mirrors.keep(holder, live, signal);
    return typeof kept === 'number' ? { waitMs: kept } : { told: holder, object: kept };
  }

  /** Two runtimes that both have a text of this name would write it back and forth. */
  #whyNotOurs(live: KubeObject, { name, origin }: ToldDefinition): string | undefined {
    const its = originOfMirror(live);
    if (its === undefined || isSameOrigin(its, origin) || this.#isReadHere(live, its))
      return undefined;
    // What somebody tries on his own machine gives way to what the cluster has.
    if (its.source === 'directory' && origin.source === 'configmap') return undefined;
    return `The object "${name}" shows a text of ${placeOfMirror(live, its)}, which is not read here: where no other runtime reads it, delete the object`;
  }

  /** Are all texts known that stand where that of the mirror does? Another machine may have the same path. */
  #isReadHere(mirror: KubeObject, origin: DefinitionOrigin): boolean {
    const { runtime } = this.#options;
    const its = runtimeOfMirror(mirror);
    const isOfOthers = its !== undefined && runtime !== undefined && its !== runtime;
    return !isOfOthers && this.#covers(origin);
  }

  #covers(origin: DefinitionOrigin): boolean {
    return this.#options.covers?.(origin) ?? true;
  }

  async #report(name: string, { told, object }: Kept, signal: AbortSignal): Promise<number> {
    if (told !== undefined)
      return this.#reporter.report({ told, object, views: this.#views }, signal);
    this.#reporter.forget(name);
    return 0;
  }

  #wake(name: string, afterMs: number): void {
    this.#later.get(name)?.();
    const cancel = this.#options.clock.after(afterMs, () => {
      this.#later.delete(name);
      this.#controller.enqueue(name);
    });
    this.#later.set(name, cancel);
  }

  #failed(name: string, error: unknown): Outcome {
    if (!(error instanceof KubeError) || !error.isPermanent) throw error;
    const reason = wordsOf(error);
    this.#troubles.tell(reason, name);
    return { kind: 'failed', afterMs: permanentMs, reason };
  }
}

function isSame(before: ToldDefinitions | undefined, now: ToldDefinitions, name: string): boolean {
  const holders = [before?.holderOf(name), now.holderOf(name)] as const;
  const objects = [before?.ofObject(name), now.ofObject(name)] as const;
  return [holders, objects].every(
    ([a, b]) => a === b || (a?.wanted === b?.wanted && a?.refused === b?.refused),
  );
}
