import type { ManifestCheck } from '../../check/index.ts';
import { Controller, type ReconcileContext, type ReconcileResult } from '../../controller/index.ts';
import { KubeError, type Reader, type Writer } from '../../kube/roles.ts';
import type { Logger, MetricRegistry } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { StatusEvent } from '../definitions/definition-status.ts';
import {
  configMapKeyOf,
  type DefinitionOrigin,
  isSameOrigin,
  originText,
} from '../desired-definition.ts';
import type { OwnObjects } from '../objects/own-object-informer.ts';
import type { DefinitionSource } from '../sources/definition-source.ts';
import { publishedControls } from './definition-controls.ts';
import { ManifestReader, type Manifests, type SourceState } from './manifest-reader.ts';
import { ObjectWriter } from './object-writer.ts';
import type { NamedDocument } from './parsed-manifest.ts';
import {
  type Confirmation,
  hasNote,
  type ManifestNote,
  originOfPublished,
  publicationOf,
  showsPublication,
} from './publication.ts';
import {
  type OriginState,
  type PublishStep,
  planStep,
  type RejectedClaim,
} from './publish-plan.ts';

interface PublisherOptions {
  readonly cluster: Reader & Writer;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  readonly sources: readonly DefinitionSource[];
  readonly check: ManifestCheck;
  /** Of this runtime, as a label value. */
  readonly runtime: string;
  readonly objects: OwnObjects;
  /** Delay before the object of a removed manifest is deleted, in ms. @default 600_000 */
  readonly deleteDelayMs?: number;
  /** Called after the first read and after each change of manifests. */
  readonly onManifests?: (manifests: Manifests) => void;
  /** Called for Events on a published object and on its ConfigMap. */
  readonly onEvent: (event: StatusEvent, object: KubeObject, origin: DefinitionOrigin) => void;
  /** Called when another manifest of the name, or none, is confirmed. */
  readonly onConfirmation: (name: string) => void;
  /** Called when the rejected claims of a name change. */
  readonly onRejectedClaims: (rejected: readonly RejectedClaim[]) => void;
}

/** Objects reconciled in parallel. */
const concurrency = 4;
/** Maximum delay between attempts. */
const maxDelayMs = 60_000;

/** The manifests, and which objects match them. */
export interface PublishedManifests {
  /** State of an origin. Undefined: the sources have not been read. */
  originState(origin: DefinitionOrigin): OriginState | undefined;
  /** Whether a manifest declares that name. */
  hasManifest(name: string): boolean;
  /**
   * The manifest that the object matches. Undefined: none (any more). In memory only, so that principals who can write objects cannot forge
   * it; a new process publishes its manifests again.
   */
  confirmationOf(object: KubeObject): Confirmation | undefined;
}

/** A manifest that is published. */
interface Published extends Confirmation {
  readonly desired: KubeObject;
  /** As the API server has returned it. A later generation was edited by another client. */
  readonly stored: KubeObject;
}

/** Publishes manifests as `OperatorDefinition` objects: a controller whose keys are definition names. */
export class Publisher implements PublishedManifests {
  readonly #options: PublisherOptions;
  readonly #source: ManifestReader;
  readonly #writer: ObjectWriter;
  readonly #controller: Controller;
  /** Undefined: the sources have not been read. */
  #manifests: Manifests | undefined;
  readonly #published = new Map<string, Published>();
  readonly #rejected = new Map<string, readonly RejectedClaim[]>();

  constructor(options: PublisherOptions) {
    const { cluster, clock, logger, metrics, sources, check } = options;
    this.#options = options;
    this.#writer = new ObjectWriter(cluster, clock);
    this.#source = new ManifestReader({
      sources,
      clock,
      logger,
      check,
      onManifests: (now) => this.#onManifests(now),
    });
    this.#controller = new Controller({
      name: 'homeostat.dev/publisher',
      reconciler: { reconcile: (name, turn) => this.#reconcile(name, turn) },
      clock,
      logger,
      metrics,
      concurrency,
      maxDelayMs,
    });
  }

  /** In the order of the sources. */
  get sources(): readonly SourceState[] {
    return this.#source.sources;
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#source.run(signal), this.#controller.run(signal)]);
  }

  /** Undefined: the sources have not been read. */
  get manifests(): Manifests | undefined {
    return this.#manifests;
  }

  confirmationOf({ metadata: { name, uid, generation } }: KubeObject): Confirmation | undefined {
    const found = this.#published.get(name);
    const { metadata } = found?.stored ?? {};
    return metadata?.uid === uid && metadata?.generation === generation ? found : undefined;
  }

  /** Rejected claims, by name. */
  get rejected(): ReadonlyMap<string, readonly RejectedClaim[]> {
    return this.#rejected;
  }

  originState(origin: DefinitionOrigin): OriginState | undefined {
    return this.#manifests?.originState(origin);
  }

  hasManifest(name: string): boolean {
    return (this.#manifests?.claims.get(name) ?? []).length > 0;
  }

  /** Call when the object of that name has changed. */
  enqueue(name: string): void {
    this.#controller.enqueue(name);
  }

  enqueueAll(): void {
    for (const name of new Set([...this.#objectNames(), ...(this.#manifests?.claims.keys() ?? [])]))
      this.#controller.enqueue(name, 'low');
  }

  #onManifests(now: Manifests): void {
    const before = this.#manifests;
    this.#manifests = now;
    this.#options.onManifests?.(now);
    for (const name of new Set([...(before?.claims.keys() ?? []), ...now.claims.keys()]))
      if (!isSameClaims(before?.claims.get(name), now.claims.get(name))) {
        this.#writer.forget(name);
        this.#controller.enqueue(name);
      }
    // Objects without a claim depend on the state of all origins, and all objects on whether their source can be read.
    const hasNewErrors = !deepEqual(before?.sourceErrors ?? [], now.sourceErrors);
    for (const name of this.#objectNames())
      if (hasNewErrors || !now.claims.has(name)) this.#controller.enqueue(name, 'low');
  }

  #objectNames(): Iterable<string> {
    return Iterator.from(this.#options.objects.list()).map(({ metadata }) => metadata.name);
  }

  async #reconcile(name: string, { signal }: ReconcileContext): Promise<ReconcileResult> {
    const { objects, runtime, clock, deleteDelayMs = 600_000 } = this.#options;
    const now = this.#manifests;
    if (now === undefined || !objects.isSynced) return { kind: 'done' };
    const live = objects.get(name);
    const { step, rejected } = planStep({
      live,
      runtime,
      deleteDelayMs,
      claims: now.claims.get(name) ?? [],
      manifests: now,
      nowMs: clock.nowMs(),
    });
    this.#setRejected(name, rejected);
    // Other clients keep changing it.
    const delayMs = step.kind === 'wait' ? step.forMs : this.#writer.delayOf(name);
    if (delayMs > 0) return { kind: 'done', afterMs: delayMs };
    await this.#perform(step, live, signal);
    return { kind: 'done' };
  }

  /** @throws KubeError */
  async #perform(
    step: PublishStep,
    live: KubeObject | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    if (step.kind === 'publish') await this.#publish(step.document, live, signal);
    if (step.kind === 'reject') await this.#reject(step.document, live, signal);
    if (step.kind === 'note-unreadable' && live !== undefined)
      await this.#noteUnreadable(live, step.errors, signal);
    if (step.kind === 'withdraw' && live !== undefined) await this.#withdraw(live, signal);
    if (step.kind === 'delete' && live !== undefined) await this.#writer.delete(live, signal);
  }

  async #publish(
    document: NamedDocument,
    live: KubeObject | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { runtime } = this.#options;
    const { located, warnings, name, manifest } = document;
    if (located === undefined) return;
    const desired = publicationOf({
      name,
      runtime,
      origin: manifest.origin,
      document: located.document,
    });
    let stored = live;
    if (stored === undefined || !this.#isShown(desired, stored)) {
      try {
        stored = await this.#writer.publish(desired, live, signal);
      } catch (error) {
        if (!(error instanceof KubeError && isInvalid(error))) throw error;
        const line = `${manifest.file}:1:1: Rejected by the API server: ${error.message}`;
        return this.#reject({ ...document, errors: [line] }, live, signal);
      }
      this.#recordRevert(desired, live, manifest.origin);
    }
    this.#setPublished(name, { desired, stored, located, warnings });
    if (!hasNote(stored, {})) await this.#writer.note(stored, {}, signal);
  }

  #setPublished(name: string, next: Published | undefined): void {
    const before = this.#published.get(name);
    if (next === undefined) this.#published.delete(name);
    else this.#published.set(name, next);
    const identityOf = ({ located, stored: { metadata } }: Published) =>
      [metadata.uid, metadata.generation, located.definition.revision].join();
    if ((before && identityOf(before)) !== (next && identityOf(next)))
      this.#options.onConfirmation(name);
  }

  /** The accepted revision keeps running. */
  async #reject(
    { name, manifest: { origin }, errors: rejected, controls }: NamedDocument,
    live: KubeObject | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { runtime } = this.#options;
    this.#setPublished(name, undefined);
    const note: ManifestNote = { rejected, controls };
    // A manifest that takes over the name is shown with its errors, too.
    const its = live && originOfPublished(live);
    const shown = its !== undefined && isSameOrigin(its, origin) ? live : undefined;
    const empty = publicationOf({ name, origin, runtime });
    const base =
      shown ?? (await this.#writer.publish({ ...empty, spec: live?.spec ?? {} }, live, signal));
    if (!hasNote(base, note)) await this.#writer.note(base, note, signal);
  }

  /** Its manifest may exist and be another one: what was accepted keeps running, with the controls of the last manifest. */
  async #noteUnreadable(
    live: KubeObject,
    rejected: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    // The last known manifest is not confirmed as the newest one.
    if (this.hasManifest(live.metadata.name)) this.#setPublished(live.metadata.name, undefined);
    const note: ManifestNote = { rejected, controls: publishedControls(live) };
    if (!hasNote(live, note)) await this.#writer.note(live, note, signal);
  }

  async #withdraw(live: KubeObject, signal: AbortSignal): Promise<void> {
    const { name } = live.metadata;
    const { clock, onEvent } = this.#options;
    const origin = originOfPublished(live);
    this.#setPublished(name, undefined);
    if (await this.#writer.hasOtherManagers(live, signal)) {
      await this.#writer.handOver(live, signal);
      if (origin !== undefined) onEvent(handedOverEvent, live, origin);
      return;
    }
    await this.#writer.note(live, { withdrawnAtMs: clock.nowMs() }, signal);
    if (origin !== undefined) onEvent(withdrawnEvent, live, origin);
  }

  #isShown(desired: KubeObject, live: KubeObject): boolean {
    if (showsPublication(live, desired)) return true;
    const before = this.#published.get(desired.metadata.name);
    // A webhook changes what is published, which is accepted.
    return (
      before !== undefined &&
      !showsPublication(before.stored, desired) &&
      deepEqual(before.desired, desired) &&
      deepEqual(before.stored.spec, live.spec)
    );
  }

  /** Tells users who edited the object where its manifest is. */
  #recordRevert(desired: KubeObject, live: KubeObject | undefined, origin: DefinitionOrigin): void {
    const before = this.#published.get(desired.metadata.name);
    const wasEdited =
      live !== undefined &&
      deepEqual(before?.desired, desired) &&
      !deepEqual(live.spec, desired.spec);
    if (wasEdited) this.#options.onEvent(revertedEvent(origin), live, origin);
  }

  #setRejected(name: string, rejected: readonly RejectedClaim[]): void {
    if (deepEqual(this.#rejected.get(name) ?? [], rejected)) return;
    if (rejected.length === 0) this.#rejected.delete(name);
    else this.#rejected.set(name, rejected);
    this.#options.onRejectedClaims(rejected);
  }
}

const withdrawnEvent: StatusEvent = {
  type: 'Normal',
  reason: 'Withdrawn',
  action: 'Load',
  note: 'Its manifest was removed: the definition stops in 30 s, its resources and their children are orphaned',
};

const handedOverEvent: StatusEvent = {
  type: 'Normal',
  reason: 'HandedOver',
  action: 'Load',
  note: 'Its manifest was removed, and other field managers have written the object: the object is now its own source',
};

function revertedEvent(origin: DefinitionOrigin): StatusEvent {
  const place = configMapKeyOf(origin);
  const where = place
    ? `Edit key ${place.key} of the ConfigMap: kubectl edit configmap ${place.name} -n ${place.namespace}`
    : `Edit the file ${origin.ref}`;
  const note = `The edit of spec was reverted: this object is published from ${originText(origin)}. ${where}`;
  return { type: 'Warning', reason: 'Reverted', action: 'Load', note };
}

/** Whether the API server rejects the content, not the request. */
function isInvalid({ code }: KubeError): boolean {
  return code === 'rejected' || code === 'too-large';
}

function isSameClaims(
  before: readonly NamedDocument[] = [],
  now: readonly NamedDocument[] = [],
): boolean {
  return before.length === now.length && before.every((document, index) => document === now[index]);
}
