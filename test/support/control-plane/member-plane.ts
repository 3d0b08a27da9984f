import { type Plane, startControlPlane } from './control-plane.ts';
import { SandboxPlane, startSandboxPlane } from './sandbox-plane.ts';

/** Starts another cluster of the same sort: a sandbox on the same time, or an API server on the same etcd. */
export function startMemberPlane(
  hub: Plane,
  name: string,
  { controllerManager = false }: { readonly controllerManager?: boolean } = {},
): Promise<Plane> {
  const options = { audit: true, users: ['limited'] };
  if (hub instanceof SandboxPlane) return startSandboxPlane({ ...options, time: hub.time });
  const etcd = { url: hub.etcdUrl, prefix: `members-${name}` };
  return startControlPlane({ ...options, controllerManager, etcd });
}
