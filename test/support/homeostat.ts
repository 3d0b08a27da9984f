import { after } from 'node:test';
import type { SharedControlPlane } from './control-plane/index.ts';
import { HomeostatProcess } from './homeostat-process.ts';

/** Starts `homeostat run` on the file's control plane, as user `operator`; what still runs at the end of the file is stopped. */
export function useHomeostat(shared: SharedControlPlane) {
  const running = new Set<HomeostatProcess>();
  after(() => Promise.all([...running].map((process) => process.stop())));
  return async (
    definitions: Readonly<Record<string, string>>,
    user = 'operator',
  ): Promise<HomeostatProcess> => {
    const kubeconfig = shared.plane.kubeconfigPath(user);
    const process = new HomeostatProcess({ kubeconfig, definitions });
    running.add(process);
    void process.ended().then(() => running.delete(process));
    await process.whenReady(Object.keys(definitions).length);
    return process;
  };
}
