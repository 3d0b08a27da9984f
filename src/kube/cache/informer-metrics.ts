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
  /** Shows the series of a kind at 0, those of rare failures left out. */
  begin(kind: string): void;
}

/** What happens to every watch in the end; further reasons are codes of failures. */
const commonReasons = [
  'idle',
  'gone',
  'unavailable',
  'connection-lost',
  'short-watch',
  'page-expired',
  'outage',
  'schema-changed',
];

export function createInformerMetrics(registry: MetricRegistry): InformerMetrics {
  const restarts = registry.counter(metricCatalogue.informerRestarts);
  const objects = registry.gauge(metricCatalogue.informerObjects);
  return {
    restarts,
    objects,
    lastActivity: registry.gauge(metricCatalogue.informerLastActivity),
    begin(kind) {
      for (const reason of commonReasons) restarts.increment([kind, reason], 0);
      objects.add(0, [kind]);
    },
  };
}
