import { before } from 'node:test';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import {
  AuditLog,
  type Plane,
  type PlaneClient,
  type SharedControlPlane,
  startMemberPlane,
} from './control-plane/index.ts';

const collection = '/apis/homeostat.dev/v1alpha1/clusters';

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: { readonly server: string } }];
}

interface RegisterOptions {
  /** @default the member's kubeconfig */
  readonly kubeconfig?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: object;
}

/** Member clusters of a test file. Only within tests and hooks. */
export interface TestMembers {
  plane(name: string): Plane;
  /** The address that the kubeconfig of the operator names. */
  serverOf(name: string): string;
  client(name: string): PlaneClient;
  audit(name: string): AuditLog;
  /** Writes the Secret and the `Cluster` of a member. */
  register(name: string, options?: RegisterOptions): Promise<void>;
  /** Resolves when the condition of the `Cluster` has this reason. @param type default 'Connected' */
  untilReason(name: string, reason: string, type?: string): Promise<KubeObject | undefined>;
  readonly collection: string;
}

interface MembersOptions {
  /** As of `startControlPlane`. @default false */
  readonly controllerManager?: boolean;
}

/** For within a `describe`: starts members beside the control plane of the file. */
export function useMembers(
  shared: SharedControlPlane,
  names: readonly string[],
  options: MembersOptions = {},
): TestMembers {
  const planes = new Map<string, Plane>();
  const audits = new Map<string, AuditLog>();

  before(
    async () => {
      for (const name of names) {
        const plane = await startMemberPlane(shared.plane, name, options);
        planes.set(name, plane);
        audits.set(name, new AuditLog(plane));
      }
    },
    { timeout: 300_000 },
  );
  shared.onEnd(async () => {
    for (const plane of planes.values()) await plane.stop();
  });

  const found = <Value>(map: ReadonlyMap<string, Value>, name: string): Value => {
    const value = map.get(name);
    if (value === undefined) throw new Error(`Expected a member, found "${name}"`);
    return value;
  };

  return {
    collection,
    plane: (name) => found(planes, name),
    serverOf(name) {
      const { clusters } = parseYaml(
        found(planes, name).kubeconfig('operator'),
      ) as unknown as Kubeconfig;
      return clusters[0].cluster.server;
    },
    client: (name) => found(planes, name).client(),
    audit: (name) => found(audits, name),
    async register(name, { kubeconfig, labels = {}, spec = {} } = {}) {
      const text = kubeconfig ?? found(planes, name).kubeconfig('operator');
      const secret = { namespace: 'default', name };
      await shared.client().apply({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: secret,
        stringData: { kubeconfig: text },
      });
      await shared.client().apply({
        apiVersion: 'homeostat.dev/v1alpha1',
        kind: 'Cluster',
        metadata: { name, labels },
        spec: { kubeconfig: { secretRef: secret }, ...spec },
      });
    },
    untilReason: (name, reason, type = 'Connected') =>
      shared.client().untilObject(`${collection}/${name}`, (object) => {
        const { conditions = [] } = (object?.status ?? {}) as {
          readonly conditions?: readonly { readonly type: string; readonly reason: string }[];
        };
        return conditions.some((each) => each.type === type && each.reason === reason);
      }),
  };
}
