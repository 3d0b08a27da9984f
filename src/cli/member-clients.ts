import { createKubeCluster, type KubeCluster, type KubeClusterOptions } from '../kube/index.ts';
import type { ConnectMember } from '../runtime/index.ts';
import type { LeaderElection } from './leader-election.ts';

interface MemberClientOptions extends Pick<KubeClusterOptions, 'clock' | 'random' | 'logger'> {
  /** Leadership is on the hub: its fence is checked before every write to a member. @default no election */
  readonly election?: Pick<LeaderElection, 'clusterOptions' | 'onLost'>;
}

/** Requests in flight to one member. */
const connections = 8;
/** Of one response of a member. */
const maxResponseBytes = 33_554_432;

/** Creates the clients of member clusters. */
export function memberClients({ election, ...shared }: MemberClientOptions): ConnectMember {
  const { beforeWrite: fence, shouldSendEvents } = election?.clusterOptions ?? {};
  return (config, { beforeWrite, ...options }) => {
    const cluster: KubeCluster = createKubeCluster({
      ...shared,
      logger: shared.logger.child({ cluster: options.name }),
      ...{ config, connections, maxResponseBytes, isForeign: true },
      ...options,
      beforeWrite(request) {
        fence?.(request);
        beforeWrite?.(request);
      },
      ...(shouldSendEvents && { shouldSendEvents }),
    });
    const unsubscribe = election?.onLost(() => cluster.dropPendingWrites());
    const close = async () => {
      unsubscribe?.();
      await cluster.close();
    };
    return { cluster, close };
  };
}
