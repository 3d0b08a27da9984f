import type { Counter, Gauge, MetricRegistry } from '../../telemetry/roles.ts';

/** The metrics of informers; `kind` is `apps/v1/Deployment`. */
export interface InformerMetrics {
  /** Lists and watches begun anew for another reason than the agreed end of a watch. Labels: kind, reason. */
  readonly restarts: Counter;
  /** Objects held. Label: kind. */
  readonly objects: Gauge;
  /** Age of the last event or bookmark, of the kind's informer that has waited longest. Label: kind. */
  readonly lastActivity: Gauge;
}

export function createInformerMetrics(registry: MetricRegistry): InformerMetrics {
  return {
    restarts: registry.counter({
      name: 'homeostat_informer_restarts_total',
      help: 'Lists and watches begun anew, by reason; the agreed end of a watch does not count',
      labels: ['kind', 'reason'],
    }),
    objects: registry.gauge({
      name: 'homeostat_informer_objects',
      help: 'Objects in the cache',
      labels: ['kind'],
    }),
    lastActivity: registry.gauge({
      name: 'homeostat_informer_last_activity_seconds',
      help: 'Age of the last event or bookmark of the watch that has waited longest',
      labels: ['kind'],
    }),
  };
}
