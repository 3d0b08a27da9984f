import { startSandboxServer } from '#sandbox/node/index.ts';
import { benchSandbox } from './bench-sandbox.ts';
import type { Row } from './row.ts';

const targetMs = 200;

/** From nothing to an answered request over HTTP, in a process that has just loaded the code. */
export async function measureReady(): Promise<readonly Row[]> {
  const start = performance.now();
  const sandbox = benchSandbox({ basePath: '/bench' });
  const server = await startSandboxServer({ sandbox, basePath: '/bench' });
  const answer = await fetch(`${server.url}/api/v1/namespaces/default`);
  const value = Math.round(performance.now() - start);
  await answer.text();
  await server.stop();
  sandbox.stop();
  return [
    {
      what: 'ready: first answer over HTTP',
      value,
      unit: 'ms',
      target: `< ${targetMs}`,
      isMet: answer.status === 200 && value < targetMs,
    },
  ];
}
