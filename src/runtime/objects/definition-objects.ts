/**
 * What the cluster shows of definitions: one `OperatorDefinition` for each, whatever its source (definition.md section 9).
 * CONTRACT between the composition, the registry and this room.
 */
import type { Logger, MetricRegistry } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { KnownDefinition } from '../registry/known-definition.ts';
import type { RuntimeCluster } from '../runtime-cluster.ts';
import type { DefinitionOrigin, WantedSet } from '../wanted-definition.ts';

export interface DefinitionObjectsOptions {
  readonly cluster: RuntimeCluster;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Where each definition stands now (`manager.view().definitions`). Asked at most a few times a second. */
  readonly views: () => readonly DefinitionView[];
  /** The namespace whose ConfigMaps are read, for Events on them. @default undefined: none are */
  readonly definitionsNamespace?: string;
  /**
   * Is the text of a mirror one that this process reads, and has read? Only then its absence says that it is gone, and the mirror goes.
   * @default always
   */
  readonly covers?: (origin: DefinitionOrigin) => boolean;
  /** Whose directories this process reads, the same for all its replicas and from start to start. @default undefined: of whoever has that path */
  readonly runtime?: string;
}

/** Keeps the objects of all definitions as they should be: mirrors, status, Events. */
export interface DefinitionObjects {
  /**
   * Follows the objects, and where this process leads installs their CRD and keeps them, until the signal aborts. Resolves when nothing is in
   * flight any more. Never rejects: without the rights it says so once, and goes without.
   */
  run(signal: AbortSignal): Promise<void>;
  /** What the sources say now. Called at every change of them, before or while {@link run} goes on. */
  show(wanted: WantedSet): void;
  /** Some view may have changed. Costs nothing: views are looked at later, once for many calls. */
  viewsChanged(): void;
  /** The objects as they are, mirrors among them, as far as they are followed. */
  list(): Iterable<KubeObject>;
  /** What stands on the objects: `approve-deletions`, `paused`, and of mirrors where their text stood. For the registry. */
  known(): ReadonlyMap<string, KnownDefinition>;
  /** Resolves when {@link known} has been read, or cannot be; rejects when the signal aborts. Only while it runs. */
  whenKnown(signal: AbortSignal): Promise<void>;
  /** Calls back whenever {@link known} answers otherwise. Returns the unsubscribe function. */
  onKnown(listener: () => void): () => void;
  /** Why there are no objects, for people. Undefined: there are. */
  readonly warning: string | undefined;
}
