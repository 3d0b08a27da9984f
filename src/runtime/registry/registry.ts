import type { Logger } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import type { TextCheck } from '../check-text.ts';
import type { DefinitionSource, SourceText } from '../sources/index.ts';
import type { DefinitionOrigin, WantedSet } from '../wanted-definition.ts';
import { type Chosen, chooseDefinitions } from './choose-definitions.ts';
import type { KnownDefinitions } from './known-definition.ts';
import { nextTextState, type TextState, unreadableState } from './text-state.ts';
import { type TextFindings, ToldFindings } from './told-findings.ts';
import { wantedSet } from './wanted-set.ts';

export interface RegistryOptions {
  /** The first one is asked first. */
  readonly sources: readonly DefinitionSource[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly check: TextCheck;
  /** @default nothing is known */
  readonly known?: KnownDefinitions;
  /** Resolves when it can be asked what is known; nothing is told before. Never rejects but when the signal aborts. @default at once */
  readonly whenKnown?: (signal: AbortSignal) => Promise<unknown>;
  /** What is to run, at the start and at every change. Must not throw. */
  readonly onWanted: (wanted: WantedSet) => void;
  /** What is to be said of texts, whenever it is something else than before. Called before {@link onWanted}. @default nobody is told */
  readonly onFindings?: (findings: readonly TextFindings[]) => void;
}

/** Where a source stands. */
export interface SourceReading {
  readonly name: string;
  /** Has it been read since this process began, and what is to run of it been said? */
  readonly isRead: boolean;
  /** Why it cannot be read now; what it told last stays true. */
  readonly trouble?: string;
}

/** Many edits at once are one, after this. */
const gatherMs = 50;
/** So long texts are checked before others have their turn: a Lease must be renewed, and probes answered. */
const sliceMs = 20;

/** What of a source is known. */
interface Reading {
  readonly source: DefinitionSource;
  /** Undefined: it has not been read. */
  texts: readonly SourceText[] | undefined;
  trouble: string | undefined;
  /** What was read has been looked at. */
  isRead: boolean;
}

/**
 * Reads sources and says what is to run: of every definition the newest version without a mistake. A text is parsed and compiled again only
 * when it has changed. What cannot be read changes nothing.
 */
export class Registry {
  readonly #options: RegistryOptions;
  readonly #readings: readonly Reading[];
  #states: ReadonlyMap<string, TextState> = new Map();
  #running: ReadonlyMap<string, Chosen> = new Map();
  /** Whose the names are. */
  #holders: ReadonlyMap<string, DefinitionOrigin> = new Map();
  readonly #told = new ToldFindings();
  #isKnown = false;
  #hasBegun = false;
  /** Something has changed since the last look began. */
  #isStale = false;
  #isLooking = false;
  /** The last look. */
  #looking: Promise<void> | undefined;
  #cancel: (() => void) | undefined;
  #signal: AbortSignal | undefined;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#readings = options.sources.map((source) => ({
      source,
      texts: undefined,
      trouble: undefined,
      isRead: false,
    }));
  }

  /** In the order of the sources. */
  get sources(): readonly SourceReading[] {
    return this.#readings.map(({ source: { name }, isRead, trouble }) => ({
      name,
      isRead,
      ...(trouble === undefined ? {} : { trouble }),
    }));
  }

  /** Has every source been read since this cluster runtime began? */
  get isRead(): boolean {
    return this.#readings.every(({ isRead }) => isRead);
  }

  /** Is that a place whose texts are all known? What is not among them is gone. */
  covers(origin: DefinitionOrigin): boolean {
    return this.#readings.some(
      ({ source, isRead, trouble }) => isRead && trouble === undefined && source.covers(origin),
    );
  }

  /** Follows its sources until the signal aborts. Never rejects. Called once. */
  async run(signal: AbortSignal): Promise<void> {
    const { sources, whenKnown = () => Promise.resolve() } = this.#options;
    this.#signal = signal;
    const knowing = whenKnown(signal).then(
      () => {
        this.#isKnown = true;
        this.#gather();
      },
      () => {},
    );
    await Promise.all([
      knowing,
      ...sources.map((source, index) =>
        source.run(
          {
            onTexts: (texts) => this.#note(index, { texts }),
            onTrouble: (trouble) => this.#note(index, { trouble }),
          },
          signal,
        ),
      ),
    ]);
    this.#cancel?.();
    await this.#looking;
  }

  /** What is known beside the texts has changed. */
  refresh(): void {
    this.#gather();
  }

  #note(index: number, news: Partial<Reading>): void {
    const reading = this.#readings[index];
    if (reading === undefined) return;
    if ('trouble' in news) this.#logTrouble(reading, news.trouble);
    Object.assign(reading, news);
    this.#gather();
  }

  #logTrouble({ source: { name }, trouble: before }: Reading, trouble: string | undefined): void {
    const { logger } = this.#options;
    if (trouble === before) return;
    if (trouble === undefined) logger.info({ source: name }, 'Definitions can be read again');
    else
      logger.warn(
        { source: name, reason: trouble },
        'Definitions cannot be read, those that were stay',
      );
  }

  /** A moment later, so that what belongs together is looked at together; nothing before all have said something they stand by. */
  #gather(): void {
    const signal = this.#signal;
    this.#isStale = true;
    if (this.#cancel !== undefined || this.#isLooking) return;
    if (signal === undefined || signal.aborted) return;
    const isSilent = ({ texts, trouble }: Reading) => texts === undefined && trouble === undefined;
    if (!this.#isKnown || this.#readings.some(isSilent)) return;
    this.#cancel = this.#options.clock.after(this.#hasBegun ? gatherMs : 0, () => {
      this.#cancel = undefined;
      this.#looking = this.#look(signal);
    });
  }

  /** Never rejects. */
  async #look(signal: AbortSignal): Promise<void> {
    const { logger } = this.#options;
    this.#isStale = false;
    this.#isLooking = true;
    const taken = this.#readings.map(({ texts }) => texts);
    try {
      const states = await this.#read(taken, signal);
      signal.throwIfAborted();
      this.#decide(states, taken);
    } catch (err) {
      // What nobody foresaw: what runs goes on.
      if (!signal.aborted) logger.error({ err }, 'It cannot be told which definitions are to run');
    }
    this.#isLooking = false;
    if (this.#isStale) this.#gather();
  }

  #decide(states: ReadonlyMap<string, TextState>, taken: readonly Reading['texts'][]): void {
    const { known = () => new Map() } = this.#options;
    const { onWanted, onFindings } = this.#options;
    for (const [index, reading] of this.#readings.entries())
      reading.isRead = taken[index] !== undefined;
    this.#hasBegun = true;
    this.#states = states;
    const texts = [...states.values()];
    const knownNow = known();
    const choice = chooseDefinitions({
      texts,
      running: this.#running,
      holders: this.#holders,
      known: knownNow,
    });
    const running = new Map(choice.chosen.map((chosen) => [chosen.name, chosen]));
    this.#logGone(running);
    this.#running = running;
    // Not before all have been read: one that comes late may have had a name before.
    if (this.isRead)
      this.#holders = new Map(choice.chosen.map(({ name, text }) => [name, text.origin]));
    const findings = this.#told.news(states, choice);
    if (findings.length > 0) onFindings?.(findings);
    onWanted(wantedSet(texts, choice, knownNow));
  }

  #logGone(running: ReadonlyMap<string, Chosen>): void {
    const { logger } = this.#options;
    for (const [name, { text }] of this.#running)
      if (!running.has(name))
        logger.info(
          { definition: name, file: text.file },
          'Definition is gone, what it has made stays',
        );
  }

  /** The texts of each source as what is left of them. @throws the signal's reason */
  async #read(
    taken: readonly Reading['texts'][],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, TextState>> {
    const { clock } = this.#options;
    const states = new Map<string, TextState>();
    let sinceMs = clock.monotonicMs();
    for (const [index, texts = []] of taken.entries())
      for (const text of texts) {
        if (clock.monotonicMs() - sinceMs > sliceMs) {
          await clock.sleep(0, signal);
          sinceMs = clock.monotonicMs();
        }
        const key = `${index} ${text.origin.ref}`;
        states.set(key, this.#stateOf(text, this.#states.get(key)));
      }
    return states;
  }

  #stateOf(text: SourceText, before: TextState | undefined): TextState {
    if (before !== undefined && isSameText(before.text, text)) return { ...before, text };
    if (text.unreadable !== undefined) return unreadableState(before, text, text.unreadable);
    try {
      return nextTextState(before, text, this.#options.check(text));
    } catch (err) {
      // A bug of ours, which is no reason to take the other definitions down.
      this.#options.logger.error({ err, file: text.file }, 'Definitions cannot be checked');
      const reason = err instanceof Error ? err.message : String(err);
      return unreadableState(before, text, `Homeostat failed on it: ${reason}`);
    }
  }
}

function isSameText(a: SourceText, b: SourceText): boolean {
  return a.text === b.text && a.file === b.file && a.unreadable === b.unreadable;
}
