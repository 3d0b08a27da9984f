import { resolve } from 'node:path';
import { builtinDocuments } from '#compile';
import { createTextLogger } from '#dev';
import { createSystemRandom } from '#util/random.ts';
import { whenAborted } from '#util/when-aborted.ts';
import { exitCode } from '../exit-code.ts';
import type { Output } from '../output.ts';
import { startDevCluster } from './dev-cluster.ts';

export interface SandboxOptions {
  readonly writeKubeconfig: string;
  readonly persist?: string;
  readonly port: number;
  readonly controllers: boolean;
}

/**
 * `homeostat sandbox`: serves a simulated Kubernetes API without any definition, for tests of other programs, until the signal aborts.
 * The first line is printed when the API accepts requests.
 * @returns the exit code
 * @throws CliError when it cannot start, or the last changes cannot be saved.
 */
export async function sandbox(
  options: SandboxOptions,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  const print = (text: string) => output.print(text);
  const logger = createTextLogger({ level: 'error', print: (text) => output.error(text) });
  const cluster = await startDevCluster({
    ...options,
    random: createSystemRandom(),
    logger,
    print,
  });
  try {
    print(`Kubernetes ${builtinDocuments().kubernetesVersion} (simulated) is ready`);
    print(`export KUBECONFIG=${resolve(options.writeKubeconfig)}`);
    await whenAborted(signal);
  } finally {
    await cluster.stop();
  }
  return exitCode.ok;
}
