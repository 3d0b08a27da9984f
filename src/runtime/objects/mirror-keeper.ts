import { type ApplyOptions, type EventRecorder, KubeError, type Writer } from '../../kube/roles.ts';
import { appliedHashOf } from '../../reconcile/index.ts';
import type { Clock } from '../../util/clock.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import type { JsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { flowOf, passOf } from './definition-flow.ts';
import { handedOver } from './hand-over.ts';
import { emptied, isAsMirrored, mirrorManager, mirrorOf, runtimeOfMirror } from './mirror.ts';
import { definitionGvk } from './names.ts';
import { putBack, wasEdited } from './put-back.ts';
import { documentsOf, type ToldDefinition } from './told-definitions.ts';
import { WritePace } from './write-pace.ts';

/** What the server has made of a mirror that it does not take as it is. */
interface Concession {
  /** The path hash of what was wanted. */
  readonly wanted: string | undefined;
  readonly spec: unknown;
}

/** The object as it is then; or how long its next write has to wait, in ms: somebody else keeps changing it. */
export type MirrorResult = KubeObject | number;

/** Makes and removes the objects that show texts of elsewhere. */
export class MirrorKeeper {
  readonly #cluster: Writer & { readonly events: EventRecorder };
  readonly #runtime: string | undefined;
  readonly #pace: WritePace;
  /** By name: the path hash of what was wanted last. */
  readonly #applied = new Map<string, string | undefined>();
  /** By name. */
  readonly #concessions = new Map<string, Concession>();
  /** Names of mirrors that have been ours: of two runtimes that read the same text the last one to begin has its mirror. */
  readonly #claimed = new Set<string>();

  /** `runtime`: whose directories are shown. */
  constructor(
    cluster: Writer & { readonly events: EventRecorder },
    clock: Clock,
    runtime?: string,
  ) {
    this.#cluster = cluster;
    this.#runtime = runtime;
    this.#pace = new WritePace(clock, { burst: 10, refillMs: 6_000 });
  }

  /**
   * Brings the mirror about, in one apply where it is not there yet. Where the server does not take the newest text it shows what runs, or
   * no text at all: its conditions tell.
   * @throws KubeError
   */
  async keep(
    told: ToldDefinition,
    live: KubeObject | undefined,
    signal: AbortSignal,
  ): Promise<MirrorResult> {
    const { name, origin } = told;
    const mirrorTo = (document: JsonObject) => mirrorOf(name, origin, document, this.#runtime);
    const wanted = documentsOf(told).map(mirrorTo);
    const [newest] = wanted;
    const last = wanted.at(-1) ?? mirrorTo({});
    if (live !== undefined && this.#isKept(newest ?? last, live)) return live;
    const delayMs = this.#paceOf(newest ?? last);
    if (delayMs > 0) return delayMs;
    const [mirror, stored] = await this.#applyFirst({ wanted, last }, live, signal);
    if (wasEdited(live, mirror, stored))
      this.#cluster.events.record({ ...putBack(origin), regarding: stored, definition: name });
    return this.#note(newest ?? last, stored);
  }

  /** The first one that the server takes, else the last one without a text; and the object as it is then. */
  async #applyFirst(
    { wanted, last }: { readonly wanted: readonly KubeObject[]; readonly last: KubeObject },
    live: KubeObject | undefined,
    signal: AbortSignal,
  ): Promise<readonly [KubeObject, KubeObject]> {
    for (const mirror of wanted) {
      const stored = await this.#tryApply(mirror, live, signal);
      if (stored !== undefined) return [mirror, stored];
    }
    return [last, await this.#apply(emptied(last), live, signal)];
  }

  /** Removes the mirror, and nothing besides. @throws KubeError */
  async remove(live: KubeObject, signal: AbortSignal): Promise<void> {
    const { name, uid = '' } = live.metadata;
    this.#forget(name);
    const ref = { gvk: definitionGvk, name };
    try {
      await this.#cluster.delete(ref, { uid, flow: flowOf(name), pass: passOf(name) }, signal);
    } catch (error) {
      // There is another one by now, whose event follows.
      if (!(error instanceof KubeError && error.code === 'uid-mismatch')) throw error;
    }
  }

  /** Makes an object of it that is its own source. Undefined: it is gone. @throws KubeError */
  async handOver(live: KubeObject, signal: AbortSignal): Promise<KubeObject | undefined> {
    const { name, uid = '' } = live.metadata;
    this.#forget(name);
    const stored = await this.#cluster.editMetadata(
      { gvk: definitionGvk, name },
      { uid, flow: flowOf(name), pass: passOf(name), change: handedOver },
      signal,
    );
    return stored?.object;
  }

  #forget(name: string): void {
    this.#claimed.delete(name);
    this.#concessions.delete(name);
    this.#applied.delete(name);
  }

  /** A new text is shown at once; one that somebody else keeps changing is put back now and then. */
  #paceOf(mirror: KubeObject): number {
    const { name } = mirror.metadata;
    const hash = appliedHashOf(mirror);
    if (this.#applied.get(name) !== hash) this.#pace.forget(name);
    this.#applied.set(name, hash);
    const delayMs = this.#pace.delayOf(name);
    if (delayMs === 0) this.#pace.written(name);
    return delayMs;
  }

  #isKept(wanted: KubeObject, live: KubeObject): boolean {
    const { name } = wanted.metadata;
    if (runtimeOfMirror(live) === runtimeOfMirror(wanted)) this.#claimed.add(name);
    if (!this.#claimed.has(name)) return false;
    if (isAsMirrored(live, wanted)) return true;
    const concession = this.#concessions.get(name);
    return (
      concession !== undefined &&
      concession.wanted === appliedHashOf(wanted) &&
      deepEqual(live.spec, concession.spec)
    );
  }

  #note(wanted: KubeObject, stored: KubeObject): KubeObject {
    const { name } = wanted.metadata;
    this.#claimed.add(name);
    if (isAsMirrored(stored, wanted)) this.#concessions.delete(name);
    else this.#concessions.set(name, { wanted: appliedHashOf(wanted), spec: stored.spec });
    return stored;
  }

  /** Undefined: the server does not take it. */
  async #tryApply(
    mirror: KubeObject,
    live: KubeObject | undefined,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    try {
      return await this.#apply(mirror, live, signal);
    } catch (error) {
      if (error instanceof KubeError && isUnfit(error)) return undefined;
      throw error;
    }
  }

  async #apply(
    mirror: KubeObject,
    live: KubeObject | undefined,
    signal: AbortSignal,
  ): Promise<KubeObject> {
    const guard = live === undefined ? { resourceVersion: '1' } : { uid: live.metadata.uid ?? '' };
    const manifest = { ...mirror, metadata: { ...mirror.metadata, ...guard } };
    const { name } = mirror.metadata;
    const options: ApplyOptions = {
      fieldManager: mirrorManager,
      force: true,
      flow: flowOf(name),
      pass: passOf(name),
    };
    const { stored } = await this.#cluster.apply(manifest, options, signal);
    return stored.object;
  }
}

/** It is the text that is not taken, not us. */
function isUnfit({ code }: KubeError): boolean {
  return code === 'rejected' || code === 'too-large';
}
