import {
  type Counter,
  type Gauge,
  type MetricRegistry,
  metricCatalogue,
} from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import type { DefinitionView } from '../definition-view.ts';
import { type DefinitionFacts, rejectionText } from './definition-conditions.ts';

/** Last recorded values of one definition. */
interface Counted {
  readonly revision: string | undefined;
  readonly rejected: string | undefined;
  /** Labels of the info series. */
  readonly info: readonly [string, string, string] | undefined;
}

const none: Counted = { revision: undefined, rejected: undefined, info: undefined };

/** Metrics of definitions, their revisions and roll-outs. */
export class DefinitionMetrics {
  readonly #registry: MetricRegistry;
  readonly #clock: Clock;
  readonly #info: Gauge;
  readonly #reloads: Counter;
  readonly #rejected: Gauge;
  readonly #lastAccepted: Gauge;
  readonly #rollout: Gauge;
  readonly #pending: Gauge;
  readonly #counted = new Map<string, Counted>();

  constructor(registry: MetricRegistry, clock: Clock) {
    this.#registry = registry;
    this.#clock = clock;
    this.#info = registry.gauge(metricCatalogue.definitionInfo);
    this.#reloads = registry.counter(metricCatalogue.definitionReloads);
    this.#rejected = registry.gauge(metricCatalogue.definitionRejected);
    this.#lastAccepted = registry.gauge(metricCatalogue.definitionLastAccepted);
    this.#rollout = registry.gauge(metricCatalogue.definitionRollout);
    this.#pending = registry.gauge(metricCatalogue.definitionRolloutResources);
  }

  /** Updates the metrics with the changes since the last call. */
  observe(name: string, { view, rejection, origin, rollout }: DefinitionFacts): void {
    const before = this.#previousOf(name);
    const isRunning = view.state.kind === 'running' || view.state.kind === 'syncing';
    const revision = isRunning ? view.revision : before.revision;
    const rejected = rejection && rejectionText(rejection);
    if (revision !== undefined && revision !== before.revision) {
      this.#reloads.increment([name, 'accepted']);
      this.#lastAccepted.set(Math.floor(this.#clock.nowMs() / 1_000), [name]);
    }
    if (rejected !== undefined && rejected !== before.rejected)
      this.#reloads.increment([name, 'rejected']);
    this.#rejected.set(rejected === undefined ? 0 : 1, [name]);
    const info = revision === undefined ? undefined : ([name, revision, origin.source] as const);
    this.#moveInfo(before.info, info);
    this.#setRollout(name, rollout);
    this.#counted.set(name, { revision, rejected, info });
  }

  /** Initializes counters to 0. */
  #previousOf(name: string): Counted {
    const before = this.#counted.get(name);
    if (before !== undefined) return before;
    for (const result of metricCatalogue.definitionReloads.values.result)
      this.#reloads.increment([name, result], 0);
    return none;
  }

  #moveInfo(before: Counted['info'], now: Counted['info']): void {
    if (before !== undefined && before.join() !== now?.join()) this.#info.remove(before);
    if (now !== undefined) this.#info.set(1, now);
  }

  #setRollout(name: string, rollout: DefinitionView['rollout']): void {
    for (const state of metricCatalogue.definitionRollout.values.state)
      this.#rollout.set(rollout?.state === state ? 1 : 0, [name, state]);
    this.#pending.set(rollout === undefined ? 0 : rollout.total - rollout.reached, [name]);
  }

  forget(name: string): void {
    this.#counted.delete(name);
    void this.#registry.removeSeries('definition', name);
  }
}
