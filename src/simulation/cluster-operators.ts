import {
  ClusterRuntime,
  type ClusterRuntimeOptions,
  type ConnectMember,
} from '../runtime/index.ts';
import { unlimitedTimeSlicer } from '../util/time-slicer.ts';
import { runtimeNamespace } from './members/cluster-object.ts';

interface ClusterOperatorsOptions
  extends Pick<
    ClusterRuntimeOptions,
    'cluster' | 'clock' | 'random' | 'logger' | 'metrics' | 'check' | 'sources' | 'coverage'
  > {
  readonly connect: ConnectMember;
}

/** The runtime of production for a simulated cluster. A module of its own, as commands that run a definition without it do not load it. */
export function createClusterOperators({
  connect,
  ...options
}: ClusterOperatorsOptions): ClusterRuntime {
  return new ClusterRuntime({
    ...options,
    timeSlicer: unlimitedTimeSlicer,
    readsObjects: false,
    guardedNamespaces: new Set(),
    definitionsNamespace: undefined,
    members: { secrets: { namespace: runtimeNamespace, allowed: ['*'] }, connect },
    name: 'simulation',
    onFindings: () => undefined,
  });
}
