import {
  type Counter,
  type Gauge,
  type Logger,
  type MetricRegistry,
  metricCatalogue,
} from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import type { JsonLimits } from '#util/json-scan.ts';
import type { Random } from '#util/random.ts';
import type { PathDiscovery } from '../api/discovery.ts';
import type { ApiClient } from '../client/api-client.ts';
import { trustedJson } from '../client/limited-json.ts';
import type { RightsWatcher } from '../roles.ts';
import type { CacheBudget } from './cache-budget.ts';
import type { KindNotifier } from './kind-notifier.ts';
import type { ObjectDecoder } from './object-decoder.ts';

/** Shared by all informers of a cluster. */
export interface ReflectorContext {
  readonly api: ApiClient;
  readonly discovery: PathDiscovery;
  readonly rights: RightsWatcher;
  readonly kinds: KindNotifier;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: InformerMetrics;
  readonly settings: ResolvedInformerSettings;
  readonly decode: ObjectDecoder;
  /** A watch broke or was idle: checks whether the server is reachable. */
  readonly suspectOutage: () => void;
  /** The server returned an older state than before. */
  readonly onRollback: () => void;
  /** Set: the objects of all informers are measured. */
  readonly budget: CacheBudget | undefined;
}

/** The metrics of informers; `kind` is `apps/v1/Deployment`. */
interface InformerMetrics {
  /** Restarted lists and watches, expected watch timeouts excluded. Labels: kind, reason. */
  readonly restarts: Counter;
  /** Cached objects. Label: kind. */
  readonly objects: Gauge;
  /** Age of the last event or bookmark, maximum of the kind's informers. Label: kind. */
  readonly lastActivity: Gauge;
  /** Initializes the common series of a kind to 0. */
  begin(kind: string): void;
}

/** Common restart reasons; other reasons are error codes. */
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

/** How informers list and watch. */
export interface InformerSettings {
  /** Objects per page of a list. @default 500 */
  readonly pageSize?: number;
  /** A watch without data (bookmarks come once a minute) is reconnected after this time. @default 180_000 */
  readonly idleTimeoutMs?: number;
  /** Minimum watch timeout; the actual one is random up to its double. @default 300 */
  readonly watchTimeoutSeconds?: number;
  /** A watch that ends sooner counts as a failure, the first one in a row only if it had no event. @default 1_000 */
  readonly shortWatchMs?: number;
  /** Delay after the first failure, before jitter of up to 100 %. @default 800 */
  readonly baseDelayMs?: number;
  /** Upper bound of that delay, before jitter. @default 30_000 */
  readonly maxDelayMs?: number;
  /** Upper bound of the delay, jitter included, while the server is unreachable. @default 5_000 */
  readonly unreachableMaxDelayMs?: number;
  /**
   * Retry interval without the right to list or watch, in addition to access reviews: not every role can be reviewed.
   * @default 600_000
   */
  readonly deniedRetryMs?: number;
  /** The delays are reset after this time without a failure. @default 120_000 */
  readonly forgetFailuresAfterMs?: number;
  /** Lifetime of an informer of a single object after its last use. @default 60_000 */
  readonly lingerMs?: number;
  /** Events on a key wait for the response to a request in flight, up to this time. @default 1_000 */
  readonly holdEventsMs?: number;
  /** After the schema of a kind changed, its informers list once more, before jitter of up to 100 %. @default 5_000 */
  readonly schemaSettleMs?: number;
  /** A longer line of a watch is an error, in characters. @default 33_554_432 */
  readonly maxLineLength?: number;
  /** What a line of a watch may cost. @default those of a trusted server */
  readonly jsonLimits?: JsonLimits;
  /** Called with how much the incomplete lines of watches have grown, or shrunk. @default no action */
  readonly onHeld?: (length: number) => void;
  /** Freezes the objects, so that tests detect mutations. @default false */
  readonly freeze?: boolean;
}

/** Settings with every default filled in. */
export type ResolvedInformerSettings = Required<InformerSettings>;

export function resolveInformerSettings(settings: InformerSettings = {}): ResolvedInformerSettings {
  return {
    pageSize: 500,
    idleTimeoutMs: 180_000,
    watchTimeoutSeconds: 300,
    shortWatchMs: 1_000,
    baseDelayMs: 800,
    maxDelayMs: 30_000,
    unreachableMaxDelayMs: 5_000,
    deniedRetryMs: 600_000,
    forgetFailuresAfterMs: 120_000,
    lingerMs: 60_000,
    holdEventsMs: 1_000,
    schemaSettleMs: 5_000,
    maxLineLength: 33_554_432,
    jsonLimits: trustedJson,
    onHeld: () => {},
    freeze: false,
    ...settings,
  };
}
