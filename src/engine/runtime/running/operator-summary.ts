import type { Operator, Readiness } from '#reconcile';
import type { DefinitionView } from '../definition-view.ts';

/** Combined state of operators. */
export interface OperatorSummary extends Readiness {
  readonly instances: number;
  readonly orphaned: number;
  readonly problems: readonly string[];
  readonly missingRights: NonNullable<DefinitionView['missingRights']>;
}

/** `operators`: newest first; the newest one counts the resources. */
export function summarize(operators: readonly Operator[]): OperatorSummary {
  const [newest] = operators;
  const { instances = 0, unmatchedInstances: leftInPlace = 0 } = newest ?? {};
  const counts = { ready: 0, unready: 0 };
  for (const operator of operators) {
    const { ready, unready } = operator.readiness();
    counts.ready += ready;
    counts.unready += unready;
  }
  const problems = operators.flatMap((operator) => operator.problems());
  const messages = problems.map(({ what, message }) => `${what}: ${message}`);
  const rights = problems.filter(({ code }) => code === 'forbidden');
  return {
    instances,
    orphaned: leftInPlace,
    ...counts,
    unknown: Math.max(0, instances - counts.ready - counts.unready),
    problems: [...new Set(messages)],
    missingRights: [...new Set(rights.map(({ message }) => message))],
  };
}
