import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Hostile API servers in a process of their own. */
export interface HostileMembers {
  /** Their kubeconfigs, by name: responses of 16 MiB, watches without an end, values nested deep and slow responses. */
  readonly kubeconfigs: Readonly<Record<string, string>>;
  stop(): void;
}

const names = ['version', 'lines', 'nested'];

export async function startHostileMembers(): Promise<HostileMembers> {
  const file = fileURLToPath(new URL('server.ts', import.meta.url));
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const kubeconfigs = Object.fromEntries(
    names.map((name) => [
      `hostile-${name}`,
      kubeconfigOf(`http://127.0.0.1:${Number(line)}/${name}`),
    ]),
  );
  return { kubeconfigs, stop: () => void child.kill() };
}

/** A kubeconfig without credentials. */
export function kubeconfigOf(server: string): string {
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'm' },
    clusters: [{ name: 'm', cluster: { server } }],
    users: [{ name: 'm', user: {} }],
    contexts: [{ name: 'm', context: { cluster: 'm', user: 'm' } }],
  });
}
