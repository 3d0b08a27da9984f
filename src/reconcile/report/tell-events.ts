import type { Pass } from '../pass/pass.ts';
import type { StatusOutcome } from '../resource/write-status.ts';
import type { Report } from './build-report.ts';

/**
 * Tells the Events of a definition, once the status is as it says: until then the next pass finds the same change and tells of it,
 * and nobody hears of it twice.
 */
export function tellEvents(pass: Pass, { events }: Report, status: StatusOutcome): void {
  if (status.kind === 'failed' || status.kind === 'gone') return;
  const { context, resource } = pass;
  for (const { type, reason, message } of events) {
    context.cluster.events.record({
      regarding: resource,
      type,
      reason,
      action: 'Reconcile',
      note: message,
      definition: context.plan.name,
    });
  }
}
