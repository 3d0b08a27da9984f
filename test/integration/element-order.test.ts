import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

const pod = (id: string, fields: string) => `    - id: ${id}
      forEach: \${ spec.groups }
      ${fields}
      template:
        apiVersion: v1
        kind: Pod
        metadata: { name: "${id}-\${ $item.name }" }
        spec: { containers: [{ name: main, image: "\${ spec.image }" }] }
`;
const grouped = thingDefinition(
  'grouped',
  `  children:
${pod('leader', 'updateStrategy: { type: Recreate }')}${pod('worker', 'after: [{ child: leader, element: same }]')}`,
);

const gated = thingDefinition(
  'gated',
  `  children:
    - id: config
      forEach: [a, b]
      gate: \${ $item in spec.open }
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "config-\${ $item }" }
        data: { text: "\${ spec.text }" }
`,
);

interface Pod extends KubeObject {
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
}

shared.describe('integration/element-order', () => {
  before(async () => {
    await startHomeostat({ 'grouped.yaml': grouped, 'gated.yaml': gated });
  });

  function groups(namespace: string) {
    const client = shared.client();
    const podsPath = `/api/v1/namespaces/${namespace}/pods`;
    const describe = (items: readonly Pod[]) =>
      items
        .map(({ metadata, spec }) => `${metadata.name}=${spec.containers[0]?.image}`)
        .sort()
        .join(' ');
    return {
      want: (image: string, ...names: readonly string[]) =>
        client.apply(
          thing('grouped', namespace, { image, groups: names.map((name) => ({ name })) }),
        ),
      untilPods: (expected: string) =>
        client.untilList<Pod>(podsPath, (items) => describe(items) === expected),
      pods: async () => describe(await client.list<Pod>(podsPath)),
      /** What a kubelet would do. */
      run: (name: string) =>
        client.patch(`${podsPath}/${name}/status`, {
          status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
        }),
      untilMessage: (name: string, message: string) =>
        client.untilObject(thingPath('grouped', namespace), (object) =>
          (statusOf(object).children ?? []).some(
            (child) => child.name === name && child.message === message,
          ),
        ),
    };
  }

  test('each group starts its workers when its own leader is ready', async () => {
    const { want, untilPods, untilMessage, run, pods } = groups(await shared.namespace());
    await want('one', 'a', 'b');
    await untilPods('leader-a=one leader-b=one');
    await untilMessage('worker-b', 'Waiting for Pod "leader-b" to be ready');
    await run('leader-b');
    await untilPods('leader-a=one leader-b=one worker-b=one');
    await shared.audit.quiet(1_500);
    assert.equal(await pods(), 'leader-a=one leader-b=one worker-b=one');
    await run('worker-b');
    await want('two', 'a', 'b');
    await untilPods('leader-a=two leader-b=two worker-b=one');
    await run('leader-b');
    await untilPods('leader-a=two leader-b=two worker-b=two');
    await run('leader-a');
    await untilPods('leader-a=two leader-b=two worker-a=two worker-b=two');
  });

  test('an object is changed when its gate opens, and nothing is sent before', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const textOf = async (name: string) =>
      (await client.get(`/api/v1/namespaces/${namespace}/configmaps/${name}`))?.data;
    const want = async (text: string, ...open: readonly string[]) => {
      const wanted = await client.apply(thing('gated', namespace, { text, open }));
      const { generation } = wanted.metadata;
      return client.untilObject(
        thingPath('gated', namespace),
        (object) => statusOf(object).observedGeneration === generation,
      );
    };
    await want('one');
    const waiting = await want('two', 'b');
    assert.deepEqual(await textOf('config-a'), { text: 'one' });
    assert.deepEqual(await textOf('config-b'), { text: 'two' });
    assert.equal(conditionOf(waiting)?.reason, 'Waiting');
    await shared.audit.quiet(1_500);
    assert.deepEqual(await textOf('config-a'), { text: 'one' });
    await want('two', 'a', 'b');
    assert.deepEqual(await textOf('config-a'), { text: 'two' });
  });
});
