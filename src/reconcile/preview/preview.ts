import type { Clock } from '../../util/clock.ts';
import type { DoomedObject } from '../deletion-guard.ts';

/** What a pass would do to the world of one resource. */
export interface Preview {
  /**
   * Objects of ours that the definition does not want any more: those that would go at once, and those that would follow as soon as what
   * the resource waits for is there (other children, `deleteWhen`, elements that go one by one). Not what is made anew under its name
   * (`updateStrategy: Recreate`), what stays without us (`deletionPolicy: Orphan`), and what is on its way out already.
   */
  readonly deletes: readonly DoomedObject[];
  /** How many objects it would make, and make anew. */
  readonly creates: number;
  /** How many it would change, at most: what the server makes of an intent is not known before it is sent. */
  readonly applies: number;
  /** False: some of what the resource wants could not be told yet (it waits, or fails), so that more may turn out to be unwanted. */
  readonly isComplete: boolean;
}

/** Says what passes of an operator would do, without a write, a log line, an Event or a trace in what passes remember. */
export interface Previewer {
  /**
   * What a pass of this resource would do now. Nothing for one that is gone, paused, being deleted or not served: it loses nothing by a
   * change of its definition.
   * @throws what the signal aborts with.
   */
  of(key: string, signal: AbortSignal): Promise<Preview>;
  /** Releases what it watches. */
  stop(): void;
}

export interface PreviewAllOptions {
  readonly previewer: Previewer;
  readonly keys: Iterable<string>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with each preview as it is made. */
  readonly onPreview: (key: string, preview: Preview) => void;
}

/** After so long at a stretch passes and events have their turn. */
const sliceMs = 5;

/**
 * Previews all these resources one after the other, in slices that let live passes go first. @throws what the signal aborts with.
 */
export async function previewAll(options: PreviewAllOptions): Promise<void> {
  const { previewer, keys, clock, signal, onPreview } = options;
  let sinceMs = clock.monotonicMs();
  for (const key of keys) {
    onPreview(key, await previewer.of(key, signal));
    if (clock.monotonicMs() - sinceMs < sliceMs) continue;
    await nextTask();
    signal.throwIfAborted();
    sinceMs = clock.monotonicMs();
  }
}

/** A timer, not a clock's: no time has to pass, only what is due is to come first. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}
