import type { ManifestCheck } from '#check';
import {
  type Diagnostic,
  formatDiagnostics,
  isPlaced,
  type LocatedDefinition,
  type LocatedObject,
  type OperatorDefinition,
  runsInMembers,
  worksInMembers,
} from '#definition';
import type { KubeCluster } from '#kube';
import {
  ClusterRuntime,
  type ClusterRuntimeOptions,
  clusterGvk,
  type DefinitionSource,
  type DefinitionView,
  type DesiredDefinition,
  hasPendingPolicies,
  isStarting,
  type ParsedManifest,
  queuesOf,
  type ReconcileObserver,
  watchFolders,
} from '#runtime';
import { createMetricRegistry, type Logger } from '#telemetry';
import type { Clock } from '#util/clock.ts';
import { apiVersionOf, type Gvk } from '#util/gvk.ts';
import { messageOf } from '#util/homeostat-error.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { TreeNode } from '#util/object-tree/object-tree.ts';
import { pause } from '#util/pause.ts';
import type { Random } from '#util/random.ts';
import { unlimitedTimeSlicer } from '#util/time-slicer.ts';
import { definitionChanges } from './definition-changes.ts';
import { SampleApplier, SampleFolder } from './samples.ts';
import { TreeWatcher, type TreeWatcherOptions } from './tree/tree-watcher.ts';

export interface DevSessionOptions {
  readonly cluster: KubeCluster;
  /** How the runtime reaches its member clusters, and clients of all of them. @default undefined: there are none */
  readonly members?: NonNullable<ClusterRuntimeOptions['members']> & {
    readonly clusters: readonly KubeCluster[];
  };
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Controllers of own kinds. @default none */
  readonly ownControllers?: ClusterRuntimeOptions['ownControllers'];
  /** Where the API server has objects converted. @default undefined: nowhere */
  readonly conversion?: ClusterRuntimeOptions['conversion'];
  /** Resources that all definitions share. */
  readonly capacity?: Pick<ClusterRuntimeOptions, 'timeSlicer' | 'memory'>;
  /** Records reconciles for the console. @default undefined: nothing is recorded */
  readonly observer?: ReconcileObserver;
  /** Where definitions are saved. */
  readonly sources: readonly DefinitionSource[];
  /** Namespace of the ConfigMaps with definitions. */
  readonly definitionsNamespace: string;
  readonly check: ManifestCheck;
  /** See `SharedOptions`: a simulated cluster needs none. @default that of a real cluster */
  readonly schemaDelayMs?: number;
  /** Where samples are; undefined = none are applied. */
  readonly samplesFolder: string | undefined;
  /** Apply the samples at the start? Those that are saved later are applied in any case. */
  readonly appliesSamples: boolean;
  /** Finds mistakes in samples of these definitions before they are applied. */
  readonly checkSamples: (
    objects: readonly LocatedObject[],
    definitions: readonly LocatedDefinition[],
  ) => readonly Diagnostic[];
  readonly hasColor: boolean;
  /** A line for people. `content`: see {@link Screen.print}. */
  readonly print: (text: string, content?: 'plain' | 'colored') => void;
  /** Called with the errors of files that changed, and with all errors that exist now. Both may be empty. */
  readonly onErrors: (changed: string, all: string) => void;
  readonly onTree: TreeWatcherOptions['onTree'];
}

/** Interval at which the states of definitions are read, in ms. Reads memory, sends no request. */
const statePollMs = 10;

/** Runs definitions while they are edited: starts them, applies samples, shows the resulting objects, and reloads saved files. */
export class DevSession {
  readonly #options: DevSessionOptions;
  readonly #samples: SampleApplier;
  readonly #sampleFolder: SampleFolder | undefined;
  readonly #tree: TreeWatcher;
  readonly #memberTrees: readonly TreeWatcher[];
  /** The newest tree of the hub and of each member. */
  readonly #trees = new Map<string, readonly TreeNode[]>();
  #runtime: ClusterRuntime | undefined;
  /** Undefined: the definitions of the start have not settled. */
  #running: readonly DesiredDefinition[] | undefined;
  #isStarting = false;
  /** Last printed state by definition. */
  readonly #printed = new Map<string, string>();
  /** Files with errors, those found last at the end. */
  readonly #findings = new Map<string, ParsedManifest>();
  /** Serialises reloads: each one compares with the state that the previous one left. */
  #turns = Promise.resolve();

  constructor(options: DevSessionOptions) {
    const { cluster, clock, onTree, print, hasColor, samplesFolder: folder } = options;
    this.#options = options;
    this.#samples = new SampleApplier({
      print,
      clustersFor: (object) => (this.#runsInMembers(object) ? this.#members : [cluster]),
    });
    this.#sampleFolder =
      folder === undefined
        ? undefined
        : new SampleFolder({
            folder,
            applier: this.#samples,
            print,
            hasColor,
            check: (objects) =>
              options.checkSamples(
                objects,
                (this.#running ?? []).map(({ located }) => located),
              ),
          });
    const showTrees = (name: string): TreeWatcherOptions['onTree'] => {
      return (tree, rootKinds) => {
        this.#trees.set(name, tree);
        onTree(this.#allTrees(), rootKinds);
      };
    };
    this.#tree = new TreeWatcher({ watcher: cluster, clock, onTree: showTrees('') });
    this.#memberTrees = this.#members.map(
      (watcher) => new TreeWatcher({ watcher, clock, onTree: showTrees(watcher.name) }),
    );
  }

  get #members(): readonly KubeCluster[] {
    return this.#options.members?.clusters ?? [];
  }

  /** Whether an object is a resource of a definition that runs in members, or the CRD of such resources. */
  #runsInMembers(object: KubeObject): boolean {
    return (this.#running ?? []).some(({ located: { definition } }) => {
      const { gvk } = definition.kind;
      const { apiVersion, kind } = object;
      const isOfKind = apiVersionOf(gvk) === apiVersion && gvk.kind === kind;
      return runsInMembers(definition) && (isOfKind || isCrdOf(object, gvk));
    });
  }

  /** The tree of the hub, then a branch for each member. */
  #allTrees(): readonly TreeNode[] {
    const branches = this.#members.flatMap(({ name }) => {
      const children = this.#trees.get(name) ?? [];
      if (children.length === 0) return [];
      const object = { apiVersion: apiVersionOf(clusterGvk), kind: 'Cluster', metadata: { name } };
      return [{ object: { ...object, metadata: { name, uid: name } }, children }];
    });
    return [...(this.#trees.get('') ?? []), ...branches];
  }

  /** Numbers of resources in the work queues, by definition. */
  get queues(): Readonly<Record<string, number>> {
    return queuesOf(this.#runtime?.view ?? { definitions: [] });
  }

  /** Resolves when the signal has aborted and every reconcile has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { cluster, clock, random, logger, capacity, sources, check, observer, schemaDelayMs } =
      this.#options;
    const metrics = createMetricRegistry();
    const runtime = new ClusterRuntime({
      cluster,
      clock,
      random,
      logger,
      metrics,
      sources,
      check,
      timeSlicer: unlimitedTimeSlicer,
      ...capacity,
      ...(observer && { observer }),
      // The schema changes often during development, and the samples are applied again.
      allowBreakingChanges: true,
      ...(schemaDelayMs !== undefined && { schemaDelayMs }),
      readsObjects: true,
      guardedNamespaces: new Set(),
      definitionsNamespace: this.#options.definitionsNamespace,
      name: 'dev',
      withdrawalDelays: { stopMs: 1_000, deleteMs: 10_000 },
      ...(this.#options.members && { members: this.#options.members }),
      ...(this.#options.conversion && { conversion: this.#options.conversion }),
      ...(this.#options.ownControllers && { ownControllers: this.#options.ownControllers }),
      onFindings: (findings) => this.#reportFindings(findings),
    });
    this.#runtime = runtime;
    const stops = [runtime.onChange(() => this.#see(runtime, signal)), this.#watchSamples(signal)];
    try {
      await runtime.run(signal);
      await this.#turns;
    } finally {
      for (const stop of stops) stop();
      for (const tree of [this.#tree, ...this.#memberTrees]) tree.stop();
    }
  }

  /** Handles a possible change. */
  #see(runtime: ClusterRuntime, signal: AbortSignal): void {
    const before = this.#running;
    if (before === undefined) {
      if (this.#isStarting || !runtime.isPublished) return;
      this.#isStarting = true;
      this.#inTurn(() => this.#start(runtime, signal), signal);
      return;
    }
    const now = runtime.desired;
    if (JSON.stringify(before.map(identityOf)) !== JSON.stringify(now.map(identityOf))) {
      this.#running = now;
      this.#inTurn(() => this.#take({ before, now, runtime }, signal), signal);
    }
    this.#reportStates(runtime);
  }

  #inTurn(work: () => Promise<void>, signal: AbortSignal): void {
    const { print } = this.#options;
    this.#turns = this.#turns.then(work).catch((error: unknown) => {
      if (!signal.aborted) print(messageOf(error));
    });
  }

  async #start(runtime: ClusterRuntime, signal: AbortSignal): Promise<void> {
    await this.#whenSettled(runtime, signal);
    await this.#whenOwnKindsServed(signal);
    this.#running = runtime.desired;
    this.#follow(this.#running);
    await this.#sampleFolder?.start(this.#options.appliesSamples, signal);
  }

  async #take({ before, now, runtime }: DefinitionUpdate, signal: AbortSignal): Promise<void> {
    for (const text of definitionChanges(before, now)) this.#options.print(text);
    await this.#whenSettled(runtime, signal);
    // After the definitions have started: informers for kinds that do not exist yet would wait before they retry.
    this.#follow(runtime.desired);
    await this.#samples.retry(signal);
    await this.#sampleFolder?.retry(signal);
  }

  #reportFindings(findings: readonly ParsedManifest[]): void {
    const { print, onErrors, hasColor } = this.#options;
    for (const found of findings) {
      const { file } = found.manifest;
      this.#findings.delete(file);
      if (found.diagnostics.length === 0) print(`File ${file} has no errors any more`);
      else this.#findings.set(file, found);
    }
    const newestFirst = [...this.#findings.values()].reverse();
    onErrors(findingsText(findings, hasColor), findingsText(newestFirst, hasColor));
  }

  #watchSamples(signal: AbortSignal): () => void {
    const { samplesFolder, clock, logger } = this.#options;
    const folder = this.#sampleFolder;
    if (folder === undefined || samplesFolder === undefined) return () => {};
    return watchFolders({
      folders: [samplesFolder],
      clock,
      onChange: (names) => this.#inTurn(() => folder.changed(names, signal), signal),
      onFailure: (err) => logger.warn({ err }, 'A folder is not watched any more'),
    });
  }

  #follow(definitions: readonly DesiredDefinition[]): void {
    const all = definitions.map(({ located }) => located.definition);
    const kindsOf = (some: readonly OperatorDefinition[]) => ({
      roots: some.map(({ kind }) => kind.gvk),
      children: some.flatMap(({ children }) => children.map(({ gvk }) => gvk)),
    });
    const hub = kindsOf(all.filter((each) => !runsInMembers(each)));
    this.#tree.watch({ ...hub, roots: [...hub.roots, ...this.#ownKinds] });
    const placed = all.flatMap(({ children }) => children.filter(isPlaced).map(({ gvk }) => gvk));
    for (const tree of this.#memberTrees)
      tree.watch({ ...kindsOf(all.filter(runsInMembers)), placed });
  }

  /** Own kinds that are served without a definition. */
  get #ownKinds(): readonly Gvk[] {
    const controllers = this.#options.ownControllers ?? [];
    return controllers
      .filter(({ isAlwaysServed }) => isAlwaysServed)
      .flatMap(({ kinds }) => kinds.map(({ gvk }) => gvk));
  }

  /** Samples of these kinds would be rejected before. */
  async #whenOwnKindsServed(signal: AbortSignal): Promise<void> {
    const { cluster, clock } = this.#options;
    const isMissing = () => this.#ownKinds.some((gvk) => cluster.resourceFor(gvk) === undefined);
    while (!signal.aborted && isMissing()) await pause(clock, statePollMs, signal);
  }

  /** Waits until each definition runs or has failed. */
  async #whenSettled(runtime: ClusterRuntime, signal: AbortSignal): Promise<void> {
    const hasPending = () => {
      const desired = desiredByName(runtime);
      return runtime.view.definitions.some((view) => this.#isPending(view, desired));
    };
    while (!signal.aborted && hasPending()) await pause(this.#options.clock, statePollMs, signal);
    if (!signal.aborted) this.#reportStates(runtime);
  }

  #reportStates(runtime: ClusterRuntime): void {
    const { definitions } = runtime.view;
    const names = new Set(definitions.map(({ name }) => name));
    for (const name of this.#printed.keys()) if (!names.has(name)) this.#printed.delete(name);
    const desired = desiredByName(runtime);
    for (const view of definitions)
      if (!this.#isPending(view, desired)) this.#reportState(view, desired);
  }

  /** One that runs in members never starts in a session without them. */
  #isPending(view: DefinitionView, desired: DesiredByName): boolean {
    if (!isStarting(view) && !hasPendingPolicies(view)) return false;
    const definition = desired.get(view.name)?.located.definition;
    return this.#options.members !== undefined || definition?.controller.clusters === undefined;
  }

  #reportState(view: DefinitionView, desired: DesiredByName): void {
    const { name, revision, state } = view;
    if (this.#reportRejection(view)) return;
    const definition = desired.get(name)?.located.definition;
    const lacksMembers =
      this.#members.length === 0 && definition !== undefined && worksInMembers(definition);
    const note = lacksMembers
      ? ', and uses member clusters: "homeostat dev --clusters 3" simulates them'
      : '';
    const text =
      state.kind === 'failing' || state.kind === 'rejected'
        ? `Operator "${name}" does not run: ${state.message}`
        : `Operator "${name}" is running${note}`;
    if (this.#printed.get(name) === revision + text) return;
    this.#printed.set(name, revision + text);
    this.#options.print(text);
    if (state.kind === 'rejected') for (const line of state.diagnostics) this.#options.print(line);
  }

  /** Prints errors that only the server reports; errors of the manifest are printed before. False: none. */
  #reportRejection({ name, rejection }: DefinitionView): boolean {
    if (rejection === undefined) return false;
    const desired = this.#running?.find((each) => nameOf(each) === name);
    if (desired?.rejection !== undefined) return false;
    const text = `Operator "${name}" keeps its previous revision: ${rejection.message}`;
    const printed = [text, ...rejection.diagnostics].join('\n');
    if (this.#printed.get(name) !== printed) this.#options.print(printed);
    this.#printed.set(name, printed);
    return true;
  }
}

function isCrdOf({ kind, spec }: KubeObject, gvk: Gvk): boolean {
  if (kind !== 'CustomResourceDefinition' || !isJsonObject(spec)) return false;
  const { group, names } = spec;
  return group === gvk.group && isJsonObject(names) && names.kind === gvk.kind;
}

/** Empty: there are none. */
function findingsText(findings: readonly ParsedManifest[], color: boolean): string {
  const diagnostics = findings.flatMap((found) => found.diagnostics);
  const sources = new Map(findings.map(({ manifest: { file, text } }) => [file, text]));
  return formatDiagnostics(diagnostics, sources, { color }).trimEnd();
}

interface DefinitionUpdate {
  readonly before: readonly DesiredDefinition[];
  readonly now: readonly DesiredDefinition[];
  readonly runtime: ClusterRuntime;
}

/** Equal for definitions that count as unchanged. */
function identityOf({ located, rejection }: DesiredDefinition): unknown {
  return [located.definition.name, located.definition.revision, rejection?.diagnostics];
}

type DesiredByName = ReadonlyMap<string, DesiredDefinition>;

function desiredByName({ desired }: ClusterRuntime): DesiredByName {
  return new Map(desired.map((each) => [nameOf(each), each]));
}

function nameOf({ located }: DesiredDefinition): string {
  return located.definition.name;
}
