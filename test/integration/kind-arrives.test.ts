import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  customKind,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

const definition = thingDefinition(
  'arrives',
  `  children:
    - id: plain
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: plain } }
    - id: late
      template:
        apiVersion: late.example.org/v1
        kind: Gadget
        metadata: { name: gadget }
        spec: { size: "\${ spec.size }" }
`,
);

/** Only reads the kind: no write of ours finds out where it is served. */
const reader = thingDefinition(
  'reader',
  `  reads: [{ id: found, apiVersion: late.example.org/v1, kind: Gadget, selector: all }]
  children:
    - id: shown
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: shown }
        data: { names: "\${ $join($sort(reads.found.metadata.name), ' ') }" }
`,
);

const crdOptions = {
  group: 'late.example.org',
  kind: 'Gadget',
  properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
};
const crd = customKind(crdOptions);
const crdPath = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`;

shared.describe('integration/kind-arrives', () => {
  before(async () => {
    await startHomeostat({ 'arrives.yaml': definition, 'reader.yaml': reader });
  });

  test('a kind that the server does not serve is waited for; when another user installs it the child is made', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(thing('arrives', namespace, { size: 3 }));
    const waiting = await client.untilObject(
      thingPath('arrives', namespace),
      (object) => conditionOf(object)?.reason === 'KindMissing',
    );
    assert.match(
      conditionOf(waiting)?.message ?? '',
      /late "gadget": The cluster does not serve kind "Gadget" of "late\.example\.org\/v1"/,
    );
    assert.equal(conditionOf(waiting, 'Reconciling')?.status, 'True');
    assert.equal(statusOf(waiting).children?.find(({ id }) => id === 'late')?.state, 'Waiting');
    assert.ok(await client.get(`/api/v1/namespaces/${namespace}/configmaps/plain`));
    await client.installCrd(crd);
    const gadget = await client.untilObject(
      `/apis/late.example.org/v1/namespaces/${namespace}/gadgets/gadget`,
      (object) => object !== undefined,
    );
    assert.deepEqual(gadget?.spec, { size: 3 });
    await client.untilObject(
      thingPath('arrives', namespace),
      (object) => conditionOf(object)?.status === 'True',
    );
  });

  test('a kind that is deleted is waited for again, and comes back', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(thing('arrives', namespace, { size: 3 }));
    const path = `/apis/late.example.org/v1/namespaces/${namespace}/gadgets`;
    await client.installCrd(crd);
    await client.untilObject(`${path}/gadget`, (object) => object !== undefined);
    await client.delete(crdPath);
    await client.untilObject(
      thingPath('arrives', namespace),
      (object) => conditionOf(object)?.reason === 'KindMissing',
    );
    // What is applied to it while it is being deleted is deleted with it.
    await client.untilGone(crdPath);
    await client.installCrd(crd);
    await client.untilObject(`${path}/gadget`, (object) => object !== undefined);
    await client.untilObject(
      thingPath('arrives', namespace),
      (object) => conditionOf(object)?.status === 'True',
    );
    // The definition starts over once more, with the schema of the kind.
    await shared.audit.quiet(8_000);
    const mark = shared.audit.mark();
    await shared.audit.quiet(5_000);
    assert.deepEqual(shared.audit.atRest({ since: mark }), []);
  });

  test('a kind that is read and comes back under another plural is found there', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.installCrd(crd);
    await client.apply(thing('reader', namespace, {}));
    const shown = `/api/v1/namespaces/${namespace}/configmaps/shown`;
    const untilShown = (names: string) =>
      client.untilObject(shown, (object) => (object?.data as { names?: string })?.names === names);
    const gadget = { apiVersion: 'late.example.org/v1', kind: 'Gadget' };
    await client.apply({ ...gadget, metadata: { name: 'first', namespace } });
    await untilShown('first');
    await client.delete(crdPath);
    await client.untilGone(crdPath);
    await client.installCrd(customKind({ ...crdOptions, plural: 'gizmos' }));
    const gizmos = `/apis/late.example.org/v1/namespaces/${namespace}/gizmos`;
    await client.create(gizmos, { ...gadget, metadata: { name: 'second', namespace } });
    await untilShown('second');
  });
});
