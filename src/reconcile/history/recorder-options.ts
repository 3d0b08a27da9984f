import type { HistoryPlan, OperatorPlan } from '../../compile/index.ts';
import type { Cluster } from '../../kube/roles.ts';
import type { Logger, MetricRegistry } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import type { Random } from '../../util/random.ts';
import type { HistoryLimits } from './record-writer.ts';

/** What the recorder of a definition and its parts work with. */
export interface HistoryRecorderOptions {
  readonly plan: OperatorPlan;
  readonly history: HistoryPlan;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  readonly random: Random;
  /** Where the records of cluster-scoped objects are. */
  readonly clusterNamespace: string;
  /** Where the Secret with the keys is. Undefined, for a reader: it is looked for. */
  readonly keysNamespace: string | undefined;
  /** Records are only read: nothing is written. @default false */
  readonly isReadOnly?: boolean;
  readonly keyOfUid: (uid: string) => string | undefined;
  /** Enqueues a resource: `history` or what is reported about it has changed. */
  readonly enqueue: (key: string) => void;
  readonly enqueueAll: () => void;
  /** @default those of docs/definition/history.md#limits */
  readonly limits?: HistoryLimits | undefined;
}
