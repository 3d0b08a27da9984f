import type { DecisionRecord, Readiness } from '../../reconcile/index.ts';
import {
  type Counter,
  type Gauge,
  type MetricRegistry,
  metricCatalogue,
  seriesOf,
} from '../../telemetry/roles.ts';
import type { DefinitionView } from '../definition-view.ts';

const expressionErrorCodes: ReadonlySet<string> = new Set<string>(
  metricCatalogue.expressionErrors.values.code,
);

/** Metrics of one definition, from its decision records and its view. */
export class PassMetrics {
  readonly #name: string;
  readonly #metrics: MetricRegistry;
  readonly #statusWrites: Counter;
  readonly #expressionErrors: Counter;
  readonly #resources: Gauge;
  readonly #states: Gauge;
  readonly #problems: Gauge;

  constructor(metrics: MetricRegistry, definition: string) {
    this.#name = definition;
    this.#metrics = metrics;
    this.#statusWrites = metrics.counter(metricCatalogue.statusWrites);
    this.#expressionErrors = metrics.counter(metricCatalogue.expressionErrors);
    this.#resources = metrics.gauge(metricCatalogue.resources);
    this.#states = metrics.gauge(metricCatalogue.definitionState);
    this.#problems = metrics.gauge(metricCatalogue.definitionProblems);
    for (const series of seriesOf(metricCatalogue.statusWrites, { definition })) {
      this.#statusWrites.increment(series, 0);
    }
    for (const series of seriesOf(metricCatalogue.expressionErrors, { definition })) {
      this.#expressionErrors.increment(series, 0);
    }
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
    for (const kind of metricCatalogue.definitionState.values.state) {
      this.#states.set(state.kind === kind ? 1 : 0, [this.#name, kind]);
    }
    this.#problems.set(problems.length, [this.#name]);
    const { ready = 0, unready = 0, unknown = 0 } = readiness ?? {};
    const resources = { True: ready, False: unready, Unknown: unknown };
    for (const [label, count] of Object.entries(resources)) {
      this.#resources.set(count, [this.#name, label]);
    }
  }

  /** Removes every series of the definition. */
  async forget(): Promise<void> {
    await this.#metrics.removeSeries('definition', this.#name);
    await this.#metrics.removeSeries('controller', this.#name);
  }
}
