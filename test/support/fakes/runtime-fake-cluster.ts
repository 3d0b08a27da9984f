import type { ResourceType } from '#kube/roles.ts';
import { definitionGvk } from '#runtime/objects/names.ts';
import { gvkOf } from '#util/gvk.ts';
import type { FakeServer } from './fake-server.ts';
import { QuietCluster } from './quiet-cluster.ts';

const crdGvk = gvkOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
const configMapGvk = gvkOf('v1', 'ConfigMap');
const clusterScoped = { namespaced: false, hasStatus: true, verbs: [] };

/** With the kinds that the runtime needs. `more`: besides those. `server`: one that other clients use, too. */
export class RuntimeFakeCluster extends QuietCluster {
  constructor(more: readonly ResourceType[] = [], server?: FakeServer) {
    super(
      [
        { gvk: crdGvk, plural: 'customresourcedefinitions', ...clusterScoped },
        { gvk: definitionGvk, plural: 'operatordefinitions', ...clusterScoped },
        { gvk: configMapGvk, plural: 'configmaps', ...clusterScoped, namespaced: true },
        ...more,
      ],
      server,
    );
  }
}
