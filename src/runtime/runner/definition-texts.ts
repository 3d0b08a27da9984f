import type { LocatedDefinition } from '../../definition/index.ts';
import { KubeError } from '../../kube/roles.ts';
import type { Logger } from '../../telemetry/roles.ts';
import { backoffMs } from '../../util/backoff.ts';
import { changedPaths } from '../../util/changed-paths.ts';
import { failureFields } from '../../util/failure-fields.ts';
import { HomeostatError } from '../../util/homeostat-error.ts';
import { whenAborted } from '../../util/when-aborted.ts';
import type { DefinitionView } from '../definition-view.ts';
import { reportedRevisions } from '../rollout/index.ts';
import type { SharedOptions } from '../runner-options.ts';
import { isSameKind } from '../same-kind.ts';
import type { Refusal, WantedDefinition } from '../wanted-definition.ts';
import type { DefinitionWork } from './definition-work.ts';
import {
  type Preparation,
  type Prepared,
  prepareDefinition,
  prepareFormer,
} from './prepare-definition.ts';
import { messageOf, type Standing } from './standing.ts';
import { waitToRetry } from './wait-to-retry.ts';

export interface DefinitionTextsOptions extends SharedOptions {
  readonly wanted: WantedDefinition;
  readonly standing: Standing;
  /** It is known whether the definition may have its CRD. */
  readonly onCrdDecided: () => void;
}

/** The texts of one definition: which is wanted, what the cluster has against it, and what resources may still have of the time before. */
export class DefinitionTexts {
  readonly #options: DefinitionTextsOptions;
  readonly #logger: Logger;
  #wanted: WantedDefinition;
  /** Aborts when another text is wanted. */
  #news = new AbortController();
  /** What the cluster has against the text that is wanted, while an older one runs. */
  #refusal: Refusal | undefined;
  /** What is being done about it. */
  #progress = 'It has not been looked at yet';
  /** What ran last in this process, the newest first. */
  #formers: readonly LocatedDefinition[] = [];
  #hasWork = false;

  constructor(options: DefinitionTextsOptions) {
    this.#options = options;
    this.#wanted = options.wanted;
    const { name } = options.wanted.located.definition;
    this.#logger = options.logger.child({ definition: name });
  }

  get wanted(): WantedDefinition {
    return this.#wanted;
  }

  /** What a view tells of texts, while `running` is at work. */
  viewBeside(running: LocatedDefinition): Pick<DefinitionView, 'origin' | 'refusal' | 'next'> {
    const { origin, refusal = this.#refusal } = this.#wanted;
    const revision = revisionOf(this.#wanted);
    const isOnItsWay = revision !== running.definition.revision && this.#refusal === undefined;
    return {
      ...(origin && { origin }),
      ...(refusal && { refusal }),
      ...(isOnItsWay && { next: { revision, message: this.#progress } }),
    };
  }

  /** From now on this text is wanted. */
  update(wanted: WantedDefinition): void {
    const isNews = revisionOf(wanted) !== revisionOf(this.#wanted);
    this.#wanted = wanted;
    if (!isNews) return;
    this.#refusal = undefined;
    this.#progress = 'It has not been looked at yet';
    this.#news.abort(new Error('Another text is wanted'));
    this.#news = new AbortController();
  }

  /** Aborts with the signal, and when another text is wanted. */
  attempt(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#news.signal]);
  }

  /**
   * The text that is wanted, or an older one where the cluster has something against it.
   * @throws KubeError where neither can be had.
   */
  async prepareFirst(attempt: AbortSignal): Promise<Preparation> {
    const { located } = this.#wanted;
    try {
      const found = await this.#prepare(located, attempt);
      if (found.kind === 'prepared') return found;
      const former = await this.#prepareAnyFormer(attempt);
      if (former === undefined) return found;
      this.#noteRefusal(found.refusal);
      return { kind: 'prepared', prepared: former };
    } catch (error) {
      if (attempt.aborted || isSilence(error)) throw error;
      const former = await this.#prepareAnyFormer(attempt);
      if (former === undefined) throw error;
      this.#noteRefusal(refusalOf(located, error));
      return { kind: 'prepared', prepared: former };
    }
  }

  /**
   * Calls `use` with the older revisions that resources have by what they report. One that does not compile any more is left out: its
   * resources take the newest.
   * @throws KubeError, and what `use` throws
   */
  async withFormers(
    first: Prepared,
    use: (formers: readonly Prepared[]) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const candidates = this.#older.filter(
      (each) => revisionOf({ located: each }) !== revisionOf(first),
    );
    if (candidates.length === 0) return use([]);
    const reported = await reportedRevisions(first.plan, this.#options.cluster, signal);
    try {
      const formers: Prepared[] = [];
      for (const former of candidates) {
        if (!reported.revisions.has(former.definition.revision)) continue;
        const prepared = await prepareFormer(former, this.#options, signal);
        if (prepared !== undefined) formers.push(prepared);
      }
      await use(formers);
    } finally {
      reported.release();
    }
  }

  /**
   * Brings each text that is wanted to the work that goes on, until the signal aborts; what is refused is tried again, for the world may
   * have changed. Never rejects.
   */
  async follow(work: DefinitionWork, signal: AbortSignal): Promise<void> {
    this.#hasWork = true;
    /** Does the cluster have what the newest revision at work asks of it? A text that came to nothing may have changed its CRD. */
    let isSettled = true;
    let failures = 0;
    while (!signal.aborted) {
      const attempt = this.attempt(signal);
      const { located } = this.#wanted;
      if (revisionOf(this.#wanted) === revisionOf(work.newest) && isSettled) {
        failures = 0;
        this.#refusal = undefined;
        await whenAborted(attempt);
        continue;
      }
      let error: unknown;
      try {
        isSettled = await this.#goOver(work, located, attempt);
      } catch (caught) {
        isSettled = false;
        error = caught;
        if (!attempt.aborted) this.#noteFailure(located, error);
      }
      if (isSettled) failures = 0;
      else
        await waitToRetry(backoffMs(failures++, retry), error, {
          ...this.#options,
          signal: attempt,
        });
      if (attempt.aborted) failures = 0;
    }
    this.#hasWork = false;
    this.#formers = work.all.map((each) => each.located);
  }

  async #prepare(located: LocatedDefinition, signal: AbortSignal): Promise<Preparation> {
    const found = await prepareDefinition(
      located,
      {
        ...this.#options,
        formerly: this.#older,
        onStep: (message) => this.#tellStep(message),
      },
      signal,
    );
    signal.throwIfAborted();
    if (found.kind === 'prepared') this.#options.onAccepted?.(located);
    return found;
  }

  #tellStep(message: string): void {
    const { standing, bell } = this.#options;
    this.#progress = message;
    if (this.#hasWork) bell.ring();
    else standing.starting(message);
  }

  /** Older texts of the same kind, the newest first. */
  get #older(): readonly LocatedDefinition[] {
    const { located, formerly = [] } = this.#wanted;
    const byRevision = new Map(
      [...this.#formers, ...formerly].map((each) => [each.definition.revision, each]),
    );
    byRevision.delete(located.definition.revision);
    return [...byRevision.values()].filter((each) => isSameKind(each, located));
  }

  async #prepareAnyFormer(signal: AbortSignal): Promise<Prepared | undefined> {
    for (const former of this.#older) {
      const prepared = await prepareFormer(former, this.#options, signal);
      if (prepared !== undefined) return prepared;
    }
    return undefined;
  }

  /** False: the cluster has something against it, and what ran runs on. */
  async #goOver(
    work: DefinitionWork,
    located: LocatedDefinition,
    attempt: AbortSignal,
  ): Promise<boolean> {
    const found = await this.#prepare(located, attempt);
    if (found.kind === 'refused') {
      this.#noteRefusal(found.refusal);
      return false;
    }
    const before = work.newest.located.definition;
    if (before.revision === located.definition.revision) return true;
    this.#tellStep('The kinds that it uses are being listed');
    await work.switchTo(found.prepared, attempt);
    const changed = changedPaths(
      { ...before, revision: '' },
      { ...located.definition, revision: '' },
    );
    const about = { from: before.revision, revision: located.definition.revision, changed };
    this.#logger.info(about, 'Definition changed');
    this.#options.bell.ring();
    return true;
  }

  /** The text is refused, and an older one runs (on). */
  #noteRefusal(refusal: Refusal): void {
    const isNews = this.#refusal?.message !== refusal.message;
    this.#refusal = refusal;
    this.#options.bell.ring();
    const { revision, message: reason, diagnostics } = refusal;
    const details = diagnostics.length === 0 ? {} : { diagnostics };
    if (isNews)
      this.#logger.warn({ revision, reason, ...details }, 'Change refused, what runs goes on');
  }

  #noteFailure(located: LocatedDefinition, error: unknown): void {
    // Without a server nothing can be said of the text.
    if (isSilence(error)) this.#tellStep(messageOf(error));
    else this.#noteRefusal(refusalOf(located, error));
    if (!(error instanceof HomeostatError))
      this.#logger.error(failureFields(error), 'Change failed, will retry');
  }
}

/** Between tries of a text that the cluster does not take. */
const retry = { baseDelayMs: 1_000, maxDelayMs: 60_000 };

function revisionOf({ located }: Pick<WantedDefinition, 'located'>): string {
  return located.definition.revision;
}

function refusalOf({ definition: { revision } }: LocatedDefinition, error: unknown): Refusal {
  return { revision, message: messageOf(error), diagnostics: [] };
}

export function isSilence(error: unknown): boolean {
  return error instanceof KubeError && error.isSilence;
}
