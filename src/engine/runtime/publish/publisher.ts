import type { ManifestCheck } from '#check';
import { KubeError, type Reader, type Writer } from '#kube/roles.ts';
import type { Logger } from '#telemetry/roles.ts';
import { backoffMs } from '#util/backoff.ts';
import type { Clock } from '#util/clock.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { errorLogFields, HomeostatError } from '#util/homeostat-error.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  configMapKeyOf,
  type DefinitionOrigin,
  isSameOrigin,
  originText,
} from '../desired-definition.ts';
import type { OwnObjects } from '../objects/own-object-informer.ts';
import type { DefinitionSource } from '../sources/definition-source.ts';
import type { StatusEvent } from '../view-part.ts';
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
  /** The publishing step of a name must run. `isUrgent`: its own manifest has changed. */
  readonly enqueue: (name: string, isUrgent: boolean) => void;
  /** Called when the rejected claims of a name change. */
  readonly onRejectedClaims: (rejected: readonly RejectedClaim[]) => void;
}

/** Delays between attempts of a step. */
const retryDelays = { baseDelayMs: 5, maxDelayMs: 60_000 };
/**
 * Delays between attempts to publish a manifest that the API server rejects. It is not sent again by itself: what the server accepts
 * depends on its configuration. A reconcile of the definition after the delay sends it.
 */
const rejectedDelays = { baseDelayMs: 1_000, maxDelayMs: 60_000 };
/** Failures in a row before a warning is logged: about a second. */
const loggedFailures = 7;
const complete: Step = { isPartial: false, afterMs: 0 };

/** A step that has failed. */
interface FailedStep {
  /** In a row. */
  readonly failures: number;
  /** Whether a warning was logged for this row. */
  readonly isLogged: boolean;
  /** Monotonic time of the next attempt. */
  readonly notBeforeMs: number;
}

/** A manifest that the API server has rejected. */
interface RejectedManifest {
  readonly document: NamedDocument;
  /** As shown on its object. */
  readonly line: string;
  /** In a row. */
  readonly failures: number;
  /** Monotonic time of the next attempt. */
  readonly notBeforeMs: number;
}

/** What a step has done. */
export interface Step {
  /** It has written, and there is more to write: call it again before anything else. */
  readonly isPartial: boolean;
  /** When to call it again, in ms; 0: after the next change. */
  readonly afterMs: number;
}

/** The manifests, and which objects match them. */
export interface PublishedManifests {
  /**
   * Makes the object of that name equal to its manifest, with at most one write that succeeds. A failure is logged, and does not concern
   * what runs.
   * @throws errors that are bugs, or the signal's reason
   */
  publish(name: string, signal: AbortSignal): Promise<Step>;
  /** State of an origin. Undefined: the sources have not been read. */
  originState(origin: DefinitionOrigin): OriginState | undefined;
  /** The names of all manifests. */
  readonly names: Iterable<string>;
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

/** Publishes manifests as `OperatorDefinition` objects: a step of the reconcile of a definition. */
export class Publisher implements PublishedManifests {
  readonly #options: PublisherOptions;
  readonly #source: ManifestReader;
  readonly #writer: ObjectWriter;
  /** Undefined: the sources have not been read. */
  #manifests: Manifests | undefined;
  readonly #published = new Map<string, Published>();
  /** By name. */
  readonly #failed = new Map<string, FailedStep>();
  readonly #rejected = new Map<string, readonly RejectedClaim[]>();
  /** By name. */
  readonly #rejectedByServer = new Map<string, RejectedManifest>();

  constructor(options: PublisherOptions) {
    const { cluster, clock, logger, sources, check } = options;
    this.#options = options;
    this.#writer = new ObjectWriter(cluster, clock);
    this.#source = new ManifestReader({
      sources,
      clock,
      logger,
      check,
      onManifests: (now) => this.#onManifests(now),
    });
  }

  /** In the order of the sources. */
  get sources(): readonly SourceState[] {
    return this.#source.sources;
  }

  /** Reads manifests until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#source.run(signal);
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

  /** The names of all manifests. */
  get names(): Iterable<string> {
    return this.#manifests?.claims.keys() ?? [];
  }

  #onManifests(now: Manifests): void {
    const before = this.#manifests;
    this.#manifests = now;
    this.#options.onManifests?.(now);
    for (const name of new Set([...(before?.claims.keys() ?? []), ...now.claims.keys()]))
      if (!isSameClaims(before?.claims.get(name), now.claims.get(name))) {
        this.#writer.forget(name);
        this.#failed.delete(name);
        this.#rejectedByServer.delete(name);
        this.#options.enqueue(name, true);
      }
    // Objects without a claim depend on the state of all origins, and all objects on whether their source can be read.
    const hasNewErrors = !deepEqual(before?.sourceErrors ?? [], now.sourceErrors);
    for (const name of this.#objectNames())
      if (hasNewErrors || !now.claims.has(name)) this.#options.enqueue(name, false);
  }

  #objectNames(): Iterable<string> {
    return Iterator.from(this.#options.objects.list()).map(({ metadata }) => metadata.name);
  }

  async publish(name: string, signal: AbortSignal): Promise<Step> {
    const { notBeforeMs = 0 } = this.#failed.get(name) ?? {};
    const holdMs = notBeforeMs - this.#nowMs;
    if (holdMs > 0) return after(holdMs);
    const manifests = this.#manifests;
    try {
      return await this.#step(name, signal);
    } catch (error) {
      if (signal.aborted || !(error instanceof HomeostatError)) throw error;
      // A failure of the previous manifest does not delay the next one, which is enqueued.
      if (manifests !== this.#manifests) return complete;
      return after(this.#noteFailure(name, error));
    }
  }

  /** @returns when to try again, in ms */
  #noteFailure(name: string, error: HomeostatError): number {
    const { clock, logger } = this.#options;
    const { failures = 0, isLogged = false } = this.#failed.get(name) ?? {};
    const afterMs = backoffMs(failures, retryDelays);
    // Others may pass in moments: a conflict with another client, a server that restarts.
    const lasts = failures >= loggedFailures || (error instanceof KubeError && error.isPermanent);
    this.#failed.set(name, {
      failures: failures + 1,
      isLogged: isLogged || lasts,
      notBeforeMs: clock.monotonicMs() + afterMs,
    });
    logger[lasts && !isLogged ? 'warn' : 'debug'](
      { definition: name, ...errorLogFields(error), afterMs },
      'Manifest cannot be published, will retry',
    );
    return afterMs;
  }

  /** @throws KubeError */
  async #step(name: string, signal: AbortSignal): Promise<Step> {
    const { objects, runtime, clock, deleteDelayMs = 600_000 } = this.#options;
    const now = this.#manifests;
    if (now === undefined || !objects.isSynced) return complete;
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
    if (delayMs > 0) return after(delayMs);
    const isComplete = await this.#perform(step, live, signal);
    this.#failed.delete(name);
    return { isPartial: !isComplete, afterMs: 0 };
  }

  /** @returns whether there is nothing more to write. @throws KubeError */
  async #perform(
    step: PublishStep,
    live: KubeObject | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (step.kind === 'publish') return this.#publish(step.document, live, signal);
    if (step.kind === 'reject') return this.#reject(step.document, live, signal);
    if (step.kind === 'note-unreadable' && live !== undefined)
      await this.#noteUnreadable(live, step.errors, signal);
    if (step.kind === 'withdraw' && live !== undefined) await this.#withdraw(live, signal);
    if (step.kind === 'delete' && live !== undefined) await this.#writer.delete(live, signal);
    return true;
  }

  /** @returns whether there is nothing more to write. @throws KubeError */
  async #publish(
    document: NamedDocument,
    live: KubeObject | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { runtime } = this.#options;
    const { located, warnings, name, manifest } = document;
    if (located === undefined) return true;
    const desired = publicationOf({
      name,
      runtime,
      origin: manifest.origin,
      document: located.document,
    });
    if (live !== undefined && this.#isShown(desired, live)) {
      this.#setPublished(name, { desired, stored: live, located, warnings });
      if (!hasNote(live, {})) await this.#writer.note(live, {}, signal);
      return true;
    }
    const rejected = this.#rejectedByServer.get(name);
    const isHeld = rejected?.document === document && rejected.notBeforeMs > this.#nowMs;
    if (isHeld) return this.#reject({ ...document, errors: [rejected.line] }, live, signal);
    try {
      const stored = await this.#writer.publish(desired, live, signal);
      this.#rejectedByServer.delete(name);
      this.#recordRevert(desired, live, manifest.origin);
      this.#setPublished(name, { desired, stored, located, warnings });
      return hasNote(stored, {});
    } catch (error) {
      if (!(error instanceof KubeError && isInvalid(error))) throw error;
      const line = this.#noteRejection(document, error);
      return this.#reject({ ...document, errors: [line] }, live, signal);
    }
  }

  /** @returns the error for its object */
  #noteRejection(document: NamedDocument, { message }: KubeError): string {
    const { name, manifest } = document;
    const line = `${manifest.file}:1:1: Rejected by the API server: ${message}`;
    const before = this.#rejectedByServer.get(name);
    const failures = before?.document === document ? before.failures : 0;
    const notBeforeMs = this.#nowMs + backoffMs(failures, rejectedDelays);
    const rejected = { document, line, failures: failures + 1, notBeforeMs };
    this.#rejectedByServer.set(name, rejected);
    return line;
  }

  /** Monotonic. */
  get #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  #setPublished(name: string, next: Published | undefined): void {
    if (next === undefined) this.#published.delete(name);
    else this.#published.set(name, next);
  }

  /** The accepted revision keeps running. @returns whether there is nothing more to write. @throws KubeError */
  async #reject(
    { name, manifest: { origin }, errors: rejected, controls }: NamedDocument,
    live: KubeObject | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { runtime } = this.#options;
    this.#setPublished(name, undefined);
    const note: ManifestNote = { rejected, controls };
    // A manifest that takes over the name is shown with its errors, too.
    const its = live && originOfPublished(live);
    const shown = its !== undefined && isSameOrigin(its, origin) ? live : undefined;
    if (shown === undefined) {
      const empty = publicationOf({ name, origin, runtime });
      const publication = { ...empty, spec: live?.spec ?? {} };
      return hasNote(await this.#writer.publish(publication, live, signal), note);
    }
    if (!hasNote(shown, note)) await this.#writer.note(shown, note, signal);
    return true;
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

function after(afterMs: number): Step {
  return { ...complete, afterMs };
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
