import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { checkDefinitions } from '#check';
import { bundledSchemas } from '#compile';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { patienceMs } from '../patience.ts';

/**
 * Waits until the `homeostat dev` of a folder runs the definitions that were saved there: a reader is slower than a
 * reload. Where none runs, and for what is no valid definition, there is nothing to wait for.
 */
export async function untilTaken(folder: string, path: string, text: string): Promise<void> {
  const kubeconfig = join(folder, '.homeostat', 'kubeconfig');
  if (!path.startsWith('operators/') || !existsSync(kubeconfig)) return;
  const [, server] = /server: "?([^"\s]+)/.exec(readFileSync(kubeconfig, 'utf8')) ?? [];
  const { accepted } = checkDefinitions([{ file: path, text }], { schemas: bundledSchemas() });
  for (const { plan } of accepted) {
    const url = `${server}/apis/homeostat.dev/v1alpha1/operatordefinitions/${plan.name}`;
    const limitMs = performance.now() + patienceMs;
    while (!isTaken((await (await fetch(url)).json()) as KubeObject, plan.revision)) {
      if (performance.now() > limitMs) throw new Error(`${path} does not run: ${url}`);
      await delay(100);
    }
  }
}

function isTaken(object: KubeObject, revision: string): boolean {
  const status = object.status as { revision?: string } | undefined;
  return (
    status?.revision === revision &&
    conditionsOf(object).some(({ type, status }) => type === 'Ready' && status === 'True')
  );
}
