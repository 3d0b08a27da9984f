import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { statusOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import { useMembers } from '../support/members.ts';

const shared = useControlPlane({ audit: true, controllerManager: false });
const launch = useRuntimes(shared);

/** In a member, one child is rejected by its server, and an expression of another one fails. */
const text = thingDefinition(
  'afar',
  `  children:
    - id: rejected
      when: \${ spec.isRejected }
      cluster: \${ spec.cluster }
      crossCluster: { selector: all }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-bad", annotations: { "not a key!": "\${ metadata.name }" } } }
    - id: unknown
      cluster: \${ spec.cluster }
      crossCluster: { selector: all }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-zone" }, data: { zone: "z-\${ spec.zone }" } }
`,
);

shared.describe('integration/places-kept-in-members', () => {
  const members = useMembers(shared, ['east']);

  test('messages of children in a member keep their places through restarts, and where no request is needed nothing is written', async () => {
    const [operators, namespace] = [await shared.namespace(), await shared.namespace()];
    const client = shared.client();
    const flags = [
      ...['--sources', 'configmaps', '--definitions-namespace', operators],
      ...['--namespace', 'homeostat-test', '--runtime', 'hub', '--cluster-secrets', 'default'],
    ];
    const metadata = {
      name: 'texts',
      namespace: operators,
      labels: { 'homeostat.dev/definitions': 'true' },
    };
    await client.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'd.yaml': text } });
    let homeostat = launch({ flags });
    await homeostat.whenReady();
    await members.register('east');
    await members.untilReason('east', 'Connected');
    await members.client('east').must({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    });
    const untilFailed = async (name: string, isRejected: boolean, messages: RegExp) => {
      const path = thingPath('afar', namespace, name);
      await client.apply(thing('afar', namespace, { cluster: 'east', isRejected }, name));
      await client.untilObject(path, (object) =>
        messages.test((statusOf(object).children ?? []).map(({ message }) => message).join(' ')),
      );
      await shared.audit.quiet(1_000);
      return { path, before: await client.get(path) };
    };
    const place = '\\(d\\.yaml:\\d+:\\d+\\)';
    const rejected = await untilFailed(
      'one',
      true,
      new RegExp(`annotations.*not a key!.*${place}.*data\\.zone.*${place}`, 's'),
    );
    const failed = await untilFailed('two', false, new RegExp(`^data\\.zone.*${place}$`));
    for (let round = 0; round < 2; round++) {
      assert.equal(await homeostat.stop(), 0);
      homeostat = launch({ flags });
      await homeostat.whenReady();
      await members.untilReason('east', 'Connected');
      await shared.audit.quiet(2_000);
      // The inventory has the child while its server is asked to create it.
      assert.deepEqual((await client.get(rejected.path))?.status, rejected.before?.status);
      const now = await client.get(failed.path);
      assert.deepEqual(now?.status, failed.before?.status);
      assert.equal(now?.metadata.resourceVersion, failed.before?.metadata.resourceVersion);
    }
    assert.equal(await homeostat.stop(), 0);
  });
});
