import { orAborted } from '../util/or-aborted.ts';
import type { TextCheck } from './check-text.ts';
import type { RuntimeView } from './definition-view.ts';
import { createManager, type Manager } from './manager.ts';
import { createDefinitionObjects, type DefinitionObjects } from './objects/index.ts';
import { Registry, type SourceReading, type TextFindings } from './registry/index.ts';
import { GoneDefinitions, RemovalFinalizers, UnreadRemovals } from './removal/index.ts';
import {
  createDefinitionRevisions,
  type DefinitionRevisions,
  withRevisions,
} from './revisions/index.ts';
import type { SharedOptions } from './runner-options.ts';
import type { DefinitionSource } from './sources/index.ts';
import type { DefinitionOrigin, WantedSet } from './wanted-definition.ts';

export interface ClusterRuntimeOptions
  extends Pick<
    SharedOptions,
    'cluster' | 'clock' | 'random' | 'logger' | 'metrics' | 'turns' | 'memory'
  > {
  /** The first one is asked first. */
  readonly sources: readonly DefinitionSource[];
  readonly check: TextCheck;
  /** Of our own objects. */
  readonly namespace: string;
  /** Whose ConfigMaps are read; undefined: none are. */
  readonly definitionsNamespace: string | undefined;
  /** Is the namespace this runtime's own? */
  readonly ownsNamespace: boolean;
  readonly readsDirectories: boolean;
  /** What names this runtime on its objects. */
  readonly name: string;
  /** What is to be said of texts, whenever it is something else than before. */
  readonly onFindings: (findings: readonly TextFindings[]) => void;
}

/**
 * All that has state for one cluster: its sources of definitions, the controllers of the definitions, and what they keep in the cluster.
 * It begins when this process may write, with nothing known, and ends with that, with the process, or with an outage. What must not be
 * lost is in the cluster.
 */
export class ClusterRuntime {
  readonly #cluster: ClusterRuntimeOptions['cluster'];
  readonly #manager: Manager;
  readonly #objects: DefinitionObjects;
  readonly #revisions: DefinitionRevisions;
  readonly #registry: Registry;
  readonly #gone: GoneDefinitions;
  readonly #finalizers: RemovalFinalizers | undefined;
  readonly #unread: UnreadRemovals | undefined;
  /** What has been wanted before knew of no older revisions. */
  readonly #formersKnown = Promise.withResolvers<void>();

  constructor(options: ClusterRuntimeOptions) {
    const { cluster, clock, random, logger, metrics, sources, ...rest } = options;
    const { namespace, definitionsNamespace, ownsNamespace, readsDirectories } = rest;
    const world = { cluster, clock, random, logger, metrics };
    const covers = (origin: DefinitionOrigin) => sources.some((source) => source.covers(origin));
    this.#cluster = cluster;
    this.#revisions = createDefinitionRevisions({
      ...world,
      namespace,
      owner: { covers, readsDirectories, ownsNamespace },
      areSourcesRead: () => this.#registry.isRead,
    });
    this.#gone = new GoneDefinitions({
      recorded: () => this.#revisions.known(),
      isAllKnown: () => this.#registry.isRead,
    });
    this.#manager = createManager({
      ...world,
      whenFormersKnown: async (signal, onFailure) => {
        const unsubscribe = this.#revisions.onSilence(onFailure);
        await orAborted(this.#formersKnown.promise, signal).finally(unsubscribe);
      },
      onAccepted: (located) => this.#revisions.accepted(located),
      onFinished: (name) => {
        this.#gone.finished(name);
        this.#registry.refresh();
      },
      // Who may write there would write definitions, and those work with our rights.
      guardedNamespaces: new Set([namespace, definitionsNamespace ?? namespace]),
      ...(rest.turns && { turns: rest.turns }),
      ...(rest.memory && { memory: rest.memory }),
    });
    this.#objects = createDefinitionObjects({
      ...world,
      views: () => this.#manager.view().definitions,
      covers: (origin) => this.#registry.covers(origin),
      runtime: rest.name,
      ...(definitionsNamespace === undefined ? {} : { definitionsNamespace }),
    });
    const readsObjects = covers({ source: 'object', ref: '' });
    this.#finalizers = readsObjects ? new RemovalFinalizers(world) : undefined;
    this.#unread = readsObjects
      ? undefined
      : new UnreadRemovals({ objects: this.#objects, logger });
    this.#registry = new Registry({
      sources,
      clock,
      logger,
      check: rest.check,
      known: () => withRevisions(this.#objects.known(), this.#revisions.known()),
      whenKnown: (signal) =>
        Promise.all([this.#objects.whenKnown(signal), this.#revisions.whenKnown(signal)]),
      onFindings: rest.onFindings,
      onWanted: (wanted) => this.#show(wanted),
    });
  }

  /** Until the signal aborts and every pass has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const stops = [
      this.#objects.onKnown(() => this.#registry.refresh()),
      this.#revisions.onKnown(() => this.#registry.refresh()),
      this.#manager.onChange(() => this.#objects.viewsChanged()),
    ];
    const parts = [
      this.#registry,
      this.#manager,
      this.#objects,
      this.#revisions,
      this.#finalizers,
      this.#unread,
    ];
    try {
      await Promise.all(parts.map((part) => part?.run(signal)));
    } finally {
      for (const stop of stops) stop();
    }
  }

  /** What cannot be read or kept belongs to the picture: a definition that is not known has no line of its own. */
  get view(): RuntimeView {
    const view = this.#manager.view();
    const { sources } = this.#registry;
    const keepers = [this.#objects, this.#revisions, this.#unread];
    const troubles = sources.flatMap(({ name, isRead, trouble }) =>
      isRead && trouble !== undefined ? `${name}: ${trouble}` : [],
    );
    const warnings = keepers.flatMap((keeper) => keeper?.warning ?? []);
    return {
      ...view,
      unread: sources.filter(({ isRead }) => !isRead).map(unreadText),
      warnings: [...view.warnings, ...troubles, ...warnings],
    };
  }

  /** Brings gauges up to date, for a scrape. */
  observe(): void {
    this.#manager.observe();
    this.#cluster.observe();
  }

  #show(found: WantedSet): void {
    const wanted = this.#gone.with(found);
    this.#manager.replace(wanted);
    if (this.#revisions.isAnswered) this.#formersKnown.resolve();
    this.#objects.show(wanted);
    this.#revisions.show(wanted);
    this.#finalizers?.show(wanted);
  }
}

function unreadText({ name, trouble }: SourceReading): string {
  return trouble === undefined ? name : `${name} (${trouble})`;
}
