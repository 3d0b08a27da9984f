import { type MetricRegistry, metricCatalogue, seriesOf } from '../telemetry/roles.ts';

type Result = (typeof metricCatalogue.reconcileTotal.values.result)[number];

/** The `controller_runtime_*` series of one controller. */
export interface ControllerMetrics {
  reconciled(result: Result): void;
  terminal(): void;
  /** An error that nobody foresaw: a bug of ours. */
  panicked(): void;
  took(seconds: number): void;
  activeWorkers(delta: number): void;
  /** So many keys may be worked on at once. */
  concurrency(most: number): void;
}

export function createControllerMetrics(metrics: MetricRegistry, name: string): ControllerMetrics {
  const total = metrics.counter(metricCatalogue.reconcileTotal);
  const errors = metrics.counter(metricCatalogue.reconcileErrors);
  const terminal = metrics.counter(metricCatalogue.reconcileTerminalErrors);
  const panics = metrics.counter(metricCatalogue.reconcilePanics);
  const time = metrics.histogram(metricCatalogue.reconcileSeconds);
  const active = metrics.gauge(metricCatalogue.activeWorkers);
  const series = [name];
  for (const each of seriesOf(metricCatalogue.reconcileTotal, { controller: name })) {
    total.increment(each, 0);
  }
  for (const counter of [errors, terminal, panics]) counter.increment(series, 0);
  time.begin(series);
  active.set(0, series);
  const most = metrics.gauge(metricCatalogue.maxConcurrentReconciles);
  return {
    reconciled(result) {
      total.increment([name, result]);
      if (result === 'error') errors.increment(series);
    },
    terminal: () => terminal.increment(series),
    panicked: () => panics.increment(series),
    took: (seconds) => time.observe(seconds, series),
    activeWorkers: (delta) => active.add(delta, series),
    concurrency: (count) => most.set(count, series),
  };
}
