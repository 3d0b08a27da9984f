import { Controller, type Outcome, type Turn } from '../../controller/index.ts';
import type { LocatedDefinition } from '../../definition/index.ts';
import { type CacheEvent, type Informer, KubeError } from '../../kube/roles.ts';
import { rightText, settled } from '../../reconcile/index.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { orAborted } from '../../util/or-aborted.ts';
import type { DefinitionOrigin, WantedSet } from '../wanted-definition.ts';
import { AbsentNames } from './absent-names.ts';
import type { DefinitionRevisions, DefinitionRevisionsOptions } from './definition-revisions.ts';
import { isOwnRecord, recordedPlace } from './record-owner.ts';
import { RecordedRevisions } from './recorded-revisions.ts';
import { definitionOf, revisionGvk, revisionSelector } from './revision-object.ts';
import { RevisionWriter } from './revision-writer.ts';

const maxDelayMs = 60_000;
const permanentMs = 600_000;

/** A controller whose keys are names of definitions. */
export class RevisionKeeper implements DefinitionRevisions {
  readonly #options: DefinitionRevisionsOptions;
  readonly #controller: Controller;
  readonly #read = Promise.withResolvers<void>();
  /** By name: what is to be on record as the newest. */
  readonly #accepted = new Map<string, LocatedDefinition>();
  /** By name: where its text stands, or stood last, as its record says it. */
  readonly #places = new Map<string, DefinitionOrigin | undefined>();
  readonly #absent: AbsentNames;
  readonly #recorded: RecordedRevisions;
  /** By name: what was on record when this process began; resources may still have one of those. */
  readonly #before = new Map<string, readonly LocatedDefinition[]>();
  readonly #writer: RevisionWriter;
  #hasRead = false;
  #hasAnswer = false;
  /** Why there is no answer yet. */
  #silence: KubeError | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #silenceListeners = new Set<(error: KubeError) => void>();
  /** There is a text of which nobody can say what stands in it. */
  #mayHide = false;
  #warning: string | undefined;
  /** What was told last. */
  #trouble: string | undefined;

  constructor(options: DefinitionRevisionsOptions) {
    const { clock, logger, metrics, areSourcesRead = () => true, owner } = options;
    const keeps = (place: DefinitionOrigin | undefined) =>
      owner === undefined || isOwnRecord(place, owner);
    this.#options = options;
    this.#recorded = new RecordedRevisions({ logger, keeps });
    this.#writer = new RevisionWriter({
      ...{ ...options, keeps, recorded: this.#recorded },
      onRecorded: () => {
        this.#warning = undefined;
        this.#trouble = undefined;
      },
    });
    this.#absent = new AbsentNames({
      clock,
      mayForget: () => !this.#mayHide && areSourcesRead(),
      onGone: (name) => {
        for (const memory of [this.#accepted, this.#places, this.#before]) memory.delete(name);
        this.#writer.forget(name);
        this.#controller.enqueue(name);
      },
    });
    this.#controller = new Controller({
      name: 'homeostat.dev/definition-revisions',
      reconciler: { reconcile: (name, turn) => this.#keep(name, turn) },
      clock,
      logger,
      metrics,
      concurrency: 2,
      maxDelayMs,
    });
  }

  get warning(): string | undefined {
    return this.#warning;
  }

  known(): ReadonlyMap<string, readonly LocatedDefinition[]> {
    const recorded = this.#recorded.all();
    const names = new Set([...this.#accepted.keys(), ...recorded.keys(), ...this.#before.keys()]);
    return new Map(
      Array.from(names, (name) => {
        const accepted = this.#accepted.get(name);
        const older = [...(recorded.get(name) ?? []), ...(this.#before.get(name) ?? [])];
        return [name, distinct(accepted === undefined ? older : [accepted, ...older])];
      }),
    );
  }

  get isAnswered(): boolean {
    return this.#hasAnswer;
  }

  onKnown(listener: () => void): () => void {
    const entry = () => listener();
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  onSilence(listener: (error: KubeError) => void): () => void {
    const entry = (error: KubeError) => listener(error);
    this.#silenceListeners.add(entry);
    if (this.#silence !== undefined) entry(this.#silence);
    return () => this.#silenceListeners.delete(entry);
  }

  whenKnown(signal: AbortSignal): Promise<void> {
    return orAborted(this.#read.promise, signal);
  }

  accepted(located: LocatedDefinition): void {
    const { name, revision } = located.definition;
    if (this.#accepted.get(name)?.definition.revision !== revision) this.#writer.forget(name);
    this.#accepted.set(name, located);
    this.#controller.enqueue(name);
  }

  show({ definitions, refusedTexts = [], broken = [] }: WantedSet): void {
    for (const { located, origin } of definitions) this.#place(located.definition.name, origin);
    this.#mayHide = refusedTexts.some(({ name }) => name === undefined);
    this.#absent.present([
      ...definitions.map(({ located }) => located.definition.name),
      ...broken.map(({ definition }) => definition.name),
      ...refusedTexts.flatMap(({ name }) => name ?? []),
    ]);
    for (const name of this.#recorded.names) this.#absent.exists(name);
  }

  /** The text stands there now. */
  #place(name: string, origin: DefinitionOrigin | undefined): void {
    const { owner } = this.#options;
    const place = origin && owner ? recordedPlace(origin, owner) : origin;
    if (deepEqual(this.#places.get(name), place)) return;
    this.#places.set(name, place);
    this.#controller.enqueue(name);
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#follow(signal);
      this.#read.resolve();
      await Promise.all([this.#followLater(signal), this.#controller.run(signal)]);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#absent.stop();
      this.#recorded.informer?.release();
    }
  }

  /** Watches what is on record, unless that is forbidden. Resolves when it is known which. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { cluster, namespace } = this.#options;
    const objects = cluster.acquire({
      gvk: revisionGvk,
      namespace,
      labelSelector: revisionSelector,
    });
    this.#recorded.informer = objects;
    objects.subscribe((event) => this.#noted(event));
    // Where no server answers at the start, what was on record before is read when one does.
    const unsubscribe = objects.onState(() => this.#look(objects, unsubscribe));
    await settled(objects, signal);
    this.#look(objects, unsubscribe);
    if (objects.state.kind !== 'failing' || objects.state.error.code !== 'forbidden') return;
    // Whoever may not see them does without: an informer would go on asking for the right.
    this.#tellTrouble(objects.state.error);
    this.#recorded.informer = undefined;
    objects.release();
  }

  /** The record has changed: what this process has accepted is put back. */
  #noted({ old, current }: CacheEvent): void {
    const object = (current ?? old)?.object;
    if (object === undefined) return;
    this.#controller.enqueue(definitionOf(object));
  }

  #tellKnown(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /** Reads once what is on record; a refusal is an answer as well. */
  #look(objects: Informer, unsubscribe: () => void): void {
    const { state } = objects;
    const isRead = state.kind === 'synced' && !this.#hasRead;
    const isRefused = state.kind === 'failing' && !saysLater(state.error);
    if (isRead) {
      this.#hasRead = true;
      unsubscribe();
      for (const [name, revisions] of this.#recorded.all()) this.#before.set(name, revisions);
    }
    if (state.kind === 'failing' && !isRefused) this.#tellSilence(state.error);
    const isNews = isRead || (isRefused && !this.#hasAnswer);
    if (!isNews) return;
    this.#hasAnswer = true;
    this.#silence = undefined;
    this.#tellKnown();
  }

  #tellSilence(error: KubeError): void {
    if (this.#hasAnswer) return;
    this.#silence = error;
    for (const listener of [...this.#silenceListeners]) listener(error);
  }

  /** Looks now and then whether what was forbidden still is. */
  async #followLater(signal: AbortSignal): Promise<void> {
    while (this.#recorded.informer === undefined && !signal.aborted) {
      await this.#options.clock.sleep(permanentMs, signal).catch(() => {});
      if (!signal.aborted) await this.#follow(signal);
    }
    await this.#recorded.informer?.whenSynced(signal).catch(() => {});
    for (const name of this.#recorded.names) this.#absent.exists(name);
    for (const name of this.#accepted.keys()) this.#controller.enqueue(name);
  }

  async #keep(name: string, { signal }: Turn): Promise<Outcome> {
    if (this.#recorded.informer?.state.kind !== 'synced') return { kind: 'done' };
    const accepted = this.#accepted.get(name);
    try {
      if (accepted !== undefined) {
        const afterMs = await this.#writer.record(accepted, this.#places.get(name), signal);
        if (afterMs > 0) return { kind: 'requeue', afterMs, reason: 'Others write it as well' };
      } else if (this.#absent.isGone(name)) await this.#writer.removeAll(name, signal);
      return { kind: 'done' };
    } catch (error) {
      // On a laptop there need be no namespace of ours.
      const hasNoPlace = error instanceof KubeError && error.code === 'not-found';
      if (!(error instanceof KubeError) || !(error.isPermanent || hasNoPlace)) throw error;
      return { kind: 'failed', afterMs: permanentMs, reason: this.#tellTrouble(error) };
    }
  }

  /** Said once: it is the same for all definitions. */
  #tellTrouble({ right, message, code }: KubeError): string {
    const reason = right === undefined ? message : rightText(right);
    const level = code === 'not-found' ? 'info' : 'warn';
    if (this.#trouble !== reason)
      this.#options.logger[level]({ reason }, 'Revisions of definitions are not kept');
    this.#trouble = reason;
    this.#warning = code === 'not-found' ? undefined : reason;
    return reason;
  }
}

/** Each revision once, where it comes first. */
function distinct(all: readonly LocatedDefinition[]): readonly LocatedDefinition[] {
  const seen = new Set<string>();
  return all.filter(({ definition: { revision } }) => {
    const isNew = !seen.has(revision);
    seen.add(revision);
    return isNew;
  });
}

/** No answer, or one that says nothing but that the server has none at the moment. */
function saysLater({ isSilence, code }: KubeError): boolean {
  return isSilence || code === 'unavailable' || code === 'too-many-requests' || code === 'timeout';
}
