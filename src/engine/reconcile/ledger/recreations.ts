import type { StoredObject } from '#kube/roles.ts';
import type { Intent } from '../intent/intent.ts';
import { intentHashOf } from '../intent/marks.ts';
import { type LedgerContext, remainingMs } from './ledger.ts';

/** Minimum time between recreations for one intent because of an immutable field: a webhook may change that field each time. */
const recreationGapMs = 600_000;

interface RecreationAttempt {
  readonly intent: Intent;
  readonly intentHash: string;
  readonly live: StoredObject;
}

/** May an object be deleted and recreated for this intent now? If so, stores the attempt. */
export function tryRecreate(
  pass: LedgerContext,
  { intent, intentHash, live }: RecreationAttempt,
): boolean {
  const { ledger } = pass.state;
  const { clock } = pass.context;
  const last = ledger.get('recreated', intent.identity);
  if (last?.intentHash === intentHash && remainingMs(pass, last) > 0) return false;
  // A recent object of this intent counts too: a new process has no entry.
  const createdMs = Date.parse(live.object.metadata.creationTimestamp ?? '');
  const isYoung = clock.nowMs() - createdMs < recreationGapMs;
  if (isYoung && intentHashOf(live.object) === intentHash) return false;
  const untilMs = clock.monotonicMs() + recreationGapMs;
  ledger.set('recreated', { intentHash, untilMs }, intent.identity);
  return true;
}
