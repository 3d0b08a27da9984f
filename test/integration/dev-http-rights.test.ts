import { after, before, test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { DevProcess } from '../support/dev-process.ts';

const user = 'limited';
const shared = useControlPlane({ users: [user], controllerManager: false });

shared.describe('integration/dev-http-rights', () => {
  let dev: DevProcess | undefined;

  before(async () => {
    const client = shared.client();
    const rbac = 'rbac.authorization.k8s.io';
    const metadata = { name: 'limited-dev' };
    const all = ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'];
    await client.apply({
      ...{ apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata },
      rules: [
        {
          apiGroups: ['', 'homeostat.dev', 'events.k8s.io', 'discovery.k8s.io'],
          ...{ resources: ['*'], verbs: all },
        },
        {
          ...{ apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'] },
          verbs: ['get', 'list', 'watch'],
        },
        {
          ...{ apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'] },
          verbs: ['create', 'patch'],
          resourceNames: ['operatordefinitions.homeostat.dev'],
        },
      ],
    });
    await client.apply({
      ...{ apiVersion: `${rbac}/v1`, kind: 'ClusterRoleBinding', metadata },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'limited-dev' },
      subjects: [{ kind: 'User', name: user, apiGroup: rbac }],
    });
  });
  after(() => dev?.stop('SIGKILL'));

  test('without the right to install the kinds, dev says which right is missing', async () => {
    const args = ['--kubeconfig', shared.plane.kubeconfigPath(user), '--http-objects'];
    dev = new DevProcess({ files: { 'README.md': 'no definition' }, args });
    await dev.untilSaid(
      /The kind HttpObject is not served and the runtime may not install its CustomResourceDefinition/,
    );
  });
});
