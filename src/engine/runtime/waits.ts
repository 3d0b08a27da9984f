import { KubeError } from '#kube/roles.ts';
import type { LogFields, Logger, LogMessage } from '#telemetry/roles.ts';
import { type BackoffOptions, backoffMs } from '#util/backoff.ts';
import type { Clock } from '#util/clock.ts';
import { errorLogFields } from '#util/homeostat-error.ts';
import { Waker } from '#util/pause.ts';
import type { RuntimeCluster } from './runner-options.ts';

interface WaitOptions {
  readonly clock: Clock;
  readonly cluster: RuntimeCluster;
  readonly signal: AbortSignal;
  /** Delays between attempts. @default 1 s to 60 s: what fails here usually waits for a right or for the server */
  readonly delays?: BackoffOptions;
}

const usualDelays: BackoffOptions = { baseDelayMs: 1_000, maxDelayMs: 60_000 };

/** Waits until the delay after `failures` earlier failures has passed, the missing right is granted, or the signal aborts. */
export async function waitToRetry(
  failures: number,
  error: unknown,
  { clock, cluster, signal, delays = usualDelays }: WaitOptions,
): Promise<void> {
  const waker = new Waker(clock);
  const right = error instanceof KubeError ? error.right : undefined;
  const unsubscribe = right && cluster.onGranted(right, () => waker.wake());
  await waker.pause(backoffMs(failures, delays), signal);
  unsubscribe?.();
}

interface RetryOptions extends WaitOptions {
  readonly logger: Logger;
  /** Logged as a warning for the first failure in a row, for debugging for later ones. */
  readonly message: LogMessage;
  /** Further fields of the log lines. @default none */
  readonly fields?: LogFields;
  /** Called for each failure. @default nothing */
  readonly onFailure?: (error: unknown) => void;
}

/** Calls `act` until it succeeds or the signal aborts. Never rejects. */
export async function retryUntilDone(
  act: () => Promise<void>,
  { logger, message, fields, onFailure, ...wait }: RetryOptions,
): Promise<void> {
  for (let failures = 0; !wait.signal.aborted; failures++) {
    try {
      return await act();
    } catch (error) {
      if (wait.signal.aborted) return;
      logger[failures === 0 ? 'warn' : 'debug']({ ...fields, ...errorLogFields(error) }, message);
      onFailure?.(error);
      await waitToRetry(failures, error, wait);
    }
  }
}
