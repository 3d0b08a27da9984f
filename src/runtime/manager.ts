import type { LocatedDefinition, OperatorDefinition } from '../definition/index.ts';
import { rightText } from '../reconcile/index.ts';
import {
  type Gauge,
  type Logger,
  type MetricRegistry,
  metricCatalogue,
} from '../telemetry/roles.ts';
import type { Clock } from '../util/clock.ts';
import { failureFields } from '../util/failure-fields.ts';
import type { Random } from '../util/random.ts';
import { bringsCrd } from './crd-installer.ts';
import { type Finisher, startFinisher } from './definition-finisher.ts';
import { DefinitionRunner } from './definition-runner.ts';
import type { RuntimeView } from './definition-view.ts';
import { definitionsOnRecord, type RecordedDefinition } from './definitions-on-record.ts';
import type { RefusedFile } from './refused-file.ts';
import type { RuntimeCluster } from './runtime-cluster.ts';

export interface ManagerOptions {
  readonly definitions: readonly LocatedDefinition[];
  /** Files with mistakes: only to be told of. @default none */
  readonly refused?: readonly RefusedFile[];
  /** Definitions with mistakes: what is being deleted of theirs is brought to its end. @default none */
  readonly broken?: readonly LocatedDefinition[];
  readonly cluster: RuntimeCluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Where the runtime itself lives: nothing is ever made there for resources of elsewhere. @default undefined: outside of the cluster */
  readonly runtimeNamespace?: string;
  /** How long running passes may go on after the signal, in ms. @default 20_000 */
  readonly graceMs?: number;
}

/** Runs a set of definitions in one cluster. */
export interface Manager {
  /** Resolves when the signal has aborted and every pass has ended; nothing is written after that. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Runs these definitions from now on: those that are new or changed start, each after its predecessor has ended; those that are
   * not among them stop, and leave what they have made. Resolves when all of that has begun. One call at a time, while it runs.
   */
  replace(definitions: readonly LocatedDefinition[]): Promise<void>;
  view(): RuntimeView;
  /** Brings gauges up to date, for a scrape. */
  observe(): void;
}

/** Makes a manager; nothing happens before {@link Manager.run}. */
export function createManager(options: ManagerOptions): Manager {
  return new RunnerSet(options);
}

/** A definition that runs, and how to end it alone. */
interface Entry {
  readonly revision: string;
  readonly runner: DefinitionRunner;
  readonly stopper: AbortController;
  /** The name of the CRD that the definition brings. */
  readonly crd: string | undefined;
  /** Undefined = not started. */
  ended: Promise<void> | undefined;
}

class RunnerSet implements Manager {
  readonly #options: ManagerOptions;
  readonly #states: Gauge;
  readonly #entries = new Map<string, Entry>();
  /** What has run and is to be waited for. */
  readonly #ending = new Set<Promise<void>>();
  /** By definition: who brings its deletions to an end while it is broken. */
  readonly #finishers = new Map<string, Finisher>();
  #signal: AbortSignal | undefined;
  #isStopping = false;

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.#states = options.metrics.gauge(metricCatalogue.definitions);
    for (const located of options.definitions) this.#add(located);
  }

  view(): RuntimeView {
    const { silence } = this.#options.cluster;
    const definitions = this.#runners().map((runner) => runner.view);
    const { refused = [] } = this.#options;
    return {
      silence,
      isStopping: this.#isStopping,
      definitions,
      refused,
      warnings: warningsOf(this.#options.cluster),
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    for (const entry of this.#entries.values()) this.#start(entry);
    for (const { definition } of this.#options.broken ?? []) this.#finish(definition, signal);
    this.#finishGone(signal);
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    this.#isStopping = true;
    // Nothing is added any more: `replace` looks at the signal.
    await Promise.all(this.#ending);
  }

  async replace(definitions: readonly LocatedDefinition[]): Promise<void> {
    const wanted = new Map(definitions.map(({ definition }) => [definition.name, definition]));
    const leaving = [...this.#entries].filter(
      ([name, { revision }]) => wanted.get(name)?.revision !== revision,
    );
    for (const [, { stopper }] of leaving) stopper.abort(new Error('Definition was replaced'));
    // One after the other: two runners of one definition would write the same objects.
    await Promise.all(leaving.map(([, { ended }]) => ended));
    for (const [name] of leaving) this.#entries.delete(name);
    await Promise.all([...wanted.keys()].map((name) => this.#finishers.get(name)?.stop()));
    for (const located of definitions) {
      if (this.#entries.has(located.definition.name)) continue;
      const entry = this.#add(located);
      if (this.#signal !== undefined) this.#start(entry);
    }
    if (this.#signal !== undefined) this.#finishGone(this.#signal);
  }

  observe(): void {
    for (const runner of this.#runners()) runner.observe();
    const { refused = [] } = this.#options;
    const inFiles = refused.reduce((sum, { definitions }) => sum + definitions, 0);
    const views = this.#runners().map((runner) => runner.view);
    for (const kind of metricCatalogue.definitions.values.state) {
      const count = views.filter(({ state }) => state.kind === kind).length;
      this.#states.set(kind === 'refused' ? count + inFiles : count, [kind]);
    }
  }

  #runners(): readonly DefinitionRunner[] {
    return [...this.#entries.values()].map(({ runner }) => runner);
  }

  #add(located: LocatedDefinition): Entry {
    const { definitions: _, refused: __, broken: ___, ...shared } = this.#options;
    const runner = new DefinitionRunner({ located, ...shared });
    const { definition } = located;
    const { name, revision } = definition;
    const entry = {
      revision,
      runner,
      stopper: new AbortController(),
      crd: bringsCrd(definition) ? definition.kind.crd.metadata.name : undefined,
      ended: undefined,
    };
    this.#entries.set(name, entry);
    return entry;
  }

  /** Brings the deletions of definitions to an end that the cluster remembers and nobody has any more. */
  #finishGone(signal: AbortSignal): void {
    const { cluster, logger } = this.#options;
    const looking = definitionsOnRecord(cluster, signal)
      .then((recorded) => {
        for (const definition of recorded) this.#finish(definition, signal);
      })
      .catch((error: unknown) => {
        if (!signal.aborted)
          logger.warn(failureFields(error), 'Definitions of before cannot be looked for');
      });
    this.#ending.add(looking);
    void looking.finally(() => this.#ending.delete(looking));
  }

  #finish(definition: OperatorDefinition | RecordedDefinition, signal: AbortSignal): void {
    const { name } = definition;
    if (signal.aborted || this.#entries.has(name) || this.#finishers.has(name)) return;
    const { definitions: _, refused: __, broken: ___, ...shared } = this.#options;
    const finisher = startFinisher({ ...shared, definition }, signal);
    this.#finishers.set(name, finisher);
    this.#ending.add(finisher.ended);
    void finisher.ended.finally(() => {
      this.#ending.delete(finisher.ended);
      this.#finishers.delete(name);
    });
  }

  /** The definition that was started before and brings the same CRD. */
  #rivalOf({ crd }: Entry): DefinitionRunner | undefined {
    const started = [...this.#entries.values()].filter(({ ended }) => ended !== undefined);
    return crd === undefined ? undefined : started.find((other) => other.crd === crd)?.runner;
  }

  #start(entry: Entry): void {
    const signal = this.#signal;
    if (signal === undefined || signal.aborted) return;
    const ended = entry.runner.run(
      AbortSignal.any([signal, entry.stopper.signal]),
      this.#rivalOf(entry),
    );
    entry.ended = ended;
    this.#ending.add(ended);
    void ended.finally(() => this.#ending.delete(ended));
  }
}

function warningsOf({ eventsRefused }: RuntimeCluster): readonly string[] {
  if (eventsRefused === undefined) return [];
  const { right, namespaces } = eventsRefused;
  const why = right === undefined ? 'The runtime may not create them' : rightText(right);
  const elsewhere = namespaces > 1 ? ` (and so in ${namespaces - 1} other namespaces)` : '';
  return [`Events are not written: ${why}${elsewhere}`];
}
