import { formatDiagnostics } from '../definition/index.ts';
import type { KubeCluster } from '../kube/index.ts';
import {
  createManager,
  type DefinitionSource,
  type DefinitionView,
  type Manager,
  type ManagerOptions,
  Registry,
  type TextCheck,
  type TextFindings,
  type WantedDefinition,
  type WantedSet,
  watchFolders,
} from '../runtime/index.ts';
import { createMetricRegistry, type Logger } from '../telemetry/index.ts';
import type { Clock } from '../util/clock.ts';
import type { Random } from '../util/random.ts';
import { newsOf } from './loaded-definitions.ts';
import { SampleApplier } from './sample-applier.ts';
import { SampleFolder } from './sample-folder.ts';
import type { TreeNode } from './tree/object-tree.ts';
import { TreeFollower } from './tree/tree-follower.ts';

export interface DevSessionOptions {
  readonly cluster: KubeCluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** What the definitions share. */
  readonly capacity?: Pick<ManagerOptions, 'turns' | 'memory'>;
  /** Where definitions are saved. */
  readonly sources: readonly DefinitionSource[];
  readonly check: TextCheck;
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
  readonly #sampleFolder: SampleFolder | undefined;
  readonly #tree: TreeFollower;
  /** Undefined: nothing has been read. */
  #running: readonly WantedDefinition[] | undefined;
  /** What was said of each definition. */
  readonly #told = new Map<string, string>();
  /** One after the other: each looks at what the one before has left. */
  #turns = Promise.resolve();

  constructor(options: DevSessionOptions) {
    const { cluster, clock, onTree, print, samplesFolder: folder } = options;
    this.#options = options;
    this.#samples = new SampleApplier({ cluster, print });
    this.#sampleFolder =
      folder === undefined
        ? undefined
        : new SampleFolder({ folder, applier: this.#samples, print });
    this.#tree = new TreeFollower({ watcher: cluster, clock, onTree });
  }

  /** Resolves when the signal has aborted and every pass has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { cluster, clock, random, logger, capacity, sources, check } = this.#options;
    const metrics = createMetricRegistry();
    // Who writes a kind tries many forms of it, and the samples are applied anew.
    const breaksStored = true;
    const manager = createManager({
      ...{ cluster, clock, random, logger, metrics, breaksStored },
      ...capacity,
    });
    const registry = new Registry({
      sources,
      check,
      clock,
      logger,
      onFindings: (findings) => this.#tellFindings(findings),
      onWanted: (wanted) => this.#inTurn(() => this.#take(wanted, manager, signal), signal),
    });
    const stops = [manager.onChange(() => this.#tellStates(manager)), this.#watchSamples(signal)];
    try {
      await Promise.all([registry.run(signal), manager.run(signal)]);
      await this.#turns;
    } finally {
      for (const stop of stops) stop();
      this.#tree.stop();
    }
  }

  #inTurn(work: () => Promise<void>, signal: AbortSignal): void {
    const { print } = this.#options;
    this.#turns = this.#turns.then(work).catch((error: unknown) => {
      if (!signal.aborted) print(error instanceof Error ? error.message : String(error));
    });
  }

  async #take({ definitions }: WantedSet, manager: Manager, signal: AbortSignal): Promise<void> {
    const { print, appliesSamples } = this.#options;
    const before = this.#running;
    this.#running = definitions;
    for (const text of before === undefined ? [] : newsOf(before, definitions)) print(text);
    manager.replace({ definitions });
    await this.#whenSettled(manager, signal);
    // Not before: informers would ask for kinds that are not there yet, and wait a while before they ask again.
    this.#follow(definitions);
    if (before !== undefined) await this.#samples.retry(signal);
    else await this.#sampleFolder?.start(appliesSamples, signal);
  }

  #tellFindings(findings: readonly TextFindings[]): void {
    const { print, hasColor } = this.#options;
    for (const { file, diagnostics } of findings)
      if (diagnostics.length === 0) print(`File ${file} is without mistakes again`);
    const diagnostics = findings.flatMap((found) => found.diagnostics);
    const sources = new Map(findings.map(({ file, text }) => [file, text]));
    if (diagnostics.length > 0)
      print(formatDiagnostics(diagnostics, sources, { color: hasColor }).trimEnd());
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

  #follow(definitions: readonly WantedDefinition[]): void {
    const all = definitions.map(({ located }) => located.definition);
    this.#tree.follow({
      roots: all.map(({ kind }) => kind.gvk),
      children: all.flatMap(({ children }) => children.map(({ gvk }) => gvk)),
    });
  }

  /** Waits until each definition runs, or says why not. */
  async #whenSettled(manager: Manager, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && manager.view().definitions.some(isOnItsWay))
      await this.#options.clock.sleep(statePollMs, signal).catch(() => {});
    if (!signal.aborted) this.#tellStates(manager);
  }

  #tellStates(manager: Manager): void {
    const { definitions } = manager.view();
    const names = new Set(definitions.map(({ name }) => name));
    for (const name of this.#told.keys()) if (!names.has(name)) this.#told.delete(name);
    for (const view of definitions) if (!isOnItsWay(view)) this.#tellState(view);
  }

  #tellState(view: DefinitionView): void {
    const { name, revision, state } = view;
    if (this.#tellRefusal(view)) return;
    const text =
      state.kind === 'failing' || state.kind === 'refused'
        ? `Operator "${name}" does not run: ${state.message}`
        : `Operator "${name}" is running`;
    if (this.#told.get(name) === revision + text) return;
    this.#told.set(name, revision + text);
    this.#options.print(text);
    if (state.kind === 'refused') for (const line of state.diagnostics) this.#options.print(line);
  }

  /** What only the server finds wrong; what is wrong in the text has been said. False: nothing is. */
  #tellRefusal({ name, refusal }: DefinitionView): boolean {
    const wanted = this.#running?.find((each) => nameOf(each) === name);
    if (refusal === undefined || wanted?.refusal !== undefined) return false;
    const text = `Operator "${name}" goes on as it was: ${refusal.message}`;
    const said = [text, ...refusal.diagnostics].join('\n');
    if (this.#told.get(name) !== said) this.#options.print(said);
    this.#told.set(name, said);
    return true;
  }
}

function nameOf({ located }: WantedDefinition): string {
  return located.definition.name;
}

function isOnItsWay({ state }: DefinitionView): boolean {
  return state.kind === 'starting' || state.kind === 'syncing';
}
