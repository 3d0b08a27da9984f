import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, textMap, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

/** Authors name a Namespace, a place for a ConfigMap, and what is patched. */
const spaces = thingDefinition(
  'spaces',
  `  children:
    - id: space
      when: \${ $exists(spec.space) }
      crossNamespace: { namespaces: ["*"] }
      template:
        apiVersion: v1
        kind: Namespace
        metadata: { name: "\${ spec.space }", labels: { pod-security.kubernetes.io/enforce: privileged } }
    - id: map
      when: \${ $exists(spec.to) }
      crossNamespace: { namespaces: ["*"] }
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }", namespace: "\${ spec.to }" }
  patches:
    - id: label
      when: \${ $exists(spec.patched) }
      target: { apiVersion: v1, kind: Namespace, name: "\${ spec.patched }" }
      crossNamespace: { namespaces: ["*"] }
      patch: { metadata: { labels: { pod-security.kubernetes.io/enforce: privileged } } }
`,
);

const plain = thingDefinition('plain', `  children:${textMap('map')}\n`);
const named = thingDefinition(
  'named',
  `  children:${textMap('map')}\n  controller: { namespaces: { include: ["*", homeostat-system] } }\n`,
);

shared.describe('attacks/placement: namespaces', () => {
  before(async () => {
    const metadata = { name: 'homeostat-system' };
    await shared.client().apply({ apiVersion: 'v1', kind: 'Namespace', metadata });
    await startHomeostat({ 'spaces.yaml': spaces, 'plain.yaml': plain, 'named.yaml': named });
  });

  for (const [what, name, spec, message] of [
    ['a Namespace of Kubernetes', 'system', { space: 'kube-system' }, /is a system namespace/],
    [
      'the Namespace of the runtime',
      'own',
      { space: 'homeostat-system' },
      /is a namespace of the Homeostat runtime/,
    ],
    [
      'what is in a namespace of Kubernetes',
      'into',
      { to: 'kube-system' },
      /is a system namespace/,
    ],
    ['a namespace by a path', 'path', { to: 'a/../../kube-system' }, /namespace name/],
    ['a Namespace by a patch', 'patch', { patched: 'kube-public' }, /is a system namespace/],
  ] as const) {
    test(`no author writes ${what}`, async () => {
      const client = shared.client();
      const home = await shared.namespace();
      const mark = shared.audit.mark();
      await client.apply(thing('spaces', home, spec, name));
      const reported = await client.untilObject(
        thingPath('spaces', home, name),
        (object) => conditionOf(object)?.status === 'False',
      );
      assert.match(conditionOf(reported)?.message ?? '', message);
      const { by } = shared.audit.count({ since: mark });
      const written = Object.keys(by).filter((each) => /namespaces$|configmaps$/.test(each));
      assert.deepEqual(
        written.filter((each) => each.startsWith('patch')),
        [],
      );
    });
  }

  test('a resource in the namespace of the runtime is served only where the definition names it', async () => {
    const client = shared.client();
    const home = await shared.namespace();
    const own = 'homeostat-system';
    await client.apply(thing('plain', own, { text: 'a' }));
    await client.apply(thing('named', own, { text: 'a' }));
    await client.apply(thing('plain', home, { text: 'a' }));
    for (const path of [thingPath('named', own), thingPath('plain', home)])
      await client.untilObject(path, (object) => conditionOf(object)?.status === 'True');
    const left = await client.get(thingPath('plain', own));
    assert.equal(left?.status, undefined);
  });
});
