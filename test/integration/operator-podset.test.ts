import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { at, operatorSuite } from '../support/operator-suite.ts';

const shared = useControlPlane({ audit: true });
const deployment = at('/apis/apps/v1', 'deployments');
const sizeOf = (object: KubeObject | undefined) =>
  (object?.spec as { readonly replicas?: number } | undefined)?.replicas;

// What is special about it is in `podset.test.ts`.
shared.describe('integration/operator-podset', () => {
  operatorSuite(shared, {
    name: 'podset',
    resource: {
      apiVersion: 'apps.example.com/v1alpha1',
      kind: 'PodSet',
      metadata: { name: 'web' },
      spec: { size: 2 },
    },
    children: [deployment],
    edits: [
      {
        what: 'another size',
        change: { spec: { size: 3 } },
        path: deployment,
        isDone: (object) => sizeOf(object) === 3,
      },
    ],
    drifts: [
      {
        what: 'replicas that a user changes',
        path: deployment,
        change: { spec: { replicas: 7 } },
        isBack: (object) => sizeOf(object) === 2,
      },
    ],
  });
});
