import type { HistoryPlan, OperatorPlan } from '#compile';
import type { Cluster } from '#kube/roles.ts';
import type { Logger, MetricRegistry } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import type { Gvk } from '#util/gvk.ts';
import type { Random } from '#util/random.ts';
import type { HistoryLimits } from './record-writer.ts';

/** What the recorder of a definition works with. */
export interface HistoryRecorderOptions {
  readonly definition: string;
  /** The kind of its resources. */
  readonly kind: Gvk;
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
  /** @default those of docs/definition/history.md#limits */
  readonly limits?: HistoryLimits | undefined;
}

/** An active revision of the definition that keeps versions. Each watches all resources; a resource belongs to one of them. */
export interface RecordingRevision {
  readonly plan: OperatorPlan;
  readonly history: HistoryPlan;
  readonly keyOfUid: (uid: string) => string | undefined;
  /** Enqueues a resource, if it is of this revision: `history` or what is reported about it has changed. */
  readonly enqueue: (key: string) => void;
  readonly enqueueAll: () => void;
}

/** What the parts of a recorder work with. */
export interface RecorderPartOptions
  extends HistoryRecorderOptions,
    Pick<RecordingRevision, 'keyOfUid' | 'enqueue'> {}
