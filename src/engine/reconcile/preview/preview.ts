import type { Clock } from '#util/clock.ts';
import { nextTurn } from '#util/next-turn.ts';
import type { PruneCandidate } from '../prune-candidate.ts';

/** What a pass would do for one resource. */
export interface Preview {
  /**
   * Children that are no longer desired: those that would be deleted at once, and those that would follow once the resource stops waiting
   * (for other children, `deleteWhen`, or elements in sequence). Not included: objects that are recreated (`updateStrategy: Recreate`)
   * unless they hold data, released (`deletionPolicy: Orphan`), or already terminating.
   */
  readonly deletes: readonly PruneCandidate[];
  /** Number of objects that it would create or recreate. */
  readonly creates: number;
  /** Maximum number of objects that it would change: the effect of an intent is unknown before it is sent. */
  readonly applies: number;
  /** False: some desired objects are unknown (waiting or failed), so that more may be undesired. */
  readonly isComplete: boolean;
}

/** Computes what passes of an operator would do, without writes, logs, Events or changes of their state. */
export interface Previewer {
  /**
   * What a pass of this resource would do now. Empty for a resource that is deleted, terminating, paused or not served: a change of its
   * definition deletes nothing of it.
   * @throws the abort reason of the signal
   */
  of(key: string, signal: AbortSignal): Promise<Preview>;
  /** Releases its watches. */
  stop(): void;
}

interface PreviewAllOptions {
  readonly previewer: Previewer;
  readonly keys: Iterable<string>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with each preview. */
  readonly onPreview: (key: string, preview: Preview) => void;
}

/** After this time, passes and events get a turn. */
const sliceMs = 5;

/** Previews all these resources in sequence, in slices that let live passes run first. @throws the abort reason of the signal */
export async function previewAll(options: PreviewAllOptions): Promise<void> {
  const { previewer, keys, clock, signal, onPreview } = options;
  let sinceMs = clock.monotonicMs();
  for (const key of keys) {
    onPreview(key, await previewer.of(key, signal));
    if (clock.monotonicMs() - sinceMs < sliceMs) continue;
    await nextTurn();
    signal.throwIfAborted();
    sinceMs = clock.monotonicMs();
  }
}
