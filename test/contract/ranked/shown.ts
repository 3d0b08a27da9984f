import { controllerCases } from '../cases/controllers.ts';
import { garbage } from '../cases/garbage.ts';
import { contractCases } from '../cases/index.ts';
import { kubectlScript } from '../kubectl/kubectl-script.ts';

interface Ranked {
  readonly ranked?: readonly number[];
}

/** Everything of the suite that may say what it shows. */
const all: readonly Ranked[] = [
  ...Object.values(contractCases).flat(),
  ...Object.values(controllerCases).flat(),
  ...garbage,
  // Each command shows that it is answered alike.
  ...kubectlScript.map(({ ranked = [] }) => ({ ranked: [...ranked, 60] })),
];

/** How many cases and commands show a behaviour, by its number. */
export function shownCounts(): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const number of all.flatMap(({ ranked = [] }) => ranked))
    counts.set(number, (counts.get(number) ?? 0) + 1);
  return counts;
}
