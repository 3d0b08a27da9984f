import {
  type Counter,
  type Gauge,
  type MetricRegistry,
  metricCatalogue,
} from '../../telemetry/roles.ts';

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
    restarts: registry.counter(metricCatalogue.informerRestarts),
    objects: registry.gauge(metricCatalogue.informerObjects),
    lastActivity: registry.gauge(metricCatalogue.informerLastActivity),
  };
}
