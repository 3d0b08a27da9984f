import assert from 'node:assert/strict';
import { before, test } from 'node:test';
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

const configMap = (name: string, data = '{}') => `
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "${name}" }
        data: ${data}
`;

const definition = thingDefinition(
  'missing',
  `  reads:
    - { id: shared, apiVersion: v1, kind: ConfigMap, name: "\${ spec.shared }" }
  children:
    - id: list
      forEach: \${ spec.list }${configMap('list-${ $item }')}
    - id: maybe
      when: \${ spec.on }${configMap('maybe')}
    - id: reader${configMap('reader', '{ copy: "${ reads.shared.data.key }" }')}
    - id: plain${configMap('plain')}
`,
);

const full = { list: ['a', 'b'], on: true, shared: 'source' };

/** A Thing with all its children made. */
async function setUp() {
  const namespace = await shared.namespace();
  const client = shared.client();
  const source = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'source', namespace },
    data: { key: 'value' },
  };
  await client.apply(source);
  await client.apply(thing('missing', namespace, full));
  const path = `/api/v1/namespaces/${namespace}/configmaps?labelSelector=homeostat.dev/owner-uid`;
  const children = await client.untilList(path, (items) => items.length === 5);
  // Before the source is in the operator's cache it waits for it, and says so: what comes later must not be taken for that.
  await client.untilObject(
    thingPath('missing', namespace),
    (object) => conditionOf(object)?.status === 'True',
  );
  const uids = () =>
    client.list(path).then((items) => items.map(({ metadata }) => metadata.uid).sort());
  return {
    namespace,
    client,
    source,
    before: children.map(({ metadata }) => metadata.uid).sort(),
    uids,
  };
}

shared.describe('integration/missing', () => {
  before(async () => {
    await startHomeostat({ 'missing.yaml': definition });
  });

  for (const [field, child] of [
    ['list', 'list'],
    ['on', 'maybe'],
  ] as const) {
    test(`without spec.${field} the children of "${child}" stay, and the status says why`, async () => {
      const { namespace, client, before, uids } = await setUp();
      await client.patch(thingPath('missing', namespace), { spec: { [field]: null } });
      const resource = await client.untilObject(
        thingPath('missing', namespace),
        (object) =>
          conditionOf(object)?.reason === 'RenderFailed' &&
          statusOf(object).observedGeneration === 2,
      );
      assert.match(conditionOf(resource)?.message ?? '', new RegExp(`${child}.*${field}`, 's'));
      await shared.audit.quiet(1_000);
      assert.deepEqual(await uids(), before);
      // The rest still follows edits.
      await client.patch(thingPath('missing', namespace), { spec: full });
      await client.untilObject(
        thingPath('missing', namespace),
        (object) => conditionOf(object)?.status === 'True',
      );
      assert.deepEqual(await uids(), before);
    });
  }

  test('a read that is deleted leaves what was made from it, and heals by itself', async () => {
    const { namespace, client, source, before, uids } = await setUp();
    await client.delete(`/api/v1/namespaces/${namespace}/configmaps/source`);
    const waiting = await client.untilObject(
      thingPath('missing', namespace),
      (object) => conditionOf(object)?.reason === 'Waiting',
    );
    assert.match(conditionOf(waiting)?.message ?? '', /reads\.shared/);
    await shared.audit.quiet(1_000);
    assert.deepEqual(await uids(), before);
    await client.apply({ ...source, data: { key: 'other' } });
    const reader = `/api/v1/namespaces/${namespace}/configmaps/reader`;
    await client.untilObject(
      reader,
      (object) => (object?.data as { copy?: string } | undefined)?.copy === 'other',
    );
    await client.untilObject(
      thingPath('missing', namespace),
      (object) => conditionOf(object)?.status === 'True',
    );
  });

  test('a child that waits from the start is made when its read comes', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(thing('missing', namespace, full));
    await client.untilObject(
      thingPath('missing', namespace),
      (object) => conditionOf(object)?.reason === 'Waiting',
    );
    const reader = `/api/v1/namespaces/${namespace}/configmaps/reader`;
    assert.equal(await client.get(reader), undefined);
    assert.ok(await client.get(`/api/v1/namespaces/${namespace}/configmaps/plain`));
    const metadata = { name: 'source', namespace };
    await client.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { key: 'late' } });
    await client.untilObject(
      reader,
      (object) => (object?.data as { copy?: string } | undefined)?.copy === 'late',
    );
  });
});
