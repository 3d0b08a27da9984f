import type { ManifestCheck } from '../check/index.ts';
import type { CacheEvent } from '../kube/roles.ts';
import { rightText } from '../reconcile/index.ts';
import { metricCatalogue } from '../telemetry/roles.ts';
import type { KubeObject } from '../util/kube-object.ts';
import type { RejectedFile, RuntimeView } from './definition-view.ts';
import type { StatusEvent } from './definitions/definition-status.ts';
import { DefinitionsController } from './definitions/definitions-controller.ts';
import type { DefinitionOrigin, DesiredDefinition } from './desired-definition.ts';
import { clusterGvk } from './members/cluster-kind.ts';
import {
  ClustersController,
  type ClustersControllerOptions,
} from './members/clusters-controller.ts';
import { ConfigMapEvents } from './objects/config-map-events.ts';
import { operatorDefinitionKind } from './objects/definition-crd.ts';
import { isWriteOf } from './objects/names.ts';
import { OwnObjectInformer } from './objects/own-object-informer.ts';
import type { Manifests, SourceState } from './publish/manifest-reader.ts';
import { FindingsTracker, type ParsedManifest } from './publish/parsed-manifest.ts';
import type { RejectedClaim } from './publish/publish-plan.ts';
import { Publisher } from './publish/publisher.ts';
import type { SharedOptions } from './runner-options.ts';
import type { DefinitionSource } from './sources/definition-source.ts';
import { ViewChangeNotifier } from './view-change-notifier.ts';

export interface ClusterRuntimeOptions
  extends Omit<SharedOptions, 'notifier' | 'members' | 'runtime' | 'hub'> {
  /** Sources whose manifests are published. On a name conflict, earlier sources win. */
  readonly sources: readonly DefinitionSource[];
  readonly check: ManifestCheck;
  /** Whether the runtime runs `OperatorDefinition` objects that users create. */
  readonly readsObjects: boolean;
  /**
   * Namespaces where the runtime never reads or writes for resources of other namespaces: write access there grants the runtime's rights.
   */
  readonly guardedNamespaces: ReadonlySet<string>;
  /** Namespace of the definition ConfigMaps, for Events on them. Undefined: none are read. */
  readonly definitionsNamespace: string | undefined;
  /** Name of this runtime, as a label value. Unique in the cluster. */
  readonly name: string;
  /** Name of a removed runtime whose objects this one takes over. @default undefined: none */
  readonly takeOverFrom?: string;
  /** Delays after a manifest is removed: until the definition stops, and until its object is deleted. In ms. @default 30_000 and 600_000 */
  readonly withdrawalDelays?: { readonly stopMs: number; readonly deleteMs: number };
  /** How member clusters are reached. @default undefined: the runtime has no members */
  readonly members?: Pick<ClustersControllerOptions, 'secrets' | 'connect'>;
  /** Called with new findings whenever they change. */
  readonly onFindings: (findings: readonly ParsedManifest[]) => void;
}

/**
 * Holds all state for one cluster: the publisher, the controller of definitions, and their operators. Starts empty when this process
 * becomes leader; ends when leadership, the process or the connection ends. Durable state is stored in the cluster.
 */
export class ClusterRuntime {
  readonly #options: ClusterRuntimeOptions;
  readonly #notifier: ViewChangeNotifier;
  readonly #objects: OwnObjectInformer;
  readonly #publisher: Publisher;
  readonly #controller: DefinitionsController;
  readonly #clusters: ClustersController | undefined;
  readonly #findings = new FindingsTracker();
  #configMapEvents: ConfigMapEvents | undefined;

  constructor(options: ClusterRuntimeOptions) {
    const {
      cluster,
      clock,
      random,
      logger,
      metrics,
      check,
      name: runtime,
      withdrawalDelays: patience,
    } = options;
    const shared = { cluster, clock, random, logger, metrics };
    this.#options = options;
    this.#notifier = new ViewChangeNotifier(clock);
    this.#objects = new OwnObjectInformer({
      ...shared,
      kind: operatorDefinitionKind,
      onEvent: (event) => this.#onObjectEvent(event),
      onSynced: () => {
        // Known from the discovery of the group: no request.
        if (cluster.resourceFor(clusterGvk) !== undefined) this.#clusters?.activate();
        this.#publisher.enqueueAll();
        this.#controller.enqueueAll();
      },
      onGone: () => this.#controller.enqueueAll(),
    });
    const onEvent = (event: StatusEvent, object: KubeObject, origin: DefinitionOrigin) =>
      this.#record(event, object, origin);
    this.#publisher = new Publisher({
      ...shared,
      sources: options.sources,
      check,
      runtime,
      onEvent,
      objects: this.#objects,
      ...(patience && { deleteDelayMs: patience.deleteMs }),
      onManifests: (manifests) => this.#onManifests(manifests),
      onConfirmation: (name) => this.#controller.enqueue(name),
      onRejectedClaims: (rejected) => this.#onRejectedClaims(rejected),
    });
    const { members, ...rest } = options;
    this.#clusters =
      members &&
      new ClustersController({
        ...rest,
        ...members,
        notifier: this.#notifier,
        runtime,
        onDefinition: (name) => this.#controller.enqueue(name),
      });
    const clusters = this.#clusters;
    this.#controller = new DefinitionsController({
      ...rest,
      ...(clusters && { members: clusters, memberTasks: clusters }),
      runtime,
      onEvent,
      notifier: this.#notifier,
      objects: this.#objects,
      manifests: this.#publisher,
      ...(patience && { stopDelayMs: patience.stopMs }),
    });
  }

  /** Runs until the signal aborts and every reconcile has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { cluster, logger, definitionsNamespace: namespace } = this.#options;
    if (namespace !== undefined)
      this.#configMapEvents = new ConfigMapEvents({ cluster, namespace, logger });
    try {
      const always = [this.#objects, this.#publisher, this.#controller];
      const parts = this.#clusters === undefined ? always : [...always, this.#clusters];
      await Promise.all(parts.map((part) => part.run(signal)));
    } finally {
      this.#configMapEvents?.stop();
      this.#notifier.stop();
    }
  }

  /** Calls the listener soon after {@link view} may have changed, once for many changes. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void {
    return this.#notifier.subscribe(listener);
  }

  /** Lists unread sources, too: their definitions have no entry of their own. */
  get view(): Omit<RuntimeView, 'isStopping'> {
    const { cluster } = this.#options;
    const { sources } = this.#publisher;
    const errors = sources.flatMap(({ name, isRead, error }) =>
      isRead && error !== undefined ? `${name}: ${error}` : [],
    );
    const objects = {
      name: 'OperatorDefinition objects',
      isRead: this.#objects.isSynced,
      ...(this.#objects.error !== undefined && { error: this.#objects.error }),
    };
    return {
      unreachable: cluster.unreachable,
      definitions: this.#controller.views,
      rejected: this.#rejectedFiles(),
      unreadSources: [objects, ...sources].filter(({ isRead }) => !isRead).map(unreadText),
      warnings: [
        ...eventsRejected(cluster.eventsDenied),
        ...errors,
        ...this.#rejectedClaims.map(({ message }) => message),
      ],
    };
  }

  /** Whether the sources were read, and each definition in them has an entry in {@link view} or cannot be published. */
  get isPublished(): boolean {
    const { manifests, rejected } = this.#publisher;
    if (manifests === undefined || !this.#objects.isSynced) return false;
    const names = new Set(this.#controller.views.map(({ name }) => name));
    return [...manifests.claims.keys()].every((name) => names.has(name) || rejected.has(name));
  }

  /** The definitions that run or are starting. */
  get desired(): readonly DesiredDefinition[] {
    return this.#controller.desired;
  }

  /** Updates the gauges before a scrape. */
  observe(): void {
    this.#controller.observe();
    this.#clusters?.observe();
    this.#options.cluster.observe();
    const states = this.#options.metrics.gauge(metricCatalogue.definitions);
    const views = this.#controller.views;
    for (const kind of metricCatalogue.definitions.values.state)
      states.set(views.filter(({ state }) => state.kind === kind).length, [kind]);
  }

  #onObjectEvent({ name, pass }: CacheEvent): void {
    if (!isWriteOf('publisher', pass)) this.#publisher.enqueue(name);
    if (!isWriteOf('controller', pass)) this.#controller.enqueue(name);
  }

  #onManifests(manifests: Manifests): void {
    const findings = this.#findings.update(manifests.parsed);
    if (findings.length > 0) this.#options.onFindings(findings);
    this.#recordManifestErrors();
    this.#controller.enqueueAll();
    this.#notifier.notify();
  }

  #onRejectedClaims(rejected: readonly RejectedClaim[]): void {
    for (const { name, manifest, message } of rejected)
      this.#options.logger.warn(
        { definition: name, file: manifest.file, reason: message },
        'Manifest is not published',
      );
    this.#recordManifestErrors();
    this.#notifier.notify();
  }

  /** Records errors that no object shows as Events on the ConfigMap. */
  #recordManifestErrors(): void {
    const withoutName = (this.#publisher.manifests?.parsed ?? []).flatMap(
      ({ manifest: { origin }, otherErrors: lines }) =>
        lines.length === 0 ? [] : [{ origin, note: lines.join('\n') }],
    );
    const lost = this.#rejectedClaims.map(({ name, manifest: { origin }, message }) => {
      return { origin, name, note: message };
    });
    this.#configMapEvents?.recordErrors([...withoutName, ...lost]);
  }

  #record(event: StatusEvent, regarding: KubeObject, origin: DefinitionOrigin): void {
    const { name } = regarding.metadata;
    this.#options.cluster.events.record({ ...event, regarding, definition: name });
    this.#configMapEvents?.recordEvent(name, origin, event);
  }

  #rejectedFiles(): readonly RejectedFile[] {
    return (this.#publisher.manifests?.parsed ?? []).flatMap(
      ({ manifest: text, documents, otherErrors }) => {
        const rejected = documents.filter(({ located }) => located === undefined);
        const diagnostics = [...rejected.flatMap(({ errors }) => errors), ...otherErrors];
        return diagnostics.length === 0 ? [] : [{ file: text.file, diagnostics }];
      },
    );
  }

  get #rejectedClaims(): readonly RejectedClaim[] {
    return [...this.#publisher.rejected.values()].flat();
  }
}

function unreadText({ name, error }: SourceState): string {
  return error === undefined ? name : `${name} (${error})`;
}

function eventsRejected(rejected: SharedOptions['cluster']['eventsDenied']): readonly string[] {
  if (rejected === undefined) return [];
  const { right, namespaces } = rejected;
  const reason =
    right === undefined ? 'the runtime is not allowed to create them' : rightText(right);
  const elsewhere = namespaces > 1 ? ` (also denied in ${namespaces - 1} other namespaces)` : '';
  return [`Events cannot be written: ${reason}${elsewhere}`];
}
