import type { KubeError } from '../../kube/roles.ts';
import { backoffMs } from '../../util/backoff.ts';
import { apiVersionOf } from '../../util/gvk.ts';
import { whenAborted } from '../../util/when-aborted.ts';
import { type Finisher, startFinisher } from '../definition-finisher.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { SharedOptions } from '../runner-options.ts';
import type { Refusal, WantedDefinition } from '../wanted-definition.ts';
import { DefinitionMetrics } from './definition-metrics.ts';
import { DefinitionTexts, isSilence } from './definition-texts.ts';
import { DefinitionWork } from './definition-work.ts';
import { whenServed } from './foreign-kind.ts';
import type { Prepared } from './prepare-definition.ts';
import { Standing } from './standing.ts';
import { waitToRetry } from './wait-to-retry.ts';

export interface DefinitionRunnerOptions extends SharedOptions {
  readonly wanted: WantedDefinition;
}

/** Between tries of a definition that cannot start: a CRD of somebody else, no rights, no server. */
const retry = { baseDelayMs: 1_000, maxDelayMs: 60_000 };

/**
 * The life of one definition: its kind, its CRD, its plan and its work. Whatever goes wrong stays with this definition; it says so in its
 * {@link view} and tries again.
 */
export class DefinitionRunner {
  readonly #options: DefinitionRunnerOptions;
  #metrics: DefinitionMetrics | undefined;
  readonly #standing: Standing;
  readonly #texts: DefinitionTexts;
  readonly #crdDecided = Promise.withResolvers<void>();
  /** Runs while there is no plan, so that what is being deleted does not wait for one. */
  #finisher: Finisher | undefined;
  #work: DefinitionWork | undefined;

  constructor(options: DefinitionRunnerOptions) {
    const { wanted, clock, bell } = options;
    const { name } = wanted.located.definition;
    this.#options = options;
    const logger = options.logger.child({ definition: name });
    this.#standing = new Standing({ clock, bell, logger });
    this.#texts = new DefinitionTexts({
      ...options,
      standing: this.#standing,
      onCrdDecided: () => this.#crdDecided.resolve(),
    });
  }

  get view(): DefinitionView {
    const { wanted } = this.#texts;
    const running = this.#work?.newest.located ?? wanted.located;
    const { name, revision, kind } = running.definition;
    const facts = this.#work?.facts;
    const rollout = this.#work?.rollout;
    return {
      name,
      revision,
      apiVersion: apiVersionOf(kind.gvk),
      kind: kind.gvk.kind,
      state: this.#standing.state,
      instances: facts?.instances ?? 0,
      leftInPlace: facts?.leftInPlace ?? 0,
      queued: this.#work?.depth ?? 0,
      problems: facts?.problems ?? [],
      ...(facts && { missingRights: facts.missingRights, readyInstances: facts.ready }),
      ...this.#texts.viewBeside(running),
      ...(wanted.isPaused && { isPaused: true }),
      ...(rollout && { rollout }),
    };
  }

  /** Brings gauges up to date, for a scrape. */
  observe(): void {
    this.#work?.observe();
    this.#metrics?.observe(this.view, this.#work?.facts);
  }

  /** Resolves when it is known for the first time whether the definition may have its CRD, or when it has ended. */
  get crdDecided(): Promise<void> {
    return this.#crdDecided.promise;
  }

  /**
   * From now on this text is wanted. What runs goes on until the text is found to be good, and longer if it is not; of several texts in
   * a row only the last counts. It must be of the same kind.
   */
  update(wanted: WantedDefinition): void {
    this.#texts.update(wanted);
    this.#work?.approve(wanted.approvedDeletions);
    this.#work?.pause(wanted.isPaused === true);
    this.#options.bell.ring();
  }

  /**
   * Runs until the signal aborts and all passes have ended. Never rejects. `rival`: a definition that brings the same CRD and comes
   * first; where the CRD is nobody's yet, it is that one's.
   */
  async run(signal: AbortSignal, rival?: DefinitionRunner): Promise<void> {
    // Not before: what ran before under this name takes its series with it.
    const metrics = new DefinitionMetrics(this.#options.metrics, this.view.name);
    this.#metrics = metrics;
    await this.#giveWayTo(rival, signal);
    let failures = 0;
    while (!signal.aborted) {
      const attempt = this.#texts.attempt(signal);
      let error: unknown;
      try {
        if (await this.#round({ attempt, signal, metrics })) failures = 0;
      } catch (caught) {
        if (signal.aborted) break;
        error = caught;
        if (!attempt.aborted) this.#fail(error, failures);
      }
      await waitToRetry(backoffMs(failures++, retry), error, { ...this.#options, signal: attempt });
      if (attempt.aborted) failures = 0;
    }
    this.#crdDecided.resolve();
    await this.#finisher?.stop();
    this.#metrics = undefined;
    await metrics.forget();
  }

  async #giveWayTo(rival: DefinitionRunner | undefined, signal: AbortSignal): Promise<void> {
    if (rival === undefined) return;
    const { name } = rival.#texts.wanted.located.definition;
    this.#standing.starting(`The definition "${name}" brings the same CustomResourceDefinition`);
    const isOver = new AbortController();
    void rival.crdDecided.then(() => isOver.abort());
    await whenAborted(AbortSignal.any([signal, isOver.signal]));
  }

  /** One life: from the kind to the end of the last pass. False: it was refused. */
  async #round(terms: RoundTerms): Promise<boolean> {
    const { attempt, signal } = terms;
    const { cluster } = this.#options;
    const { located } = this.#texts.wanted;
    if (this.#options.whenFormersKnown !== undefined) {
      this.#standing.starting('Its older revisions are being read');
      let failures = 0;
      const onFailure = (error: KubeError) => this.#standing.failed(error, failures++);
      await this.#options.whenFormersKnown(attempt, onFailure);
    }
    const { definition } = located;
    const onMissing = () => this.#standing.waiting(definition.kind);
    const held =
      definition.kind.source === 'for'
        ? await whenServed(definition, { cluster, onMissing }, attempt)
        : undefined;
    try {
      const found = await this.#texts.prepareFirst(attempt).catch((error: unknown) => {
        // Whatever it is that the definition cannot do, deletions need not wait for it.
        if (!attempt.aborted && !isSilence(error)) this.#finishDeletions(signal);
        throw error;
      });
      if (found.kind === 'refused') {
        this.#refuse(found.refusal);
        this.#finishDeletions(signal);
        return false;
      }
      await this.#finisher?.stop();
      this.#finisher = undefined;
      await this.#workOn(found.prepared, { ...terms, onStarted: () => held?.release() });
      return true;
    } finally {
      held?.release();
    }
  }

  #finishDeletions(signal: AbortSignal): void {
    if (signal.aborted) return;
    const { definition } = this.#texts.wanted.located;
    this.#finisher ??= startFinisher({ ...this.#options, definition, isBroken: true }, signal);
  }

  #fail(error: unknown, failures: number): void {
    this.#standing.failed(error, failures);
    if (!isSilence(error)) this.#crdDecided.resolve();
  }

  #refuse(refusal: Refusal): void {
    this.#crdDecided.resolve();
    this.#standing.refused(refusal);
  }

  async #workOn(first: Prepared, terms: WorkTerms): Promise<void> {
    const { attempt, signal, metrics, onStarted } = terms;
    const onLost = (reason: string) => this.#standing.lost(reason);
    const work = new DefinitionWork(
      { ...this.#options, definitionMetrics: metrics, onLost },
      first,
    );
    this.#work = work;
    this.#standing.syncing();
    const ending = new AbortController();
    try {
      await this.#texts.withFormers(first, (formers) => work.start(formers, attempt), attempt);
      onStarted();
      this.#standing.running(work.facts);
      const { approvedDeletions, isPaused = false } = this.#texts.wanted;
      work.approve(approvedDeletions);
      work.pause(isPaused);
      const following = this.#texts.follow(work, AbortSignal.any([signal, ending.signal]));
      await work.run(signal);
      ending.abort(new Error('The work has ended'));
      await following;
    } finally {
      work.stop();
      this.#work = undefined;
    }
  }
}

interface RoundTerms {
  /** Aborts also when another text is wanted. */
  readonly attempt: AbortSignal;
  readonly signal: AbortSignal;
  readonly metrics: DefinitionMetrics;
}

interface WorkTerms extends RoundTerms {
  /** All that it watches is being watched. */
  readonly onStarted: () => void;
}
