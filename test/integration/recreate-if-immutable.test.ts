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

const shared = useControlPlane();
const startHomeostat = useHomeostat(shared);

const set = (fields: string) => `  children:
    - id: server
      ready: true
      ${fields}
      template:
        apiVersion: apps/v1
        kind: StatefulSet
        metadata: { name: "\${ metadata.name }" }
        spec:
          replicas: 1
          serviceName: \${ metadata.name }
          selector: { matchLabels: { app: "\${ metadata.name }" } }
          template:
            metadata: { labels: { app: "\${ metadata.name }" }, annotations: { note: "\${ spec.note }" } }
            spec: { containers: [{ name: web, image: web }] }
          volumeClaimTemplates:
            - metadata: { name: data }
              spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: "\${ spec.storage }" } } }
`;
const growing = thingDefinition(
  'growing',
  set('updateStrategy: { type: RecreateIfImmutable, cascade: Orphan }'),
);
const leaving = thingDefinition('leaving', set('cascade: Orphan'));

const first = { storage: '1Gi', note: 'one' };
const setPath = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}/statefulsets/one`;
const podPath = (namespace: string) => `/api/v1/namespaces/${namespace}/pods/one-0`;

shared.describe('integration/recreate-if-immutable', () => {
  let homeostat: Awaited<ReturnType<typeof startHomeostat>>;
  before(async () => {
    homeostat = await startHomeostat({ 'growing.yaml': growing, 'leaving.yaml': leaving });
  });

  async function settled(definition: string, namespace: string, spec: object): Promise<KubeObject> {
    const applied = await shared.client().apply(thing(definition, namespace, spec));
    await shared
      .client()
      .untilObject(
        thingPath(definition, namespace),
        (object) =>
          conditionOf(object)?.status === 'True' &&
          statusOf(object).observedGeneration === applied.metadata.generation,
      );
    const found = await shared.client().get(setPath(namespace));
    assert.ok(found);
    return found;
  }

  const isOwnedBy = (pod: KubeObject | undefined, { metadata }: KubeObject) =>
    pod?.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) === true;

  test('a StatefulSet whose volumes grow is created again, and its Pods stay', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const made = await settled('growing', namespace, first);
    const pod = await client.untilObject(podPath(namespace), (each) => isOwnedBy(each, made));
    const noted = await settled('growing', namespace, { ...first, note: 'one', more: 'x' });
    assert.equal(noted.metadata.uid, made.metadata.uid);
    const grown = await settled('growing', namespace, { ...first, storage: '2Gi' });
    assert.notEqual(grown.metadata.uid, made.metadata.uid);
    const adopted = await client.untilObject(podPath(namespace), (each) => isOwnedBy(each, grown));
    assert.equal(adopted?.metadata.uid, pod?.metadata.uid);
  });

  test('the Pods of a child stay when its resource is deleted', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const made = await settled('leaving', namespace, first);
    const pod = await client.untilObject(podPath(namespace), (each) => isOwnedBy(each, made));
    await client.delete(thingPath('leaving', namespace));
    await client.untilObject(thingPath('leaving', namespace), (each) => each === undefined);
    await client.untilObject(setPath(namespace), (each) => each === undefined);
    const left = await client.untilObject(podPath(namespace), (each) => !isOwnedBy(each, made));
    assert.equal(left?.metadata.uid, pod?.metadata.uid);
  });

  test('the Pods of a child that the definition no longer has stay', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const made = await settled('leaving', namespace, first);
    const pod = await client.untilObject(podPath(namespace), (each) => isOwnedBy(each, made));
    await homeostat.stop();
    homeostat = await startHomeostat({
      'growing.yaml': growing,
      'leaving.yaml': thingDefinition('leaving', ''),
    });
    await client.untilObject(setPath(namespace), (each) => each === undefined);
    const left = await client.untilObject(podPath(namespace), (each) => !isOwnedBy(each, made));
    assert.equal(left?.metadata.uid, pod?.metadata.uid);
  });
});
