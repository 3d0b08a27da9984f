import type { KubeCluster } from '../../kube/index.ts';
import type { Logger, MetricRegistry } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import type { Random } from '../../util/random.ts';
import { LeaderElector } from './leader-elector.ts';
import { createLeaseClient } from './lease-client.ts';
import { type LeaseTimes, resolveLeaseTimes } from './lease-settings.ts';
import type { WriteFence } from './write-fence.ts';

export interface ElectionOptions {
  readonly cluster: Pick<KubeCluster, 'api' | 'acquire' | 'events'>;
  /** The one that the cluster asks before each write. */
  readonly fence: WriteFence;
  /** Of the Lease. */
  readonly namespace: string;
  readonly name: string;
  /** Of this process and no other: `<host name>_<uuid>`. */
  readonly identity: string;
  readonly times?: LeaseTimes;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** The lead was lost; the log has been told. Nothing is left but to end, at once. */
  readonly onLost: (reason: string) => void;
}

/**
 * Puts the leader election of one process together; it contends as soon as it runs.
 * @throws HomeostatError `invalid-times`
 */
export function createElection(options: ElectionOptions): LeaderElector {
  const { cluster, namespace, name, times, ...rest } = options;
  const { api, events } = cluster;
  const resolved = resolveLeaseTimes(times);
  const timeoutMs = Math.max(1_000, resolved.renewDeadlineMs / 2);
  return new LeaderElector({
    ...rest,
    leases: createLeaseClient({ api, clock: options.clock, namespace, name, timeoutMs }),
    watcher: cluster,
    events,
    times: resolved,
  });
}
