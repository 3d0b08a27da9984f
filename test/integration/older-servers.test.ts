import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { skipBefore, useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';

const shared = useControlPlane();
const launch = useRuntimes(shared);

const selectable = thingDefinition('selectable', '').replace(
  '      - name: v1\n',
  '      - name: v1\n        selectableFields: [{ jsonPath: .spec.color }]\n',
);
const selectableSchema = (text: string) =>
  text.replace(
    'spec: { type: object, x-kubernetes-preserve-unknown-fields: true }',
    'spec: { type: object, properties: { color: { type: string } } }',
  );

/** Served since 1.34, and not by the sandbox. */
const claims = thingDefinition(
  'claims',
  `  children:
    - id: plain
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: plain } }
    - id: claim
      template:
        apiVersion: resource.k8s.io/v1
        kind: ResourceClaimTemplate
        metadata: { name: "\${ metadata.name }" }
        spec: { spec: {} }
`,
);

/** A definition of a kind that the server lacks. */
const forClaims = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: for-claims }
spec:
  for: { apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate }
  children:
    - id: shown
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-shown" } }
`;

const collection = '/apis/homeostat.dev/v1alpha1/operatordefinitions';

/** Which features the servers have: what the sandbox lacks is waited for as on an old server. */
const hasSelectableFields = skipBefore('1.31') === false;
const hasClaims = skipBefore('1.34') === false && process.env.HOMEOSTAT_TEST_BACKEND !== 'sandbox';

shared.describe('integration/older-servers', () => {
  before(async () => {
    const operators = await shared.namespace();
    launch({ flags: ['--sources', 'objects', '--namespace', operators] });
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await shared
      .client()
      .untilObject(`${crds}/operatordefinitions.homeostat.dev`, (crd) =>
        Boolean(conditionOf(crd, 'Established')),
      );
    await shared.client().untilList(collection, () => true);
    for (const text of [selectableSchema(selectable), claims, forClaims])
      await shared.client().apply(parseYaml(text) as unknown as KubeObject);
  });

  const untilDefinition = (name: string, isMet: (object: KubeObject | undefined) => boolean) =>
    shared.client().untilObject(`${collection}/${name}`, isMet);

  test('a definition with a field of CRDs that the server lacks is rejected with the name of the field, else the field is used', async () => {
    if (!hasSelectableFields) {
      const rejected = await untilDefinition(
        'selectable',
        (object) => conditionOf(object, 'Accepted')?.reason === 'Rejected',
      );
      assert.match(conditionOf(rejected, 'Accepted')?.message ?? '', /selectableFields/);
      return;
    }
    await untilDefinition('selectable', (object) => conditionOf(object)?.status === 'True');
    const namespace = await shared.namespace();
    const client = shared.client();
    for (const color of ['red', 'blue'])
      await client.apply(thing('selectable', namespace, { color }, color));
    const things = thingPath('selectable', namespace, '').replace(/\/$/, '');
    const found = await client.list(`${things}?fieldSelector=spec.color%3Dred`);
    assert.deepEqual(
      found.map(({ metadata }) => metadata.name),
      ['red'],
    );
  });

  test('a child of a kind that the server lacks waits and names it, else it is created', async () => {
    const definition = await untilDefinition(
      'claims',
      (object) =>
        conditionOf(object, 'Running')?.status === 'True' &&
        (conditionOf(object)?.status === 'True') === hasClaims,
    );
    const missing = /does not serve kind "ResourceClaimTemplate" of "resource\.k8s\.io\/v1"/;
    if (!hasClaims) assert.match(conditionOf(definition)?.message ?? '', missing);
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(thing('claims', namespace, {}));
    const one = await client.untilObject(thingPath('claims', namespace), (object) =>
      ['KindMissing', 'AllReady'].includes(conditionOf(object)?.reason ?? ''),
    );
    assert.equal(conditionOf(one)?.reason, hasClaims ? 'AllReady' : 'KindMissing');
    assert.ok(await client.get(`/api/v1/namespaces/${namespace}/configmaps/plain`));
    const claim = `/apis/resource.k8s.io/v1/namespaces/${namespace}/resourceclaimtemplates/one`;
    assert.equal((await client.get(claim)) !== undefined, hasClaims);
    if (hasClaims) return;
    const child = statusOf(one).children?.find(({ id }) => id === 'claim');
    assert.equal(child?.state, 'Waiting');
    assert.match(child?.message ?? '', missing);
  });

  test('a definition of a kind that the server lacks waits and names it, else it runs', async () => {
    const found = await untilDefinition('for-claims', (object) =>
      ['True', 'False'].includes(conditionOf(object, 'KindAvailable')?.status ?? ''),
    );
    const available = conditionOf(found, 'KindAvailable');
    assert.equal(available?.reason, hasClaims ? 'Served' : 'KindMissing');
    assert.match(available?.message ?? '', /ResourceClaimTemplate/);
  });
});
