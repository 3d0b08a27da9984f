import type { Outcome } from '#controller';
import type { SentRequest } from '#kube/roles.ts';
import type { DecisionRecord } from './decision.ts';
import type { Intent } from './intent/intent.ts';
import type { EnqueueTrace } from './watch/resource-queue.ts';

/** Steps of a reconcile, in order. `children`: render and apply, with pauses for other work. */
export type ReconcilePhase = 'reads' | 'children' | 'prune' | 'report' | 'status';

/** The end of a reconcile: its outcome, or the code of its error. */
export type ReconcileEnd =
  | Exclude<Outcome, { kind: 'error' }>
  | { readonly kind: 'error'; readonly code: string };

/**
 * Follows the reconciles of an operator, for a record of them. Calls must be cheap, and must not throw. One reconcile of a key at a time.
 * Without it, nothing is computed or allocated for it.
 */
export interface ReconcileTrace extends EnqueueTrace {
  onBegin(key: string): void;
  /** A step begins; the previous one has ended. Not called for a deletion or a pause. */
  onPhase(key: string, phase: ReconcilePhase): void;
  /** An object is desired. Called again if it is rendered again. */
  onDesired(key: string, childId: string, intent: Intent): void;
  /** A request is sent; the result is called with the status of the response, 0 without one. */
  onRequest(key: string, request: SentRequest): (status: number) => void;
  /** Not called if it stopped early. */
  onDecisions(key: string, record: DecisionRecord): void;
  onEnd(key: string, end: ReconcileEnd): void;
}
