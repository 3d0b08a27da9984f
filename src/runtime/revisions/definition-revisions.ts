/**
 * The last accepted revisions of definitions, kept in the cluster: what a restart begins with where a source is broken.
 * CONTRACT between the composition, the registry and this room.
 */
import type { LocatedDefinition } from '../../definition/index.ts';
import type { Cluster, KubeError } from '../../kube/roles.ts';
import type { Logger, MetricRegistry } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import type { WantedSet } from '../wanted-definition.ts';
import type { RecordOwner } from './record-owner.ts';

export interface DefinitionRevisionsOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Where they are kept: the runtime's own. */
  readonly namespace: string;
  /** Which records are this process's: what others keep in the namespace is as if it were not there. @default all */
  readonly owner?: RecordOwner;
  /** Have all sources been read? Only then a definition that is not among them is gone. @default always */
  readonly areSourcesRead?: () => boolean;
}

/** The last two accepted revisions of each definition, as ControllerRevisions. */
export interface DefinitionRevisions {
  /**
   * Reads what is on record; where this process leads, records what is accepted, until the signal aborts. Resolves when nothing is in
   * flight any more. Never rejects: without the rights it says so once, and goes without.
   */
  run(signal: AbortSignal): Promise<void>;
  /**
   * By name, newest first: what was accepted last, here or by whoever leads; what is on record; what was when this process began. What this
   * version of Homeostat cannot read is left out.
   */
  known(): ReadonlyMap<string, readonly LocatedDefinition[]>;
  /** Has the server said what is on record, or that it may not be read? Not yet while it is silent. */
  readonly isAnswered: boolean;
  /** Calls back when {@link known} has been read, or is another by the deeds of whoever leads, or when {@link isAnswered} has changed. Returns the unsubscribe function. */
  onKnown(listener: () => void): () => void;
  /** Calls back with the last and with each further try in vain, of a server that has not answered yet. Returns the unsubscribe function. */
  onSilence(listener: (error: KubeError) => void): () => void;
  /** Resolves when {@link known} has been read, or cannot be now: of a silent server nobody waits for it. Rejects when the signal aborts. Only while it runs. */
  whenKnown(signal: AbortSignal): Promise<void>;
  /** This revision was accepted: it goes on record, as the newest. Returns at once. */
  accepted(located: LocatedDefinition): void;
  /** What the sources say now, before any of it is {@link accepted}: the record of a definition that has been gone for ten minutes goes, too. */
  show(wanted: WantedSet): void;
  /** Why nothing is recorded, for people. Undefined: it is. */
  readonly warning: string | undefined;
}
