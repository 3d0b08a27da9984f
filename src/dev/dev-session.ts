import { bundledSchemas } from '../compile/index.ts';
import { formatDiagnostics, type LocatedDefinition } from '../definition/index.ts';
import type { KubeCluster } from '../kube/index.ts';
import {
  checkDefinitions,
  createManager,
  type DefinitionText,
  type DefinitionView,
  type Manager,
} from '../runtime/index.ts';
import { createMetricRegistry, type Logger } from '../telemetry/index.ts';
import type { Clock } from '../util/clock.ts';
import type { Random } from '../util/random.ts';
import { watchFolders } from './folder-watch.ts';
import { planReload } from './loaded-definitions.ts';
import { SampleApplier } from './sample-applier.ts';
import { loadSamples } from './samples.ts';
import type { TreeNode } from './tree/object-tree.ts';
import { TreeFollower } from './tree/tree-follower.ts';

export interface DevSessionOptions {
  readonly cluster: KubeCluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Reads the definitions as they are now. @throws Error with a message for people. */
  readonly load: () => Promise<readonly DefinitionText[]>;
  /** Where definitions are saved. */
  readonly folder: string;
  /** Where samples are; undefined = none are applied. */
  readonly samplesFolder: string | undefined;
  /** Apply the samples at the start? Those that are saved later are applied in any case. */
  readonly appliesSamples: boolean;
  readonly hasColor: boolean;
  /** A line for people. */
  readonly print: (text: string) => void;
  readonly onTree: (tree: readonly TreeNode[]) => void;
}

/** Between looks at where definitions stand, in ms; in this process, without a request. */
const statePollMs = 10;

/** Runs definitions while they are being written: starts them, applies samples, follows what comes of it, and reloads what is saved. */
export class DevSession {
  readonly #options: DevSessionOptions;
  readonly #samples: SampleApplier;
  readonly #tree: TreeFollower;
  #running: readonly LocatedDefinition[] = [];
  /** What was said of each definition. */
  readonly #told = new Map<string, string>();

  constructor(options: DevSessionOptions) {
    const { cluster, clock, onTree, print } = options;
    this.#options = options;
    this.#samples = new SampleApplier({ cluster, print });
    this.#tree = new TreeFollower({ watcher: cluster, clock, onTree });
  }

  /**
   * Resolves when the signal has aborted and every pass has ended.
   * @throws Error when there is nothing that could be read at the start.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { cluster, clock, random, logger, appliesSamples } = this.#options;
    const definitions = await this.#check();
    const metrics = createMetricRegistry();
    const manager = createManager({ definitions, cluster, clock, random, logger, metrics });
    this.#running = definitions;
    const unwatch = this.#watch(manager, signal);
    try {
      const running = manager.run(signal);
      await this.#whenSettled(manager, signal);
      // Not before: informers would ask for kinds that are not there yet, and wait a while before they ask again.
      this.#follow();
      if (appliesSamples) await this.#applySamples(undefined, signal);
      await running;
    } finally {
      unwatch();
      this.#tree.stop();
    }
  }

  /** The definitions without mistakes; the mistakes are printed. */
  async #check(): Promise<readonly LocatedDefinition[]> {
    const { accepted, diagnostics } = await this.#loadAndCheck();
    return planReload([], accepted, diagnostics).definitions;
  }

  async #loadAndCheck() {
    const { load, print, hasColor } = this.#options;
    const texts = await load();
    const { accepted, diagnostics } = checkDefinitions(texts, { schemas: bundledSchemas() });
    const sources = new Map(texts.map(({ file, text }) => [file, text]));
    if (diagnostics.length > 0)
      print(formatDiagnostics(diagnostics, sources, { color: hasColor }).trimEnd());
    return { accepted: accepted.map(({ located }) => located), diagnostics };
  }

  #watch(manager: Manager, signal: AbortSignal): () => void {
    const { folder, samplesFolder, clock, logger } = this.#options;
    const onFailure = (err: unknown) => logger.warn({ err }, 'A folder is not watched any more');
    // One after the other: each looks at what the one before has left.
    let last = Promise.resolve();
    const inTurn = (work: () => Promise<void>) => {
      last = last.then(work).catch((error: unknown) => this.#tellFailure(error, signal));
    };
    const stops = [
      watchFolders({
        folders: [folder],
        clock,
        onFailure,
        onChange: () => inTurn(() => this.#reload(manager, signal)),
      }),
    ];
    if (samplesFolder !== undefined) {
      const onChange = (names: ReadonlySet<string>) =>
        inTurn(() => this.#applySamples(names, signal));
      stops.push(watchFolders({ folders: [samplesFolder], clock, onFailure, onChange }));
    }
    return () => {
      for (const stop of stops) stop();
    };
  }

  async #reload(manager: Manager, signal: AbortSignal): Promise<void> {
    const { accepted, diagnostics } = await this.#loadAndCheck();
    const { definitions, news } = planReload(this.#running, accepted, diagnostics);
    for (const text of news) this.#options.print(text);
    this.#running = definitions;
    await manager.replace(definitions);
    await this.#whenSettled(manager, signal);
    this.#follow();
    await this.#samples.retry(signal);
  }

  #follow(): void {
    const definitions = this.#running.map(({ definition }) => definition);
    this.#tree.follow({
      roots: definitions.map(({ kind }) => kind.gvk),
      children: definitions.flatMap(({ children }) => children.map(({ gvk }) => gvk)),
    });
  }

  async #applySamples(names: ReadonlySet<string> | undefined, signal: AbortSignal): Promise<void> {
    const { samplesFolder, print } = this.#options;
    if (samplesFolder === undefined) return;
    const samples = await loadSamples(samplesFolder, print);
    const chosen = samples.filter(({ name }) => names === undefined || names.has(name));
    await this.#samples.apply(chosen, signal);
  }

  /** Waits until each definition runs, or says why not, and prints what is new. */
  async #whenSettled(manager: Manager, signal: AbortSignal): Promise<void> {
    const isOnItsWay = ({ state }: DefinitionView) =>
      state.kind === 'starting' || state.kind === 'syncing';
    while (!signal.aborted && manager.view().definitions.some(isOnItsWay))
      await this.#options.clock.sleep(statePollMs, signal).catch(() => {});
    if (!signal.aborted) for (const view of manager.view().definitions) this.#tellState(view);
  }

  #tellState({ name, revision, state }: DefinitionView): void {
    const text =
      state.kind === 'failing' || state.kind === 'refused'
        ? `Operator "${name}" does not run: ${state.message}`
        : `Operator "${name}" is running`;
    if (this.#told.get(name) === revision + text) return;
    this.#told.set(name, revision + text);
    this.#options.print(text);
    if (state.kind === 'refused') for (const line of state.diagnostics) this.#options.print(line);
  }

  #tellFailure(error: unknown, signal: AbortSignal): void {
    if (!signal.aborted)
      this.#options.print(error instanceof Error ? error.message : String(error));
  }
}
