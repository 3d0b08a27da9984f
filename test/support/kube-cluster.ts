import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import {
  type ApplyOptions,
  type ClusterConfig,
  createKubeCluster,
  type KubeCluster,
  loadKubeConfig,
} from '#kube';
import type { KubeObject } from '#util/kube-object.ts';
import { createSystemRandom } from '#util/random.ts';
import { clockOf, type SharedControlPlane } from './control-plane/index.ts';
import { kubeconfigYaml } from './kubeconfig-yaml.ts';
import { freshMetrics, silentLogger } from './silent-telemetry.ts';

/** The flow of all requests of these tests. */
export const testFlow = { name: 'test', priority: 'object' } as const;

export interface TestApplyOptions {
  /** @default true */
  readonly force?: boolean;
  /** @default 'homeostat/test' */
  readonly manager?: string;
  /** Applies to `/status`. */
  readonly status?: true;
}

/** Our own client on the control plane of a test file. Everything but `connectTo` only within tests and hooks. */
export interface TestCluster {
  /** The cluster, as `admin`. */
  readonly cluster: KubeCluster;
  /** A folder for the files of tests. */
  readonly folder: string;
  /** Writes a file of that folder and returns its path. */
  write(name: string, text: string): string;
  /** Another client by a kubeconfig; closed after the tests. */
  connect(kubeconfig: string): Promise<KubeCluster>;
  connectTo(config: ClusterConfig): KubeCluster;
  apply(manifest: KubeObject, options?: TestApplyOptions): ReturnType<KubeCluster['apply']>;
}

/** For within a `describe`: makes a client of the product before its tests, and closes all of them after. */
export function useKubeCluster(shared: SharedControlPlane): TestCluster {
  const signal = new AbortController().signal;
  const made: KubeCluster[] = [];
  let folder = '';
  let cluster: KubeCluster | undefined;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'homeostat-kube-cluster-'));
    cluster = await connect(shared.plane.kubeconfigPath());
  });
  after(async () => {
    await Promise.all(made.map((each) => each.close()));
    if (folder !== '') rmSync(folder, { recursive: true });
  });

  async function connect(kubeconfig: string): Promise<KubeCluster> {
    return connectTo(await loadKubeConfig({ ...kubeconfigYaml, kubeconfig }));
  }

  function connectTo(config: ClusterConfig): KubeCluster {
    const each = createKubeCluster({
      config,
      clock: clockOf(shared.plane),
      random: createSystemRandom(),
      logger: silentLogger(),
      metrics: freshMetrics(),
      connections: 4,
    });
    made.push(each);
    return each;
  }

  function running(): KubeCluster {
    if (cluster === undefined) throw new Error('Not connected yet');
    return cluster;
  }

  return {
    get cluster() {
      return running();
    },
    get folder() {
      return folder;
    },
    write(name, text) {
      const path = join(folder, name);
      writeFileSync(path, text);
      return path;
    },
    connect,
    connectTo,
    apply(manifest, { force = true, manager = 'homeostat/test', status } = {}) {
      const options: ApplyOptions = { flow: testFlow, fieldManager: manager, force };
      return running().apply(
        manifest,
        status ? { ...options, subresource: 'status' } : options,
        signal,
      );
    },
  };
}

/** A ConfigMap `a`. */
export function aConfigMap(
  namespace: string,
  changes: { readonly metadata?: object; readonly data?: object } = {},
): KubeObject {
  const { metadata, data = { a: '1' } } = changes;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace, ...metadata },
    data,
  };
}

/** A Deployment `a` without replicas. */
export function aDeployment(namespace: string, spec: object = {}): KubeObject {
  const labels = { app: 'a' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'a', namespace },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      ...spec,
    },
  };
}
