import type { ResourceType } from '../../../src/kube/roles.ts';
import { definitionGvk } from '../../../src/runtime/objects/names.ts';
import { gvkOf } from '../../../src/util/gvk.ts';
import { QuietCluster } from './quiet-cluster.ts';

const crdGvk = gvkOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
const configMapGvk = gvkOf('v1', 'ConfigMap');
const clusterScoped = { namespaced: false, hasStatus: true, verbs: [] };

/** With the kinds that the runtime needs. `more`: besides those. */
export class RuntimeFakeCluster extends QuietCluster {
  constructor(more: readonly ResourceType[] = []) {
    super([
      { gvk: crdGvk, plural: 'customresourcedefinitions', ...clusterScoped },
      { gvk: definitionGvk, plural: 'operatordefinitions', ...clusterScoped },
      { gvk: configMapGvk, plural: 'configmaps', ...clusterScoped, namespaced: true },
      ...more,
    ]);
  }
}
