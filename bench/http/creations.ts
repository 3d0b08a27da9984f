import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { HomeostatProcess } from '../../test/support/homeostat-process.ts';
import type { BareLoop } from './loop-options.ts';
import { namesOf } from './objects.ts';
import { type HttpStage, untilReady } from './stage.ts';

/** As many as one endpoint may have. */
const concurrency = 20;

/** One measurement of the same creations, in ms. */
export interface CreationTimes {
  readonly homeostatMs: number;
  /** The same requests to the API and the same writes to Kubernetes. */
  readonly loopMs: number;
  /** The requests to the API only. */
  readonly apiMs: number;
  /** Requests of Homeostat to Kubernetes, by verb and resource. */
  readonly requests: Readonly<Record<string, number>>;
}

/** Creates the objects of one endpoint by Homeostat, and by loops of the same concurrency. The objects of Homeostat are left. */
export async function measureCreations(
  stage: HttpStage,
  homeostat: HomeostatProcess,
  { count, every }: { readonly count: number; readonly every: string },
): Promise<CreationTimes> {
  const names = namesOf('made', count);
  // They wait for the endpoint.
  await stage.create(names, { of: 'api', value: 'a', every });
  await stage.untilIdle();
  const kubeconfig = stage.plane.kubeconfigPath('operator');
  const loop = { url: stage.api.url, count, concurrency };
  const apiMs = await runLoop(loop);
  stage.api.clear();
  const loopMs = await runLoop({ ...loop, kubeconfig });
  stage.api.clear();
  await stage.untilIdle();
  const mark = stage.audit.mark();
  const startMs = performance.now();
  await stage.addEndpoint('api');
  await untilReady(homeostat, count);
  const homeostatMs = performance.now() - startMs;
  await stage.untilIdle();
  return { homeostatMs, loopMs, apiMs, requests: stage.audit.count({ since: mark }).by };
}

async function runLoop(loop: BareLoop): Promise<number> {
  const program = fileURLToPath(new URL('bare-loop.ts', import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(loop)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`The loop ended with ${code}`);
  return Number(printed);
}
