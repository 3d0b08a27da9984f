import { type Counter, type MetricRegistry, metricCatalogue } from '../telemetry/roles.ts';
import type { ReadyQueue } from './ready-queue.ts';

/** The `workqueue_*` series that controller-runtime dashboards know, for one controller. */
export interface QueueMetrics {
  readonly adds: Pick<Counter, 'increment'>;
  readonly retries: Pick<Counter, 'increment'>;
  depth(ready: ReadyQueue): void;
  queued(seconds: number): void;
  worked(seconds: number): void;
  running(agesSeconds: readonly number[]): void;
  /** Keys whose retry waits for the budget. */
  held(keys: number): void;
}

export function createQueueMetrics(metrics: MetricRegistry, name: string): QueueMetrics {
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
  for (const histogram of [queueTime, workTime]) histogram.begin(series);
  setDepth(0, 0);
  setRunning([]);
  held.set(0, [name]);
  return {
    adds: { increment: () => adds.increment(series) },
    retries: { increment: () => retries.increment(series) },
    depth: (ready) => setDepth(ready.sizeOf('normal'), ready.sizeOf('low')),
    queued: (seconds) => queueTime.observe(seconds, series),
    worked: (seconds) => workTime.observe(seconds, series),
    running: setRunning,
    held: (keys) => held.set(keys, [name]),
  };
}
