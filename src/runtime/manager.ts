import type { LocatedDefinition, OperatorDefinition } from '../definition/index.ts';
import { rightText } from '../reconcile/index.ts';
import { type Gauge, metricCatalogue } from '../telemetry/roles.ts';
import { failureFields } from '../util/failure-fields.ts';
import { bringsCrd } from './crd/index.ts';
import type { RuntimeView } from './definition-view.ts';
import { definitionsOnRecord, type RecordedDefinition } from './definitions-on-record.ts';
import { Finishers } from './finishers.ts';
import { DefinitionRemover } from './removal/index.ts';
import { DefinitionRunner } from './runner/index.ts';
import type { SharedOptions } from './runner-options.ts';
import type { RuntimeCluster } from './runtime-cluster.ts';
import { isSameKind, kindIdOf } from './same-kind.ts';
import { ViewBell } from './view-bell.ts';
import type { WantedDefinition, WantedSet } from './wanted-definition.ts';

export interface ManagerOptions extends Omit<SharedOptions, 'bell'> {
  /** Short for a first {@link Manager.replace}. @default undefined: nothing runs, and nobody counts as gone, before that is called */
  readonly definitions?: readonly LocatedDefinition[];
  /**
   * Called with the name of a definition that does not run when nothing of a kind of others (`for`) waits for it any more.
   * @default nobody is told
   */
  readonly onFinished?: (name: string) => void;
}

/** Runs a set of definitions in one cluster. */
export interface Manager {
  /** Resolves when the signal has aborted and every pass has ended; nothing is written after that. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Runs these definitions from now on, and returns at once: those that are new start, those that are changed are prepared beside what
   * runs of them, those that are not among them stop and leave what they have made. Any number of times, before or while it runs.
   */
  replace(wanted: WantedSet): void;
  /** Calls back, soon and once for many changes, when {@link Manager.view} may have changed. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void;
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
  wanted: WantedDefinition;
  readonly runner: DefinitionRunner | DefinitionRemover;
  readonly stopper: AbortController;
  /** The name of the CRD that the definition brings. */
  readonly crd: string | undefined;
  /** Undefined = not started. */
  ended: Promise<void> | undefined;
}

class RunnerSet implements Manager {
  readonly #options: ManagerOptions;
  readonly #states: Gauge;
  readonly #bell: ViewBell;
  readonly #entries = new Map<string, Entry>();
  /** What has run and is to be waited for. */
  readonly #ending = new Set<Promise<void>>();
  /** By definition: the end of what ran of it before. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** Who brings deletions to an end of those that are broken or gone. */
  readonly #finishers: Finishers;
  /** Undefined: nobody has said so far. */
  #wanted: WantedSet | undefined;
  #signal: AbortSignal | undefined;
  #hasLookedForGone = false;
  #isStopping = false;

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.#states = options.metrics.gauge(metricCatalogue.definitions);
    this.#bell = new ViewBell(options.clock);
    this.#finishers = new Finishers(options);
    const { definitions } = options;
    if (definitions !== undefined)
      this.replace({ definitions: definitions.map((located) => ({ located })) });
  }

  view(): RuntimeView {
    const { silence } = this.#options.cluster;
    const definitions = this.#runners().map((runner) => runner.view);
    const { refused = [] } = this.#wanted ?? {};
    return {
      silence,
      isStopping: this.#isStopping,
      definitions,
      refused,
      warnings: warningsOf(this.#options.cluster),
    };
  }

  onChange(listener: () => void): () => void {
    return this.#bell.onRing(listener);
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    this.#startAll();
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    this.#isStopping = true;
    this.#bell.ring();
    // Nothing is added any more: whoever adds looks at the signal.
    while (this.#ending.size > 0) await Promise.all(this.#ending);
    this.#bell.stop();
  }

  replace(wanted: WantedSet): void {
    this.#wanted = wanted;
    const byName = new Map(wanted.definitions.map((each) => [each.located.definition.name, each]));
    for (const [name, entry] of this.#entries) {
      const next = byName.get(name);
      if (next === undefined) this.#leave(name, entry);
      else if (isAnother(entry.wanted, next)) this.#remove(name, entry);
      else {
        entry.wanted = next;
        entry.runner.update(next);
      }
    }
    for (const each of wanted.definitions) {
      if (!this.#entries.has(each.located.definition.name)) this.#add(each);
    }
    this.#startAll();
    this.#bell.ring();
  }

  observe(): void {
    for (const runner of this.#runners()) runner.observe();
    const { refused = [] } = this.#wanted ?? {};
    const inFiles = refused.reduce((sum, { definitions }) => sum + definitions, 0);
    const views = this.#runners().map((runner) => runner.view);
    for (const kind of metricCatalogue.definitions.values.state) {
      const count = views.filter(({ state }) => state.kind === kind).length;
      this.#states.set(kind === 'refused' ? count + inFiles : count, [kind]);
    }
  }

  #runners(): readonly Entry['runner'][] {
    return [...this.#entries.values()].map(({ runner }) => runner);
  }

  #add(wanted: WantedDefinition): void {
    const { definitions: _, ...shared } = this.#options;
    const { definition } = wanted.located;
    const options = { ...shared, wanted, bell: this.#bell };
    const isRemoved = wanted.removal !== undefined;
    const runner = isRemoved ? new DefinitionRemover(options) : new DefinitionRunner(options);
    this.#entries.set(definition.name, {
      wanted,
      runner,
      stopper: new AbortController(),
      crd: bringsCrd(definition) ? definition.kind.crd.metadata.name : undefined,
      ended: undefined,
    });
  }

  /** Its text does not say any more what is to run. */
  #leave(name: string, entry: Entry): void {
    const { ended, wanted } = entry;
    // Of one that was removed, or has mistakes now, others tell.
    if (ended !== undefined && wanted.removal === undefined && !this.#isBroken(name))
      this.#options.logger.info({ definition: name }, 'Definition stopped, what it has made stays');
    this.#remove(name, entry);
  }

  #isBroken(name: string): boolean {
    return this.#wanted?.broken?.some(({ definition }) => definition.name === name) === true;
  }

  /** Stops a definition, and leaves what it has made. What is being deleted of it is brought to its end. */
  #remove(name: string, { stopper, ended, wanted }: Entry): void {
    this.#entries.delete(name);
    stopper.abort(new Error('The definition is not wanted any more'));
    if (ended === undefined) return;
    this.#leaving.set(name, ended);
    this.#awaitInTheEnd(
      ended.then(() => {
        if (this.#leaving.get(name) === ended) this.#leaving.delete(name);
        this.#finishers.reopen(wanted.located.definition);
        this.#finish(wanted.located.definition);
      }),
    );
  }

  #startAll(): void {
    const signal = this.#signal;
    if (signal === undefined || signal.aborted || this.#wanted === undefined) return;
    for (const entry of this.#entries.values())
      if (entry.ended === undefined) this.#start(entry, signal);
    for (const { definition } of this.#wanted.broken ?? [])
      if (!this.#entries.has(definition.name)) this.#finish(definition);
    if (!this.#hasLookedForGone) this.#finishGone(signal);
    this.#hasLookedForGone = true;
  }

  /** Brings the deletions of definitions to an end that the cluster remembers and nobody has any more. Those that go later are known. */
  #finishGone(signal: AbortSignal): void {
    const { cluster, logger } = this.#options;
    const looking = definitionsOnRecord(cluster, signal)
      .then((recorded) => {
        for (const definition of recorded) this.#finish(definition);
      })
      .catch((error: unknown) => {
        if (!signal.aborted)
          logger.warn(failureFields(error), 'Definitions of before cannot be looked for');
      });
    this.#awaitInTheEnd(looking);
  }

  /** Nothing happens while the definition runs, or still does. One of another kind under its name does not see to what is left of it. */
  #finish(definition: OperatorDefinition | RecordedDefinition): void {
    const { name } = definition;
    const signal = this.#signal;
    if (signal === undefined || signal.aborted || this.#leaving.has(name)) return;
    const successor = this.#entries.get(name)?.wanted.located.definition;
    if (successor !== undefined && kindIdOf(successor) === kindIdOf(definition)) return;
    const about = { isBroken: this.#isBroken(name), isOfBefore: successor !== undefined };
    const ended = this.#finishers.start({ definition, ...about }, signal);
    if (ended !== undefined) this.#awaitInTheEnd(ended);
  }

  /** The definition that was started before and brings the same CRD. */
  #rivalOf({ crd }: Entry): DefinitionRunner | undefined {
    const started = [...this.#entries.values()].filter(({ ended }) => ended !== undefined);
    const first = started.find((other) => crd !== undefined && other.crd === crd)?.runner;
    return first instanceof DefinitionRunner ? first : undefined;
  }

  #start(entry: Entry, stopping: AbortSignal): void {
    const signal = AbortSignal.any([stopping, entry.stopper.signal]);
    const { definition } = entry.wanted.located;
    const { name } = definition;
    const rival = this.#rivalOf(entry);
    // One after the other: two that work for one definition would write the same objects.
    const before = [this.#leaving.get(name), this.#finishers.stop(definition)];
    entry.ended = Promise.all(before).then(() => entry.runner.run(signal, rival));
    this.#awaitInTheEnd(entry.ended);
  }

  #awaitInTheEnd(ended: Promise<void>): void {
    this.#ending.add(ended);
    void ended.finally(() => this.#ending.delete(ended));
  }
}

/** Has what runs nothing in common with what is to run? */
function isAnother(before: WantedDefinition, next: WantedDefinition): boolean {
  const isRemoved = ({ removal }: WantedDefinition) => removal !== undefined;
  return isRemoved(before) !== isRemoved(next) || !isSameKind(before.located, next.located);
}

function warningsOf({ eventsRefused }: RuntimeCluster): readonly string[] {
  if (eventsRefused === undefined) return [];
  const { right, namespaces } = eventsRefused;
  const why = right === undefined ? 'The runtime may not create them' : rightText(right);
  const elsewhere = namespaces > 1 ? ` (and so in ${namespaces - 1} other namespaces)` : '';
  return [`Events are not written: ${why}${elsewhere}`];
}
