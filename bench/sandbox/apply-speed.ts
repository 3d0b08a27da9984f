import { benchSandbox } from './bench-sandbox.ts';
import {
  applyTo,
  crd,
  crdPath,
  deployment,
  deploymentsPath,
  type Manifest,
  thing,
  thingsPath,
} from './objects.ts';
import type { Row } from './row.ts';

const objects = 4_000;
const targetPerSecond = 5_000;

/** Server-side applies in this process, without HTTP and without controllers: new objects, changes, and the same again. */
export function measureApplies(): readonly Row[] {
  const sandbox = benchSandbox({ controllers: false });
  applyTo(sandbox, crdPath, crd);
  const kinds = [
    ['custom resource', thingsPath, thing],
    ['Deployment', deploymentsPath, deployment],
  ] as const;
  // The first hundreds are the compiler's.
  for (const [, path, make] of kinds)
    for (let round = 0; round < 3; round++)
      applyAll(500, path, (index) => make(`warm-${index}`, round));
  function applyAll(count: number, path: string, make: (index: number) => Manifest): number {
    const start = performance.now();
    for (let index = 0; index < count; index++) applyTo(sandbox, path, make(index));
    return count / ((performance.now() - start) / 1000);
  }
  return kinds.flatMap(([name, path, make]) =>
    [
      ['new', 1],
      ['changed', 2],
      ['the same again', 2],
    ].map(([what, size]) => {
      const perSecond = applyAll(objects, path, (index) => make(`o-${index}`, Number(size)));
      return {
        what: `apply in process, ${name}, ${what}`,
        value: Math.round(perSecond),
        unit: '/s',
        target: `>= ${targetPerSecond}`,
        isMet: perSecond >= targetPerSecond,
      };
    }),
  );
}
