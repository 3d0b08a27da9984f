import { getHeapStatistics } from 'node:v8';
import {
  createKubeCluster,
  type KubeCluster,
  type KubeClusterOptions,
  ReceiveBudget,
  type ServerNote,
  ServerPolicy,
  SharedBudget,
} from '#kube';
import type { ConnectMember } from '#runtime';
import type { LeaderElection } from './leader-election.ts';

interface MemberClientOptions extends Pick<KubeClusterOptions, 'clock' | 'random' | 'logger'> {
  /** Leadership is on the hub: its fence is checked before every write to a member. @default no election */
  readonly election?: Pick<LeaderElection, 'clusterOptions' | 'onLost'>;
  /** Which servers the kubeconfigs may name. @default all but link-local addresses and those of metadata services */
  readonly servers?: ServerPolicy;
  /** Addresses of servers that this process has started itself: nothing about them is noted. @default none */
  readonly ownServers?: readonly string[];
  /** Limits of memory are shares of it. @default the limit of the heap of this process */
  readonly heapBytes?: number;
}

/** Requests in flight to one member. */
const connections = 8;
/** Of one response of a member. Objects have at most 3 MiB; pages of a list are made smaller. */
const maxResponseBytes = 16_777_216;
const lineLength = 8_388_608;
/** Of all responses and watches of one member, in bytes: parsing takes time of the whole runtime. */
const readRate = { burst: 67_108_864, perSecond: 4_194_304 };
/** Of a parsed response or event, in bytes: ordinary objects take three times their text. */
const maxCost = 67_108_864;
/** Of a response or an event: schemas of CRDs, the deepest objects, have some dozens. */
const maxDepth = 1_000;
/** Of the heap, for the objects of one member as JSON. */
const shareOfHeap = 1 / 8;
/** Of the heap, for the objects and incomplete lines of watches of all members. */
const shareOfMembers = 1 / 4;
/** Of the heap, for responses of all members that are being received: beyond it, they wait. */
const shareOfReceived = 1 / 8;

/** Creates the clients of member clusters. */
export function memberClients({
  election,
  servers: policy = new ServerPolicy(),
  ownServers = [],
  heapBytes = getHeapStatistics().heap_size_limit,
  ...shared
}: MemberClientOptions): ConnectMember {
  const cacheLength = heapBytes * shareOfHeap;
  /** A warning is logged once for each member. */
  const noted = new Set<string>();
  const together = new SharedBudget(heapBytes * shareOfMembers);
  const received = new ReceiveBudget({
    clock: shared.clock,
    maxBytes: heapBytes * shareOfReceived,
    maxResponseBytes,
  });
  const jsonLimits = { fromLength: 0, maxCost: Math.min(cacheLength, maxCost), maxDepth };
  const { beforeWrite: fence, shouldSendEvents } = election?.clusterOptions ?? {};
  return (config, options) => {
    const { beforeWrite, onExceeded, onServerNote, onReadWaited, onThrottled, ...rest } = options;
    const logger = shared.logger.child({ cluster: options.name });
    const onNote = (note: ServerNote) => {
      const key = `${options.name} ${note}`;
      if (!noted.has(key)) logger.warn({ note }, 'The address of a member cluster is unusual');
      noted.add(key);
      onServerNote?.(note);
    };
    const share = together.open(() => onExceeded?.('together'));
    const limits = { lineLength, cacheLength, share };
    const cluster: KubeCluster = createKubeCluster({
      ...shared,
      logger,
      servers: { policy, ...(!ownServers.includes(config.server) && { onNote }) },
      config,
      connections,
      maxResponseBytes,
      limits,
      jsonLimits,
      readRate: {
        ...readRate,
        ...(onReadWaited && { onWaited: onReadWaited }),
        ...(onThrottled && { onThrottled }),
      },
      receipts: received.server(),
      isForeign: true,
      ...rest,
      onExceeded: (limit) => onExceeded?.(limit),
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
      share.close();
    };
    return { cluster, close };
  };
}
