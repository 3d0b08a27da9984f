import type { Counter, MetricRegistry } from '../telemetry/roles.ts';
import type { ReadyQueue } from './ready-queue.ts';

/** The `workqueue_*` series that controller-runtime dashboards know, for one controller. */
export interface QueueMetrics {
  readonly adds: Pick<Counter, 'increment'>;
  readonly retries: Pick<Counter, 'increment'>;
  depth(ready: ReadyQueue): void;
  queued(seconds: number): void;
  worked(seconds: number): void;
  running(agesSeconds: readonly number[]): void;
  held(keys: number): void;
}

/** 10 ns times ten to the n, as client-go has them. */
const bucketsSeconds = Array.from({ length: 12 }, (_, power) => 1e-8 * 10 ** power);

export function createQueueMetrics(metrics: MetricRegistry, name: string): QueueMetrics {
  const labels = ['name', 'controller'];
  const series = [name, name];
  const depth = metrics.gauge({
    name: 'workqueue_depth',
    help: 'Keys that are ready and wait for a worker',
    labels: [...labels, 'priority'],
  });
  const adds = metrics.counter({ name: 'workqueue_adds_total', help: 'Keys added', labels });
  const retries = metrics.counter({
    name: 'workqueue_retries_total',
    help: 'Keys added again after a failure',
    labels,
  });
  const queueTime = metrics.histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'How long a key waits for a worker',
    labels,
    bucketsSeconds,
  });
  const workTime = metrics.histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'How long the work on a key takes',
    labels,
    bucketsSeconds,
  });
  const unfinished = metrics.gauge({
    name: 'workqueue_unfinished_work_seconds',
    help: 'Sum of the ages of running work',
    labels,
  });
  const longest = metrics.gauge({
    name: 'workqueue_longest_running_processor_seconds',
    help: 'Age of the longest running work',
    labels,
  });
  const held = metrics.gauge({
    name: 'homeostat_retries_held',
    help: 'Keys whose retry waits until the budget of its definition has room',
    labels: ['definition'],
  });
  held.set(0, [name]);
  adds.increment(series, 0);
  retries.increment(series, 0);
  for (const priority of ['normal', 'low']) depth.set(0, [...series, priority]);
  return {
    adds: { increment: () => adds.increment(series) },
    retries: { increment: () => retries.increment(series) },
    depth(ready) {
      depth.set(ready.sizeOf('normal'), [...series, 'normal']);
      depth.set(ready.sizeOf('low'), [...series, 'low']);
    },
    queued: (seconds) => queueTime.observe(seconds, series),
    worked: (seconds) => workTime.observe(seconds, series),
    held: (keys) => held.set(keys, [name]),
    running(agesSeconds) {
      unfinished.set(
        agesSeconds.reduce((sum, age) => sum + age, 0),
        series,
      );
      longest.set(Math.max(0, ...agesSeconds), series);
    },
  };
}
