import { findFreePorts } from './control-plane/free-ports.ts';
import { type Plane, SandboxPlane, type SharedControlPlane } from './control-plane/index.ts';
import { HomeostatProcess } from './homeostat-process.ts';
import type { HomeostatRuntime, RuntimeOptions } from './homeostat-runtime.ts';
import { InProcessHomeostat } from './in-process-homeostat.ts';

export interface LaunchOptions extends RuntimeOptions {
  /** Whose rights it has. @default 'operator' */
  readonly user?: string;
  /** @default that of the file */
  readonly plane?: Plane;
}

/**
 * Launches `homeostat run` on the file's control plane: on a sandbox within this process, else as a process of its own. What still
 * runs after the tests is stopped.
 */
export function useRuntimes(
  shared: SharedControlPlane,
): (options?: LaunchOptions) => HomeostatRuntime {
  const left = new Set<HomeostatRuntime>();
  // Not before they are gone: on a sandbox their time ends with the tests, and what waits for a time would wait for ever.
  shared.onEnd(() => Promise.all([...left].map((runtime) => stopAndLeave(runtime))));
  return ({ user = 'operator', plane = shared.plane, ...options } = {}) => {
    const runtime =
      plane instanceof SandboxPlane
        ? new InProcessHomeostat({ plane, user, ...options })
        : new HomeostatProcess({ kubeconfig: plane.kubeconfigPath(user), ...options });
    left.add(runtime);
    void runtime.untilGone().then(() => left.delete(runtime));
    return runtime;
  };
}

async function stopAndLeave(runtime: HomeostatRuntime): Promise<void> {
  await runtime.stop();
  await runtime.untilGone();
}

/** Flags with which a runtime converts in its own process; it needs {@link createRuntimeNamespace}. The sandbox converts without a request. */
export async function webhookFlags(...more: readonly string[]): Promise<readonly string[]> {
  const [port] = await findFreePorts(1);
  return ['--webhook-url', `https://127.0.0.1:${port}`, ...more];
}

/** Creates the namespace of a runtime outside of a cluster, which an installation has: it holds the keys of `history` and the certificates of conversions. */
export async function createRuntimeNamespace(shared: SharedControlPlane): Promise<void> {
  const metadata = { name: 'homeostat-system' };
  await shared.client().apply({ apiVersion: 'v1', kind: 'Namespace', metadata });
}

/** As {@link useRuntimes}, of definitions in a folder; resolves when they run. */
export function useHomeostat(shared: SharedControlPlane) {
  const launch = useRuntimes(shared);
  return async (
    definitions: Readonly<Record<string, string>>,
    user = 'operator',
  ): Promise<HomeostatRuntime> => {
    const runtime = launch({ definitions, user });
    await runtime.whenReady(Object.keys(definitions).length);
    return runtime;
  };
}
