import type { Phase, PhaseInput, Seen } from '../../compile/index.ts';
import { seenWhileReporting } from '../child/element-result.ts';
import { observedForReport } from '../observe/observe-children.ts';
import { readAgain } from '../observe/observe-reads.ts';
import type { Pass } from '../pass/pass.ts';

/** The world after the applies, as the report is to see it. */
export interface ReportedWorld {
  readonly phase: Phase;
  /** What further phases begin with. */
  readonly seen: Pick<PhaseInput, 'children' | 'reads' | 'observed'>;
  /**
   * False: an informer that the definition needs is not usable. What the status says of it then is not known,
   * and never taken for absent.
   */
  readonly isKnown: boolean;
}

/** Begins the phase *reporting*. */
export function startReporting(pass: Pass): ReportedWorld {
  const { plan, watches } = pass.context;
  const children = new Map<string, Seen>();
  for (const [id, result] of pass.did.children) children.set(id, seenWhileReporting(pass, result));
  const reads = new Map<string, Seen>();
  let isKnown = true;
  for (const [id, before] of pass.found.reads) {
    const now = readAgain(pass, before);
    reads.set(id, now.seen.state === 'waiting' ? { state: 'absent' } : now.seen);
    isKnown &&= now.isKnown;
  }
  for (const { informer } of watches.allChildren()) {
    const { state } = informer;
    // Of a kind that is not served there is nothing: that is known.
    if (state.kind === 'synced') continue;
    isKnown &&= state.kind === 'failing' && state.error.code === 'kind-missing';
  }
  const seen = { children, reads, observed: observedForReport(pass) };
  const phase = plan.startPhase({ phase: 'reporting', ...pass.phaseInput, ...seen });
  return { phase, seen, isKnown };
}
