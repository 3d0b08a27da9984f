import type { Clock } from '#util/clock.ts';
import { pause } from '#util/pause.ts';

export interface FollowStreamOptions<Value> {
  readonly clock: Clock;
  readonly open: (signal: AbortSignal) => AsyncIterable<Value>;
  readonly onValue: (value: Value) => void;
  /** Called when the stream breaks. What is known stays. */
  readonly onError: (error: unknown) => void;
}

const retryMs = 1_000;

/** Follows a stream, and opens it again when it ends, until the signal aborts. */
export async function followStream<Value>(
  { clock, open, onValue, onError }: FollowStreamOptions<Value>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const value of open(signal)) onValue(value);
    } catch (error) {
      if (!signal.aborted) onError(error);
    }
    await pause(clock, retryMs, signal);
  }
}
