import type { KubeCluster } from '#kube';
import type { HttpTransport } from '#kube/roles.ts';
import {
  ClusterRuntime,
  type ClusterRuntimeOptions,
  type ConnectMember,
  simulatedConversion,
} from '#runtime';
import { unlimitedTimeSlicer } from '#util/time-slicer.ts';
import { createSimulatedHttp } from './http/simulated-http.ts';
import { runtimeNamespace } from './members/cluster-object.ts';

interface ClusterOperatorsOptions
  extends Pick<
    ClusterRuntimeOptions,
    'clock' | 'random' | 'logger' | 'metrics' | 'check' | 'sources' | 'coverage'
  > {
  readonly cluster: KubeCluster;
  readonly connect: ConnectMember;
  /** Where objects behind HTTP are sent to. */
  readonly transport: HttpTransport;
  /** Called before objects behind HTTP are managed. */
  readonly permitHttp: () => Promise<void>;
}

/** The runtime of production for a simulated cluster. A module of its own, as commands that run a definition without it do not load it. */
export function createClusterOperators({
  connect,
  transport,
  permitHttp,
  ...options
}: ClusterOperatorsOptions): ClusterRuntime {
  return new ClusterRuntime({
    ...options,
    timeSlicer: unlimitedTimeSlicer,
    conversion: simulatedConversion,
    readsObjects: false,
    schemaDelayMs: 0,
    guardedNamespaces: new Set(),
    definitionsNamespace: undefined,
    members: { secrets: { namespace: runtimeNamespace, allowed: ['*'] }, connect },
    ownControllers: [createSimulatedHttp({ ...options, transport, permitHttp })],
    name: 'simulation',
    onFindings: () => undefined,
  });
}
