import type { Logger } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import type { Random } from '../../util/random.ts';
import type { PathDiscovery } from '../api/discovery.ts';
import type { ApiClient } from '../client/api-client.ts';
import type { RightsWatch } from '../roles.ts';
import type { InformerMetrics } from './informer-metrics.ts';
import type { ResolvedInformerSettings } from './informer-settings.ts';
import type { Ingest } from './ingest.ts';
import type { KindArrivals } from './kind-arrivals.ts';

/** What all informers of a cluster share. */
export interface ReflectorContext {
  readonly api: ApiClient;
  readonly discovery: PathDiscovery;
  readonly rights: RightsWatch;
  readonly arrivals: KindArrivals;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: InformerMetrics;
  readonly settings: ResolvedInformerSettings;
  readonly ingest: Ingest;
  /** A watch broke or was silent: is the server still there? */
  readonly suspectOutage: () => void;
  /** The server shows a state from before what it has shown already. */
  readonly onWentBack: () => void;
}
