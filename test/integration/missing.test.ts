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

/** Values of other objects and of the resource that are not there, below a schema without `required: [spec]`. */
const sources = thingDefinition(
  'sources',
  `  reads:
    - { id: left, apiVersion: v1, kind: Secret, name: left }
  children:
    - id: web
      when: \${ spec.web ?? false }${configMap('web')}
    - id: reader${configMap('reader', '{ web: "${ children.web.metadata.name }" }')}
    - id: key${configMap('key', '{ key: "${ $base64decode(reads.left.data.key) }" }')}
    - id: level${configMap('level', '{ level: "${ spec.level }" }')}
`,
  {
    schema: `
            type: object
            properties:
              spec: { type: object, properties: { web: { type: boolean }, level: { type: string, default: high } } }
`,
  },
);

/** A template and a patch that need a value of an element, where there may be none. */
const elements = thingDefinition(
  'elements',
  `  children:
    - id: each
      forEach: \${ spec.items ?? [] }${configMap('each-${ $item }')}
    - id: first${configMap('first', '{ name: "${ children.each[0].metadata.name }" }')}
    - id: names${configMap('names', '{ count: "${ $count(children.each) }" }')}
  patches:
    - id: mark
      target: { apiVersion: v1, kind: ConfigMap, name: marked }
      patch: { data: { name: "\${ children.each[0].metadata.name }" } }
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
    await startHomeostat({
      'missing.yaml': definition,
      'sources.yaml': sources,
      'elements.yaml': elements,
    });
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

  test('a child that is not desired, a key that is not there and a default below a missing spec create nothing, and are named', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'left', namespace } };
    await client.apply({ ...secret, stringData: { other: 'x' } });
    const { spec: _, ...bare } = thing('sources', namespace, {});
    await client.apply(bare);
    const path = thingPath('sources', namespace);
    const failed = await client.untilObject(
      path,
      (object) => conditionOf(object)?.reason === 'RenderFailed',
    );
    const message = conditionOf(failed)?.message ?? '';
    assert.match(
      message,
      /data\.web: Missing value "children\.web\.metadata\.name", because "when" of child "web" is false/,
    );
    assert.match(message, /because the default of "spec\.level" applies only where "spec" exists/);
    const states = (object: unknown) =>
      (statusOf(object as never).children as readonly { id: string; message: string }[]).find(
        ({ id }) => id === 'key',
      )?.message;
    await client.untilObject(
      path,
      (object) =>
        states(object) === 'Waiting for reads.left.data.key (Secret "left" does not have it)',
    );
    await shared.audit.quiet(1_000);
    const maps = `/api/v1/namespaces/${namespace}/configmaps`;
    for (const name of ['reader', 'key', 'level'])
      assert.equal(await client.get(`${maps}/${name}`), undefined);

    // What was missing comes.
    await client.apply({ ...secret, stringData: { key: 'one' } });
    await client.patch(path, { spec: { web: true } });
    await client.untilObject(path, (object) => conditionOf(object)?.status === 'True');
    const data = async (name: string) => (await client.get(`${maps}/${name}`))?.data;
    assert.deepEqual(await data('reader'), { web: 'web' });
    assert.deepEqual(await data('key'), { key: 'one' });
    assert.deepEqual(await data('level'), { level: 'high' });

    // What was created stays when it is deleted.
    await client.patch(path, { spec: { web: false } });
    await client.apply({ ...secret, stringData: { other: 'x' } });
    await client.untilObject(
      path,
      (object) =>
        conditionOf(object)?.reason === 'RenderFailed' && statusOf(object).observedGeneration === 3,
    );
    await shared.audit.quiet(1_000);
    assert.deepEqual(await data('reader'), { web: 'web' });
  });

  test('an empty "forEach" whose element a template and a patch need writes neither, and both are named', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const maps = `/api/v1/namespaces/${namespace}/configmaps`;
    const marked = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'marked', namespace } };
    await client.apply({ ...marked, data: { name: 'none', own: 'x' } });
    await client.apply(thing('elements', namespace, { items: [] }));
    const path = thingPath('elements', namespace);
    const untilFailed = (generation: number) =>
      client.untilObject(
        path,
        (object) =>
          conditionOf(object)?.reason === 'RenderFailed' &&
          statusOf(object).observedGeneration === generation,
      );
    const because =
      'Missing value "children.each[0].metadata.name", because "forEach" of child "each" has no elements';
    const assertNamed = (object: KubeObject | undefined) => {
      const message = conditionOf(object)?.message ?? '';
      assert.equal(message.split(because).length, 3, message);
      assert.match(message, /patches\.mark\.data\.name: Missing value/);
    };
    const dataOf = async (name: string) => (await client.get(`${maps}/${name}`))?.data;
    assertNamed(await untilFailed(1));
    await client.untilObject(`${maps}/names`, (object) => object !== undefined);
    await shared.audit.quiet(1_000);
    assert.deepEqual(await dataOf('names'), { count: '0' });
    assert.equal(await dataOf('first'), undefined);
    assert.deepEqual(await dataOf('marked'), { name: 'none', own: 'x' });

    await client.patch(path, { spec: { items: ['a'] } });
    await client.untilObject(path, (object) => conditionOf(object)?.status === 'True');
    assert.deepEqual(await dataOf('first'), { name: 'each-a' });
    assert.deepEqual(await dataOf('marked'), { name: 'each-a', own: 'x' });

    // The elements leave; what was made from them stays, also the fields of the patch.
    await client.patch(path, { spec: { items: [] } });
    assertNamed(await untilFailed(3));
    await shared.audit.quiet(1_000);
    assert.deepEqual(await dataOf('first'), { name: 'each-a' });
    assert.deepEqual(await dataOf('marked'), { name: 'each-a', own: 'x' });
    assert.equal(await client.get(`${maps}/each-a`), undefined);
  });
});
