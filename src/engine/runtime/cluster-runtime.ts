import type { ManifestCheck } from '#check';
import type { CacheEvent } from '#kube/roles.ts';
import { rightText } from '#reconcile';
import { metricCatalogue } from '#telemetry/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { CaBundles } from './crd/conversion/ca-bundles.ts';
import { webhookRunner } from './crd/conversion/webhook-runner.ts';
import type { RejectedFile, RuntimeView } from './definition-view.ts';
import { DefinitionsController } from './definitions/definitions-controller.ts';
import { here, type TaskPlaces } from './definitions/task-places.ts';
import type { DefinitionOrigin, DesiredDefinition } from './desired-definition.ts';
import { Installations } from './install/installations.ts';
import { clusterGvk } from './members/cluster-kind.ts';
import {
  ClustersController,
  type ClustersControllerOptions,
} from './members/clusters-controller.ts';
import { MemberPlaces } from './members/member-places.ts';
import { ConfigMapEvents } from './objects/config-map-events.ts';
import { operatorDefinitionKind } from './objects/definition-crd.ts';
import { isOwnWrite } from './objects/names.ts';
import { type OwnController, OwnControllerRunner } from './objects/own-controller.ts';
import { OwnObjectInformer } from './objects/own-object-informer.ts';
import { ownSchemas } from './objects/own-schemas.ts';
import type { Manifests, SourceState } from './publish/manifest-reader.ts';
import { FindingsTracker, type ParsedManifest } from './publish/parsed-manifest.ts';
import type { RejectedClaim } from './publish/publish-plan.ts';
import { Publisher } from './publish/publisher.ts';
import type { SharedOptions } from './runner-options.ts';
import type { DefinitionSource } from './sources/definition-source.ts';
import { ViewChangeNotifier } from './view-change-notifier.ts';
import type { StatusEvent } from './view-part.ts';

export interface ClusterRuntimeOptions extends Omit<SharedOptions, 'members' | 'runtime' | 'hub'> {
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
  /** Controllers of own kinds, which run when they are needed. @default none */
  readonly ownControllers?: readonly OwnController[];
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
  readonly #ownControllers: readonly OwnControllerRunner[];
  readonly #caBundles: CaBundles | undefined;
  readonly #webhook: { run(signal: AbortSignal): Promise<void> } | undefined;
  readonly #findings = new FindingsTracker();
  #configMapEvents: ConfigMapEvents | undefined;
  /** Only this cluster, until something uses members: a runtime without them pays nothing for them. */
  #places: TaskPlaces = here;

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
    this.#ownControllers = (options.ownControllers ?? []).map(
      (controller) => new OwnControllerRunner(controller, shared),
    );
    const { conversion: target } = options;
    this.#webhook = target && webhookRunner(target, shared);
    this.#caBundles =
      target?.authority &&
      new CaBundles({ ...shared, target, authority: target.authority, runtime });
    this.#objects = new OwnObjectInformer({
      ...shared,
      kind: operatorDefinitionKind,
      onEvent: (event) => this.#onObjectEvent(event),
      onSynced: () => {
        // Known from the discovery of the group: no request.
        if (cluster.resourceFor(clusterGvk) !== undefined) this.#clusters?.activate();
        for (const each of this.#ownControllers) each.noteServed();
        this.#controller.enqueueAll();
        this.#clusters?.giveUpGone();
        // Without an object, no view changes.
        this.#notifier.notify();
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
      enqueue: (name, isUrgent) => this.#controller.enqueue(name, isUrgent ? 'normal' : 'low'),
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
        isGone: (name) => this.#isGone(name),
        onDefinition: (name) => this.#controller.enqueue(name),
        onUsed: (found) => this.#useMembers(found),
        listenerOf: (name) => this.#controller.listenerOf(name),
      });
    const clusters = this.#clusters;
    const ownKinds = (options.ownControllers ?? []).flatMap(({ kinds }) => kinds);
    const ownSchema = ownSchemas(ownKinds);
    this.#controller = new DefinitionsController({
      ...rest,
      ownSchema,
      installs: new Installations({
        ...rest,
        ownSchema,
        objects: this.#objects,
        listenerOf: (name) => this.#controller.listenerOf(name),
      }),
      ...(clusters && { members: clusters }),
      places: () => this.#places,
      runtime,
      onEvent,
      notifier: this.#notifier,
      onTask: (task) => {
        clusters?.noteTask(task);
        if (task.kind !== 'run') return;
        const { definition } = task.desired.located;
        for (const each of this.#ownControllers) each.noteDefinition(definition);
      },
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
      const always = [
        ...[this.#objects, this.#publisher, this.#controller],
        ...this.#ownControllers,
        ...(this.#caBundles === undefined ? [] : [this.#caBundles]),
        ...(this.#webhook === undefined ? [] : [this.#webhook]),
      ];
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
    for (const each of this.#ownControllers) each.observe();
    this.#options.cluster.observe();
    const states = this.#options.metrics.gauge(metricCatalogue.definitions);
    const views = this.#controller.views;
    for (const kind of metricCatalogue.definitions.values.state)
      states.set(views.filter(({ state }) => state.kind === kind).length, [kind]);
  }

  /** The tasks of all definitions are set anew: the members do not know them yet. */
  #useMembers(found: ClustersController): void {
    this.#places = new MemberPlaces(found);
    this.#controller.enqueueAll();
  }

  #onObjectEvent({ name, pass, current }: CacheEvent): void {
    // The reconcile that has written it continues with the answer, unless the object is gone.
    if (!isOwnWrite(pass) || current === undefined) this.#controller.enqueue(name);
  }

  #onManifests(manifests: Manifests): void {
    const findings = this.#findings.update(manifests.parsed);
    if (findings.length > 0) this.#options.onFindings(findings);
    this.#recordManifestErrors();
    this.#controller.enqueueAll();
    this.#clusters?.giveUpGone();
    this.#notifier.notify();
  }

  /** Whether there is no definition of that name, and none can come from a manifest. */
  #isGone(name: string): boolean {
    const { manifests } = this.#publisher;
    const isKnown = this.#objects.isSynced && manifests !== undefined;
    return isKnown && this.#objects.get(name) === undefined && !manifests.claims.has(name);
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
