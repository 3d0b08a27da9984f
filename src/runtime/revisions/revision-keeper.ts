import { Controller, type Outcome, type Turn } from '../../controller/index.ts';
import { createDefinitionParser, type LocatedDefinition } from '../../definition/index.ts';
import { type Informer, KubeError } from '../../kube/roles.ts';
import { rightText, settled } from '../../reconcile/index.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { orAborted } from '../../util/or-aborted.ts';
import type { WantedSet } from '../wanted-definition.ts';
import { AbsentNames } from './absent-names.ts';
import type { DefinitionRevisions, DefinitionRevisionsOptions } from './definition-revisions.ts';
import {
  definitionOf,
  newestFirst,
  numberOf,
  readRevision,
  revisionGvk,
  revisionObject,
  revisionObjectName,
  revisionSelector,
} from './revision-object.ts';

/** So many revisions of a definition are kept. */
const kept = 2;
const fieldManager = 'homeostat/operatordefinitions.revisions';
const maxDelayMs = 60_000;
const permanentMs = 600_000;

/** A controller whose keys are names of definitions. */
export class RevisionKeeper implements DefinitionRevisions {
  readonly #options: DefinitionRevisionsOptions;
  readonly #controller: Controller;
  readonly #read = Promise.withResolvers<void>();
  /** By name: what is to be on record as the newest. */
  readonly #accepted = new Map<string, LocatedDefinition>();
  readonly #absent: AbsentNames;
  #known: ReadonlyMap<string, readonly LocatedDefinition[]> = new Map();
  #hasRead = false;
  #hasAnswer = false;
  /** Why there is no answer yet. */
  #silence: KubeError | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #silenceListeners = new Set<(error: KubeError) => void>();
  /** There is a text of which nobody can say what stands in it. */
  #mayHide = false;
  #objects: Informer | undefined;
  #warning: string | undefined;
  /** What was told last. */
  #trouble: string | undefined;

  constructor(options: DefinitionRevisionsOptions) {
    const { clock, logger, metrics, areSourcesRead = () => true } = options;
    this.#options = options;
    this.#absent = new AbsentNames({
      clock,
      mayForget: () => !this.#mayHide && areSourcesRead(),
      onGone: (name) => {
        this.#accepted.delete(name);
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
    return this.#known;
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
    const { name } = located.definition;
    this.#accepted.set(name, located);
    this.#controller.enqueue(name);
  }

  show({ definitions, refusedTexts = [], broken = [] }: WantedSet): void {
    this.#mayHide = refusedTexts.some(({ name }) => name === undefined);
    this.#absent.present([
      ...definitions.map(({ located }) => located.definition.name),
      ...broken.map(({ definition }) => definition.name),
      ...refusedTexts.flatMap(({ name }) => name ?? []),
    ]);
    for (const { object } of this.#objects?.list() ?? []) this.#absent.exists(definitionOf(object));
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#follow(signal);
      this.#read.resolve();
      await this.#options.leadership.whenLeading(signal);
      await Promise.all([this.#followLater(signal), this.#controller.run(signal)]);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#absent.stop();
      this.#objects?.release();
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
    this.#objects = objects;
    // Where no server answers at the start, what was on record before is read when one does.
    const unsubscribe = objects.onState(() => this.#look(objects, unsubscribe));
    await settled(objects, signal);
    this.#look(objects, unsubscribe);
    if (objects.state.kind !== 'failing' || objects.state.error.code !== 'forbidden') return;
    // Whoever may not see them does without: an informer would go on asking for the right.
    this.#tellTrouble(objects.state.error);
    this.#objects = undefined;
    objects.release();
  }

  /** Reads once what is on record; a refusal is an answer as well. */
  #look(objects: Informer, unsubscribe: () => void): void {
    const { state } = objects;
    const isRead = state.kind === 'synced' && !this.#hasRead;
    const isRefused = state.kind === 'failing' && !saysLater(state.error);
    if (isRead) {
      this.#hasRead = true;
      unsubscribe();
      this.#known = this.#readAll(objects);
    }
    if (state.kind === 'failing' && !isRefused) this.#tellSilence(state.error);
    const isNews = isRead || (isRefused && !this.#hasAnswer);
    if (!isNews) return;
    this.#hasAnswer = true;
    this.#silence = undefined;
    for (const listener of [...this.#listeners]) listener();
  }

  #tellSilence(error: KubeError): void {
    if (this.#hasAnswer) return;
    this.#silence = error;
    for (const listener of [...this.#silenceListeners]) listener(error);
  }

  /** Looks now and then whether what was forbidden still is. */
  async #followLater(signal: AbortSignal): Promise<void> {
    while (this.#objects === undefined && !signal.aborted) {
      await this.#options.clock.sleep(permanentMs, signal).catch(() => {});
      if (!signal.aborted) await this.#follow(signal);
    }
    await this.#objects?.whenSynced(signal).catch(() => {});
    for (const name of this.#known.keys()) this.#absent.exists(name);
    for (const name of this.#accepted.keys()) this.#controller.enqueue(name);
  }

  /** What cannot be read any more, after an upgrade, is no reason to run nothing. */
  #readAll(objects: Informer): ReadonlyMap<string, readonly LocatedDefinition[]> {
    const parser = createDefinitionParser();
    const known = new Map<string, LocatedDefinition[]>();
    for (const object of newestFirst(Array.from(objects.list(), (stored) => stored.object))) {
      const located = readRevision(object, parser);
      if (typeof located === 'string') {
        const about = { revision: object.metadata.name, reason: located };
        this.#options.logger.warn(about, 'Revision on record cannot be used any more');
        continue;
      }
      const name = definitionOf(object);
      known.set(name, [...(known.get(name) ?? []), located]);
    }
    return known;
  }

  async #keep(name: string, { signal }: Turn): Promise<Outcome> {
    const objects = this.#objects;
    if (objects?.state.kind !== 'synced') return { kind: 'done' };
    const accepted = this.#accepted.get(name);
    const recorded = newestFirst(
      Array.from(objects.list(), ({ object }) => object).filter(
        (object) => definitionOf(object) === name,
      ),
    );
    try {
      if (accepted === undefined && !this.#absent.isGone(name)) return { kind: 'done' };
      const newest = accepted && revisionObjectName(name, accepted.definition.revision);
      if (accepted !== undefined && recorded[0]?.metadata.name !== newest)
        await this.#record(accepted, recorded, signal);
      const others = recorded.filter(({ metadata }) => metadata.name !== newest);
      for (const object of others.slice(accepted === undefined ? 0 : kept - 1))
        await this.#remove(object, signal);
      return { kind: 'done' };
    } catch (error) {
      // On a laptop there need be no namespace of ours.
      const hasNoPlace = error instanceof KubeError && error.code === 'not-found';
      if (!(error instanceof KubeError) || !(error.isPermanent || hasNoPlace)) throw error;
      return { kind: 'failed', afterMs: permanentMs, reason: this.#tellTrouble(error) };
    }
  }

  /** As the newest; one that is there already only gets the next number. */
  async #record(
    located: LocatedDefinition,
    recorded: readonly KubeObject[],
    signal: AbortSignal,
  ): Promise<void> {
    const { cluster, namespace } = this.#options;
    const number = Math.max(0, ...recorded.map(numberOf)) + 1;
    const { name } = located.definition;
    await cluster.apply(
      revisionObject(located, { namespace, number }),
      { fieldManager, force: true, flow: { name, priority: 'status' } },
      signal,
    );
    this.#warning = undefined;
    this.#trouble = undefined;
  }

  async #remove({ metadata }: KubeObject, signal: AbortSignal): Promise<void> {
    const { name, namespace = '', uid = '' } = metadata;
    const flow = {
      name: definitionOf({ apiVersion: '', kind: '', metadata }),
      priority: 'status',
    } as const;
    await this.#options.cluster.delete(
      { gvk: revisionGvk, namespace, name },
      { uid, flow },
      signal,
    );
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

/** No answer, or one that says nothing but that the server has none at the moment. */
function saysLater({ isSilence, code }: KubeError): boolean {
  return isSilence || code === 'unavailable' || code === 'too-many-requests' || code === 'timeout';
}
