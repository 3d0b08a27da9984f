import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { thingDefinition } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import { untilStatus } from '../support/scrape.ts';

const limited = 'limited';
const shared = useControlPlane({ users: [limited], controllerManager: false });
const launch = useRuntimes(shared);

shared.describe('integration/source-rights', () => {
  test('without the right to list it says so, is not ready, and starts when the right comes', async () => {
    const operators = await shared.namespace();
    await shared.client().apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'operators',
        namespace: operators,
        labels: { 'homeostat.dev/definitions': 'true' },
      },
      data: { 'a.yaml': thingDefinition('permitted', '') },
    });
    const user = limited;
    const flags = ['--sources', 'configmaps', '--definitions-namespace', operators];
    const homeostat = launch({ user, flags });
    after(() => homeostat.stop());
    const told = await homeostat.whenLogged('Definitions cannot be read, those that were stay');
    assert.equal(told.source, `ConfigMaps of ${operators}`);
    assert.match(String(told.reason), /forbidden/);
    const text = await untilStatus(homeostat, '/readyz', 503);
    assert.match(text, /definitions failed: not read yet: ConfigMaps of .*forbidden/);
    await shared.client().apply({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: limited },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'cluster-admin',
      },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: limited }],
    });
    await homeostat.whenLogged('Definitions can be read again');
    await homeostat.whenReady();
    await untilStatus(homeostat, '/readyz', 200);
    assert.equal(await homeostat.stop(), 0);
  });
});
