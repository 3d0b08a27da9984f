import { HomeostatError } from '../../util/homeostat-error.ts';

export interface LeaseTimes {
  /** How long others wait for a leader of whom they hear nothing, in ms. @default 15_000 */
  readonly leaseDurationMs?: number;
  /** How long a leader writes on without a renewal, in ms. @default 10_000 */
  readonly renewDeadlineMs?: number;
  /** Between two renewals, or two tries to become the leader, in ms. @default 2_000 */
  readonly retryPeriodMs?: number;
}

export type ResolvedLeaseTimes = Required<LeaseTimes>;

/** A pause between tries is this much longer at most, so that followers do not come all at once. */
export const jitterFactor = 1.2;

/**
 * Fills in what is left out.
 * @throws HomeostatError `invalid-times`: with these two processes could write at the same time, or a leader would give up too soon.
 */
export function resolveLeaseTimes(times: LeaseTimes = {}): ResolvedLeaseTimes {
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = times;
  if (retryPeriodMs <= 0)
    throw invalid(`Expected a retry period above 0, found "${seconds(retryPeriodMs)}"`);
  if (renewDeadlineMs <= jitterFactor * retryPeriodMs)
    throw invalid(
      `Expected a renew deadline above ${jitterFactor} times the retry period "${seconds(retryPeriodMs)}", found "${seconds(renewDeadlineMs)}"`,
    );
  if (leaseDurationMs <= renewDeadlineMs)
    throw invalid(
      `Expected a lease duration above the renew deadline "${seconds(renewDeadlineMs)}", found "${seconds(leaseDurationMs)}"`,
    );
  return { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
}

function seconds(ms: number): string {
  return `${ms / 1_000}s`;
}

function invalid(message: string): HomeostatError {
  return new HomeostatError('invalid-times', message);
}
