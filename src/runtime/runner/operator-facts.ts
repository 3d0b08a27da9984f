import type { Operator, Readiness } from '../../reconcile/index.ts';
import type { DefinitionView } from '../definition-view.ts';

/** What operators say together. */
export interface OperatorFacts extends Readiness {
  readonly instances: number;
  readonly leftInPlace: number;
  readonly problems: readonly string[];
  readonly missingRights: NonNullable<DefinitionView['missingRights']>;
}

/** `operators`: the newest first; its resources are the definition's. */
export function factsOf(operators: readonly Operator[]): OperatorFacts {
  const [newest] = operators;
  const { instances = 0, leftInPlace = 0 } = newest ?? {};
  const counts = { ready: 0, unready: 0 };
  for (const operator of operators) {
    const { ready, unready } = operator.readiness();
    counts.ready += ready;
    counts.unready += unready;
  }
  const problems = operators.flatMap((operator) => operator.problems());
  const told = problems.map(({ what, message }) => `${what}: ${message}`);
  const rights = problems.filter(({ code }) => code === 'forbidden');
  return {
    instances,
    leftInPlace,
    ...counts,
    unknown: Math.max(0, instances - counts.ready - counts.unready),
    problems: [...new Set(told)],
    missingRights: [...new Set(rights.map(({ message }) => message))],
  };
}
