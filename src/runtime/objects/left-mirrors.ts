import type { EventRecorder, Reader, StoredObject } from '../../kube/roles.ts';
import type { Clock } from '../../util/clock.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { DefinitionOrigin } from '../wanted-definition.ts';
import type { ConfigMapEvents } from './config-map-events.ts';
import { flowOf, passOf } from './definition-flow.ts';
import { liveStatus } from './definition-status.ts';
import { isWrittenByOthers } from './hand-over.ts';
import type { Kept } from './kept.ts';
import { marksIn } from './marks.ts';
import { mirrorManager, originOfMirror, placeOfMirror } from './mirror.ts';
import type { MirrorKeeper } from './mirror-keeper.ts';
import { definitionGvk, sourceLabel } from './names.ts';
import { type Idle, originText } from './told-definitions.ts';
import { WritePace } from './write-pace.ts';

/** Whoever keeps a mirror has put it back by then. */
const othersMs = 10_000;
/** So long a paused one stays without a text: as the records of revisions do. */
const patienceMs = 600_000;

export interface LeftMirrorsOptions {
  readonly cluster: Pick<Reader, 'fieldOwners'> & { readonly events: EventRecorder };
  readonly clock: Clock;
  readonly mirrors: MirrorKeeper;
  /** Are all texts known here that stand where that of the mirror does? */
  readonly isReadHere: (mirror: KubeObject, origin: DefinitionOrigin) => boolean;
  /** Are objects that are their own source read here? */
  readonly readsObjects: () => boolean;
}

interface Change {
  readonly generation: number | undefined;
  /** Monotonic. */
  readonly sinceMs: number;
}

/** What becomes of mirrors that no text is known for: it is gone, or read by somebody else. */
export class LeftMirrors {
  readonly #options: LeftMirrorsOptions;
  /** Mirrors of others that are not as these have left them, by name. */
  readonly #changes = new Map<string, Change>();
  /** Since when paused ones have no text, by name. Monotonic. */
  readonly #held = new Map<string, number>();
  /** Somebody may make again and again what is removed. */
  readonly #pace: WritePace;

  constructor(options: LeftMirrorsOptions) {
    this.#options = options;
    this.#pace = new WritePace(options.clock, { burst: 10, refillMs: 6_000 });
  }

  /** @throws KubeError */
  async leave(
    stored: StoredObject,
    configMaps: ConfigMapEvents | undefined,
    signal: AbortSignal,
  ): Promise<Kept> {
    const { object } = stored;
    const origin = originOfMirror(object);
    if (origin === undefined) return {};
    if (!this.#options.isReadHere(object, origin)) return this.#ofOthers(object, origin, signal);
    const { name } = object.metadata;
    if (!stored.appliedBy.includes(mirrorManager)) {
      const trouble = `The object "${name}" has the label ${sourceLabel}, and is no mirror of ours: take the label off, and it is its own source`;
      return { trouble };
    }
    if (object.metadata.deletionTimestamp !== undefined) return {};
    const { mirrors, cluster } = this.#options;
    const waitMs = this.#pace.delayOf(name);
    if (waitMs > 0) return { waitMs };
    const isTheirs = await this.#isWrittenByOthers(object, signal);
    const heldMs = isTheirs ? 0 : this.#heldMs(object);
    if (heldMs > 0)
      return { told: { name, origin, idle: heldFor(origin) }, object, waitMs: heldMs };
    this.#pace.written(name);
    if (isTheirs) {
      const theirs = await mirrors.handOver(object, signal);
      if (theirs === undefined) return {};
      cluster.events.record({ ...handedOver(origin), regarding: theirs, definition: name });
    } else await mirrors.remove(object, signal);
    // What was held was told when that began.
    if (!this.#held.delete(name)) configMaps?.tell(name, origin, removed);
    return {};
  }

  /** There is a text for it. */
  returned(name: string): void {
    this.#held.delete(name);
  }

  /** A ConfigMap that is replaced takes its texts away for a moment, and a user's mark is not to go with them. */
  #heldMs({ metadata: { name, annotations } }: KubeObject): number {
    if (marksIn(annotations).isPaused !== true) return 0;
    const nowMs = this.#options.clock.monotonicMs();
    const sinceMs = this.#held.get(name) ?? nowMs;
    this.#held.set(name, sinceMs);
    return Math.max(0, sinceMs + patienceMs - nowMs);
  }

  /** Somebody who changes a mirror that nobody keeps any more would wait for ever. */
  async #ofOthers(
    object: KubeObject,
    origin: DefinitionOrigin,
    signal: AbortSignal,
  ): Promise<Kept> {
    const { readsObjects, clock } = this.#options;
    const { name, generation } = object.metadata;
    const { observedGeneration } = liveStatus(object);
    const isChanged = observedGeneration !== undefined && observedGeneration !== generation;
    if (!isChanged || !readsObjects()) {
      this.#changes.delete(name);
      return {};
    }
    const waitMs = this.#changedAtMs(name, generation) + othersMs - clock.monotonicMs();
    if (waitMs > 0) return { waitMs };
    if (!(await this.#isWrittenByOthers(object, signal))) return {};
    const idle = { reason: 'NotRead', message: notReadText(object, origin) } as const;
    return { told: { name, origin, idle }, object };
  }

  #changedAtMs(name: string, generation: number | undefined): number {
    const known = this.#changes.get(name);
    if (known !== undefined && known.generation === generation) return known.sinceMs;
    const sinceMs = this.#options.clock.monotonicMs();
    this.#changes.set(name, { generation, sinceMs });
    return sinceMs;
  }

  async #isWrittenByOthers({ metadata }: KubeObject, signal: AbortSignal): Promise<boolean> {
    const { name } = metadata;
    const ref = { gvk: definitionGvk, name };
    const options = { flow: flowOf(name), pass: passOf(name) };
    return isWrittenByOthers(await this.#options.cluster.fieldOwners(ref, options, signal));
  }
}

function notReadText(object: KubeObject, origin: DefinitionOrigin): string {
  return `This object shows a text of ${placeOfMirror(object, origin)}, which is not read here, and was changed: nothing of the change runs. To have the object run, make it its own source: kubectl label operatordefinition ${object.metadata.name} ${sourceLabel}-`;
}

function heldFor(origin: DefinitionOrigin): Idle {
  const message = `Its text (${originText(origin)}) is gone, and nothing of it runs; what it has made stays. This object stays for ten minutes, so that the definition is still paused if the text comes back; it goes at once when homeostat.dev/paused is taken off`;
  return { reason: 'Removed', message };
}

const removed = {
  type: 'Normal',
  reason: 'Removed',
  action: 'Load',
  note: 'its text is gone; what it has made stays',
} as const;

function handedOver(origin: DefinitionOrigin) {
  return {
    type: 'Normal',
    reason: 'HandedOver',
    action: 'Load',
    note: `Its text (${originText(origin)}) is gone; this object was applied by somebody else too, and is its own source from now on`,
  } as const;
}
