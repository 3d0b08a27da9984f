import type { MetricRegistry } from '../telemetry/roles.ts';

type Result = 'success' | 'error' | 'requeue_after' | 'requeue';

/** The `controller_runtime_*` series of one controller. */
export interface ControllerMetrics {
  reconciled(result: Result): void;
  terminal(): void;
  took(seconds: number): void;
  activeWorkers(delta: number): void;
}

export function createControllerMetrics(
  metrics: MetricRegistry,
  name: string,
  concurrency: number,
): ControllerMetrics {
  const labels = ['controller'];
  const total = metrics.counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Passes by result',
    labels: ['controller', 'result'],
  });
  const errors = metrics.counter({
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Failed passes',
    labels,
  });
  const terminal = metrics.counter({
    name: 'controller_runtime_terminal_reconcile_errors_total',
    help: 'Failed passes that are not retried',
    labels,
  });
  const time = metrics.histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'How long a pass takes',
    labels,
  });
  const active = metrics.gauge({
    name: 'controller_runtime_active_workers',
    help: 'Workers with a key',
    labels,
  });
  metrics
    .gauge({
      name: 'controller_runtime_max_concurrent_reconciles',
      help: 'Workers of the controller',
      labels,
    })
    .set(concurrency, [name]);
  const results: readonly Result[] = ['success', 'error', 'requeue_after', 'requeue'];
  for (const result of results) total.increment([name, result], 0);
  errors.increment([name], 0);
  terminal.increment([name], 0);
  active.set(0, [name]);
  return {
    reconciled(result) {
      total.increment([name, result]);
      if (result === 'error') errors.increment([name]);
    },
    terminal: () => terminal.increment([name]),
    took: (seconds) => time.observe(seconds, [name]),
    activeWorkers: (delta) => active.add(delta, [name]),
  };
}
