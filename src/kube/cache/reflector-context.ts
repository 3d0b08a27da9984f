import type { Logger } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import type { Random } from '../../util/random.ts';
import type { ApiClient } from '../client/api-client.ts';
import type { Discovery, RightsWatch } from '../roles.ts';
import type { InformerMetrics } from './informer-metrics.ts';
import type { ResolvedInformerSettings } from './informer-settings.ts';
import type { Ingest } from './ingest.ts';
import type { KindArrivals } from './kind-arrivals.ts';

/** Who cannot reach the server at the moment. */
export interface Reachability {
  lost(who: object): void;
  /** It answers `who` again: whoever else waits for it need not wait longer. */
  found(who: object): void;
  /** `who` has ended, which says nothing of the server. */
  left(who: object): void;
}

/** What all informers of a cluster share. */
export interface ReflectorContext {
  readonly api: ApiClient;
  readonly discovery: Discovery;
  readonly rights: RightsWatch;
  readonly arrivals: KindArrivals;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: InformerMetrics;
  readonly settings: ResolvedInformerSettings;
  readonly ingest: Ingest;
  readonly reachability: Reachability;
}
