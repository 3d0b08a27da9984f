import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  checkDefinitions,
  definitionRights,
  rolesYaml,
  runtimeRights,
} from '../../src/check/index.ts';
import { bundledPlural, bundledSchemas } from '../../src/compile/index.ts';
import { parseYaml, parseYamlDocuments } from '../../src/definition/index.ts';
import type { KubeObject } from '../../src/util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import { useMembers } from '../support/members.ts';

const shared = useControlPlane();
const launch = useRuntimes(shared);
const text = thingDefinition(
  'limited',
  `  children: [{ id: a, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" }, data: { x: "1" } } }]
  removalPolicy: Delete
  controller: { clusters: { selector: all } }
`,
);
const definitions = '/apis/homeostat.dev/v1alpha1/operatordefinitions';

shared.describe('integration/member-rights', () => {
  const members = useMembers(shared, ['limited']);

  test('a definition runs in a member with the rights that are printed for it', async () => {
    const { accepted } = checkDefinitions([{ file: 'limited.yaml', text }], {
      schemas: bundledSchemas(),
    });
    const { rules } = definitionRights(
      accepted.map(({ plan }) => plan),
      bundledPlural,
    );
    const roles = rolesYaml({
      name: 'limited',
      serviceAccount: { namespace: 'default', name: 'limited' },
      rules: [...runtimeRights({ leaseName: '' }).member, ...rules],
    });
    const member = members.client('limited');
    for (const role of parseYamlDocuments(roles) as unknown as readonly KubeObject[]) {
      const isBinding = role.kind.endsWith('Binding');
      const subjects = [{ kind: 'User', name: 'limited', apiGroup: 'rbac.authorization.k8s.io' }];
      await member.apply(isBinding ? { ...role, subjects } : role);
    }
    launch({
      flags: [
        ...['--sources', 'objects', '--namespace', 'homeostat-test'],
        ...['--runtime', 'limited', '--cluster-secrets', 'default'],
      ],
    });
    await shared.client().untilList(definitions, () => true);
    await shared.client().apply(parseYaml(text) as unknown as KubeObject);
    await shared.client().untilList(members.collection, () => true);
    const kubeconfig = members.plane('limited').kubeconfig('limited');
    await members.register('limited', { kubeconfig });
    await members.untilReason('limited', 'Running', 'Ready');
    const client = members.client('limited');
    await client.untilList('/apis/limited.example.com/v1/things', () => true);
    await client.apply(thing('limited', 'default', {}));
    await client.untilObject(thingPath('limited', 'default'), (object) =>
      JSON.stringify(object?.status ?? {}).includes('AllReady'),
    );
    await shared.client().delete(`${definitions}/limited`);
    await shared.client().untilGone(`${definitions}/limited`);
    assert.equal(await client.get('/api/v1/namespaces/default/configmaps/limited'), undefined);
  });
});
