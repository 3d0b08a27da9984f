import type { DecisionRecord, Readiness } from '#reconcile';
import {
  type Counter,
  type MetricOptions,
  type MetricRegistry,
  metricCatalogue,
  seriesOf,
} from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import type { DefinitionView } from './definition-view.ts';
import { type DefinitionFacts, rejectionText } from './definitions/definition-conditions.ts';
import type { GaugeValue } from './view-part.ts';
import { viewParts } from './view-parts.ts';

const expressionErrorCodes: ReadonlySet<string> = new Set<string>(
  metricCatalogue.expressionErrors.values.code,
);

/** Gauges with the definition's name as their first label. */
const gauges = [
  ...(['resources', 'definitionState', 'definitionProblems', 'definitionRejected'] as const),
  'definitionLastAccepted',
] as const;

interface PartSeries {
  readonly gauge: MetricOptions;
  readonly series: readonly string[];
}

/** Metrics of one definition: its passes, its resources, its revisions and the parts of its view. */
export class DefinitionMetrics {
  readonly #name: string;
  readonly #registry: MetricRegistry;
  readonly #clock: Clock;
  readonly #statusWrites: Counter;
  readonly #expressionErrors: Counter;
  readonly #reloads: Counter;
  /** The last counted revision and rejection. */
  #revision: string | undefined;
  #rejection: string | undefined;
  /** Labels of the info series. */
  #infoLabels: readonly [string, string, string] | undefined;

  /** The series of the parts of its view. */
  #partSeries = new Map<string, PartSeries>();

  /** Initializes all counters to 0; gauges are exposed without a value. */
  constructor(registry: MetricRegistry, clock: Clock, name: string) {
    this.#name = name;
    this.#registry = registry;
    this.#clock = clock;
    const counter = (key: 'statusWrites' | 'expressionErrors' | 'definitionReloads') => {
      const created = registry.counter(metricCatalogue[key]);
      for (const series of seriesOf(metricCatalogue[key], { definition: name }))
        created.increment(series, 0);
      return created;
    };
    this.#statusWrites = counter('statusWrites');
    this.#expressionErrors = counter('expressionErrors');
    this.#reloads = counter('definitionReloads');
    for (const gauge of gauges) registry.gauge(metricCatalogue[gauge]);
    for (const gauge of viewParts.flatMap((part) => part.gauges ?? [])) registry.gauge(gauge);
    registry.gauge(metricCatalogue.definitionInfo);
  }

  /** Records a finished pass. */
  recordPass({ status, problemCodes }: DecisionRecord): void {
    this.#statusWrites.increment([this.#name, status]);
    for (const code of problemCodes) {
      if (expressionErrorCodes.has(code)) this.#expressionErrors.increment([this.#name, code]);
    }
  }

  /** Updates the gauges before a scrape. `readiness`: undefined while nothing runs. */
  observe({ state, problems }: DefinitionView, readiness: Readiness | undefined): void {
    for (const kind of metricCatalogue.definitionState.values.state)
      this.#set('definitionState', state.kind === kind ? 1 : 0, kind);
    this.#set('definitionProblems', problems.length);
    const { ready = 0, unready = 0, unknown = 0 } = readiness ?? {};
    const resources = { True: ready, False: unready, Unknown: unknown };
    for (const [label, count] of Object.entries(resources)) this.#set('resources', count, label);
  }

  /** Counts changes since the last call. */
  recordFacts(facts: DefinitionFacts): void {
    const { view, rejection, origin } = facts;
    const isRunning = view.state.kind === 'running' || view.state.kind === 'syncing';
    this.#recordRevision(isRunning ? view.revision : this.#revision, origin.source);
    const rejected = rejection && rejectionText(rejection);
    if (rejected !== undefined && rejected !== this.#rejection)
      this.#reloads.increment([this.#name, 'rejected']);
    this.#rejection = rejected;
    this.#set('definitionRejected', rejected === undefined ? 0 : 1);
    this.#setParts(viewParts.flatMap((part) => part.measured?.(facts) ?? []));
  }

  #setParts(values: readonly GaugeValue[]): void {
    const before = this.#partSeries;
    this.#partSeries = new Map();
    for (const { gauge, value, labels } of values) {
      const series = [this.#name, ...labels];
      this.#registry.gauge(gauge).set(value, series);
      this.#partSeries.set([gauge.name, ...labels].join(), { gauge, series });
    }
    for (const [key, { gauge, series }] of before)
      if (!this.#partSeries.has(key)) this.#registry.gauge(gauge).remove(series);
  }

  #recordRevision(revision: string | undefined, source: string): void {
    if (revision === undefined) return;
    if (revision !== this.#revision) {
      this.#reloads.increment([this.#name, 'accepted']);
      this.#set('definitionLastAccepted', Math.floor(this.#clock.nowMs() / 1_000));
    }
    this.#revision = revision;
    const gauge = this.#registry.gauge(metricCatalogue.definitionInfo);
    const info = [this.#name, revision, source] as const;
    if (this.#infoLabels !== undefined && this.#infoLabels.join() !== info.join())
      gauge.remove(this.#infoLabels);
    this.#infoLabels = info;
    gauge.set(1, info);
  }

  #set(gauge: (typeof gauges)[number], value: number, ...labels: readonly string[]): void {
    this.#registry.gauge(metricCatalogue[gauge]).set(value, [this.#name, ...labels]);
  }

  /** Removes every series of the definition. */
  async forget(): Promise<void> {
    const labels = ['definition', 'controller'];
    await Promise.all(labels.map((label) => this.#registry.removeSeries(label, this.#name)));
  }
}
