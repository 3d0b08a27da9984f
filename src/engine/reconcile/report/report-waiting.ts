import type { Pass } from '../pass/pass.ts';
import { isForeign } from '../status-fields.ts';
import { emitOnce } from './emit-once.ts';
import type { SummaryReason } from './summary.ts';

/** What a resource waits for, as its condition would say. */
interface Waiting {
  readonly reason: SummaryReason;
  readonly message: string;
}

/** Reasons that report a wait. Failures have Events of their own; in a terminating namespace none can be created. */
const waits: ReadonlySet<SummaryReason> = new Set<SummaryReason>(['Waiting', 'ClusterUnreachable']);

/**
 * Emits a Normal Event when a resource of a kind of `for` begins to wait, or waits for something else: it has no condition of Homeostat.
 * Repeated reconciles and a restart emit none.
 */
export function reportWaiting(pass: Pass, { reason, message }: Waiting): void {
  if (isForeign(pass.context.plan))
    report(pass, waits.has(reason) ? { reason, message } : undefined);
}

/** The same for a deletion that something holds. */
export function reportHeldDeletion(pass: Pass, message: string | undefined): void {
  if (!isForeign(pass.context.plan)) return;
  report(pass, message === undefined ? undefined : { reason: 'Terminating', message });
}

function report(pass: Pass, waiting: Waiting | undefined): void {
  const { state } = pass;
  const text = waiting === undefined ? '' : `${waiting.reason} ${waiting.message}`;
  const isChanged = state.reportedWait !== text;
  state.reportedWait = text;
  if (waiting === undefined || !isChanged) return;
  const { reason, message: note } = waiting;
  emitOnce(pass, { type: 'Normal', reason, note });
}
