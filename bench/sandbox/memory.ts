import { benchSandbox } from './bench-sandbox.ts';
import { applyTo, deployment, deploymentsPath } from './objects.ts';
import type { Row } from './row.ts';

const objects = 10_000;
const targetMb = 250;

/** What a process with so many Deployments takes, all told, once each was read by a list. */
export function measureMemory(): readonly Row[] {
  const sandbox = benchSandbox({ controllers: false });
  for (let index = 0; index < objects; index++)
    applyTo(sandbox, deploymentsPath, deployment(`web-${index}`, 1));
  sandbox.handle({ method: 'GET', path: deploymentsPath, headers: {}, body: '' });
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  const row = (what: string, bytes: number): Row => {
    const value = Math.round(bytes / 1e6);
    return { what, value, unit: 'MB', target: `< ${targetMb}`, isMet: value < targetMb };
  };
  return [
    row(`resident memory with ${objects} Deployments`, rss),
    row(`heap with ${objects} Deployments`, heapUsed),
  ];
}
