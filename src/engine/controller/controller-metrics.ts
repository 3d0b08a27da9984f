import { type MetricRegistry, metricCatalogue, seriesOf } from '#telemetry/roles.ts';
import type { ReadyQueue } from './ready-queue.ts';

type Result = (typeof metricCatalogue.reconcileTotal.values.result)[number];

/** The `controller_runtime_*` series of one controller. */
export type ControllerMetrics = ReturnType<typeof createControllerMetrics>;

export function createControllerMetrics(metrics: MetricRegistry, name: string) {
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
  time.initialize(series);
  active.set(0, series);
  const most = metrics.gauge(metricCatalogue.maxConcurrentReconciles);
  return {
    reconciled(result: Result): void {
      total.increment([name, result]);
      if (result === 'error') errors.increment(series);
    },
    terminal: () => terminal.increment(series),
    /** An unexpected error: a bug. */
    panicked: () => panics.increment(series),
    took: (seconds: number) => time.observe(seconds, series),
    activeWorkers: (delta: number) => active.add(delta, series),
    /** Sets the maximum of concurrent reconciles. */
    concurrency: (count: number) => most.set(count, series),
  };
}

/** The `workqueue_*` series of controller-runtime dashboards, for one controller. */
export type QueueMetrics = ReturnType<typeof createQueueMetrics>;

export function createQueueMetrics(metrics: MetricRegistry, name: string) {
  const series = [name, name];
  const depth = metrics.gauge(metricCatalogue.queueDepth);
  const adds = metrics.counter(metricCatalogue.queueAdds);
  const retries = metrics.counter(metricCatalogue.queueRetries);
  const queueTime = metrics.histogram(metricCatalogue.queueWaitSeconds);
  const workTime = metrics.histogram(metricCatalogue.queueWorkSeconds);
  const unfinished = metrics.gauge(metricCatalogue.queueUnfinished);
  const longest = metrics.gauge(metricCatalogue.queueLongestRunning);
  const held = metrics.gauge(metricCatalogue.retriesHeld);
  const setDepth = (normal: number, low: number) => {
    depth.set(normal, [...series, 'normal']);
    depth.set(low, [...series, 'low']);
  };
  const setRunning = (agesSeconds: readonly number[]) => {
    const sum = agesSeconds.reduce((total, age) => total + age, 0);
    unfinished.set(sum, series);
    longest.set(Math.max(0, ...agesSeconds), series);
  };
  for (const counter of [adds, retries]) counter.increment(series, 0);
  for (const histogram of [queueTime, workTime]) histogram.initialize(series);
  setDepth(0, 0);
  setRunning([]);
  held.set(0, [name]);
  return {
    added: () => adds.increment(series),
    retried: () => retries.increment(series),
    depth: (ready: ReadyQueue) => setDepth(ready.sizeOf('normal'), ready.sizeOf('low')),
    queued: (seconds: number) => queueTime.observe(seconds, series),
    worked: (seconds: number) => workTime.observe(seconds, series),
    running: setRunning,
    /** Number of keys that wait for the retry budget. */
    held: (keys: number) => held.set(keys, [name]),
  };
}
