import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { thingDefinition } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import { grantExactly, runtimeRules } from '../support/rights/index.ts';
import { untilStatus } from '../support/scrape.ts';

const limited = 'limited';
const shared = useControlPlane({ users: [limited], controllerManager: false });
const launch = useRuntimes(shared);

shared.describe('integration/source-rights', () => {
  test('without the right to list it says so, is not ready, and starts when the right comes', async () => {
    await grantExactly(shared.client(), limited, runtimeRules);
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
    const reported = await homeostat.whenLogged(
      'Definitions cannot be read, the last ones stay active',
    );
    assert.equal(reported.source, `ConfigMaps in ${operators}`);
    assert.match(String(reported.reason), /forbidden/);
    const text = await untilStatus(homeostat, '/readyz', 503);
    assert.match(text, /definitions failed: not read yet: .*ConfigMaps in .*forbidden/);
    const all = ['get', 'list', 'watch', 'create', 'patch', 'delete'];
    await grantExactly(shared.client(), limited, [
      ...runtimeRules,
      { apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] },
      { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: all },
      { apiGroups: ['permitted.example.com'], resources: ['*'], verbs: all },
    ]);
    await homeostat.whenLogged('Definitions can be read again');
    await homeostat.whenReady();
    await untilStatus(homeostat, '/readyz', 200);
    assert.equal(await homeostat.stop(), 0);
  });
});
