import type { DefinitionView } from '../definition-view.ts';
import type { RunningDefinition } from '../running/running-definition.ts';
import type { Decision } from './decide.ts';
import type { DefinitionFacts } from './definition-conditions.ts';
import type { DefinitionRecord } from './record.ts';

interface FactsOptions {
  readonly record: Pick<DefinitionRecord, 'origin' | 'isPaused' | 'isDeleted'>;
  readonly decision: Decision;
  readonly view: DefinitionView;
  readonly report: ReturnType<RunningDefinition['report']>;
}

/** Collects everything that determines the status. Pure. */
export function factsOf({ record, decision, view, report }: FactsOptions): DefinitionFacts {
  const { origin, isPaused, isDeleted } = record;
  const { desired } = decision.kind === 'run' ? decision : {};
  const rejection =
    desired?.rejection ??
    view.rejection ??
    (view.state.kind === 'rejected' ? { ...view.state, revision: view.revision } : undefined);
  return {
    origin,
    view,
    isPaused,
    isDeleted,
    warnings: desired?.warnings ?? [],
    persisted: report,
    ...(rejection && { rejection }),
    ...inactiveReason(decision),
  };
}

function inactiveReason(decision: Decision): Pick<DefinitionFacts, 'inactive'> {
  if (decision.kind !== 'finalize') return {};
  const { reason, message } = decision;
  if (reason === 'NotRead') return { inactive: { reason, message } };
  return reason === 'Withdrawn'
    ? { inactive: { reason, message: 'Its manifest was removed' } }
    : {};
}
