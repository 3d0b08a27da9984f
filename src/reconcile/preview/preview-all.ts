import type { Clock } from '../../util/clock.ts';
import type { Preview, Previewer } from './preview.ts';

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
