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

const shared = useControlPlane({ audit: true, controllerManager: false });
const startHomeostat = useHomeostat(shared);

/** A Deployment whose replicas, and whose CPU of one container, are left to others. */
const workload = (strategy: string) => `  children:
    - id: web
      ready: true
      updateStrategy: { type: ${strategy} }
      fields: { leave: [spec.replicas, "spec.template.spec.containers[name=web].resources"] }
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: "\${ metadata.name }" }
        spec:
          replicas: \${ spec.size }
          revisionHistoryLimit: "\${? spec.limit }"
          selector: { matchLabels: { app: "\${ metadata.name }" } }
          template:
            metadata: { labels: { app: "\${ metadata.name }" } }
            spec:
              containers:
                - { name: first, image: first }
                - { name: web, image: "\${ spec.image }", resources: { requests: { cpu: "\${ spec.cpu }" } } }
`;
const secret = `  children:
    - id: login
      fields: { leave: [data.password, 'metadata.annotations["example.com/note"]'] }
      template:
        apiVersion: v1
        kind: Secret
        metadata: { name: "\${ metadata.name }", annotations: { example.com/note: new } }
        stringData: { password: "\${ $randomString(20) }", user: "\${ spec.image }" }
`;
const definitions = {
  'applied.yaml': thingDefinition('applied', workload('Apply')),
  'replaced.yaml': thingDefinition('replaced', workload('Recreate')),
  'kept.yaml': thingDefinition('kept', secret),
};

interface Workload extends KubeObject {
  readonly spec: {
    readonly replicas: number;
    readonly revisionHistoryLimit: number;
    readonly template: {
      readonly spec: {
        readonly containers: readonly {
          readonly image: string;
          readonly resources?: { readonly requests?: { readonly cpu?: string } };
        }[];
      };
    };
  };
}

const first = { size: 2, image: 'one', cpu: '100m', limit: 3 };
const pathOf = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}/deployments/one`;

shared.describe('integration/fields-left', () => {
  let homeostat: Awaited<ReturnType<typeof startHomeostat>>;
  before(async () => {
    homeostat = await startHomeostat(definitions);
  });

  async function settled(definition: string, namespace: string, spec: object): Promise<void> {
    const applied = await shared.client().apply(thing(definition, namespace, spec));
    await shared
      .client()
      .untilObject(
        thingPath(definition, namespace),
        (object) =>
          conditionOf(object)?.status === 'True' &&
          statusOf(object).observedGeneration === applied.metadata.generation,
      );
  }

  async function found(namespace: string) {
    const object = await shared.client().get<Workload>(pathOf(namespace));
    assert.ok(object);
    const { replicas, revisionHistoryLimit, template } = object.spec;
    const [, web] = template.spec.containers;
    const fields = [replicas, web?.image, web?.resources?.requests?.cpu, revisionHistoryLimit];
    return { fields, object };
  }

  const writesSince = (since: number, namespace: string) =>
    shared.audit
      .entries({ since })
      .filter((entry) => entry.resource === 'deployments' && entry.namespace === namespace)
      .filter(({ verb }) => verb !== 'get' && verb !== 'list' && verb !== 'watch')
      .map(({ verb }) => verb);

  test('fields that nobody has taken over keep their value when something else changes, and belong to no manager then', async () => {
    const namespace = await shared.namespace();
    await settled('applied', namespace, first);
    const made = await found(namespace);
    assert.deepEqual(made.fields, [2, 'one', '100m', 3]);
    const since = shared.audit.mark();
    await settled('applied', namespace, { ...first, size: 7, cpu: '1' });
    assert.deepEqual(writesSince(since, namespace), []);
    await settled('applied', namespace, { size: 7, image: 'two', cpu: '1' });
    const changed = await found(namespace);
    // A field that only leaves the template returns to its default.
    assert.deepEqual(changed.fields, [2, 'two', '100m', 10]);
    assert.equal(changed.object.metadata.generation, (made.object.metadata.generation ?? 0) + 1);
    assert.deepEqual(writesSince(since, namespace), ['patch', 'patch']);
    const again = shared.audit.mark();
    await settled('applied', namespace, { size: 7, image: 'three', cpu: '1' });
    assert.deepEqual((await found(namespace)).fields, [2, 'three', '100m', 10]);
    assert.deepEqual(writesSince(again, namespace), ['patch']);
  });

  test('what an autoscaler or another manager sets is kept, over changes and a restart', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await settled('applied', namespace, first);
    await client.patch(`${pathOf(namespace)}/scale`, { spec: { replicas: 6 } });
    const sizer = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'one', namespace },
      spec: {
        template: {
          spec: { containers: [{ name: 'web', resources: { requests: { cpu: '3' } } }] },
        },
      },
    };
    await client.apply(sizer as unknown as KubeObject, { fieldManager: 'sizer' });
    await shared.audit.quiet(1_500);
    assert.deepEqual((await found(namespace)).fields, [6, 'one', '3', 3]);
    await settled('applied', namespace, { ...first, image: 'two' });
    assert.deepEqual((await found(namespace)).fields, [6, 'two', '3', 3]);
    await homeostat.stop();
    homeostat = await startHomeostat(definitions);
    await settled('applied', namespace, { ...first, image: 'three' });
    assert.deepEqual((await found(namespace)).fields, [6, 'three', '3', 3]);
  });

  test('a field that is removed is set again from the template', async () => {
    const namespace = await shared.namespace();
    await settled('applied', namespace, first);
    const containers = [
      { name: 'first', image: 'first' },
      { name: 'web', image: 'one' },
    ];
    await shared
      .client()
      .patch(pathOf(namespace), { spec: { template: { spec: { containers } } } });
    await shared
      .client()
      .untilObject<Workload>(
        pathOf(namespace),
        (object) => object?.spec.template.spec.containers[1]?.resources?.requests?.cpu === '100m',
      );
    await settled('applied', namespace, { ...first, cpu: '4', image: 'two' });
    assert.deepEqual((await found(namespace)).fields, [2, 'two', '100m', 3]);
  });

  test('with Recreate, the new object has the values of the old one', async () => {
    const namespace = await shared.namespace();
    await settled('replaced', namespace, first);
    const { object: old } = await found(namespace);
    await shared.client().patch(`${pathOf(namespace)}/scale`, { spec: { replicas: 6 } });
    await settled('replaced', namespace, { ...first, size: 4 });
    assert.equal((await found(namespace)).object.metadata.uid, old.metadata.uid);
    await settled('replaced', namespace, { ...first, image: 'two' });
    const { fields, object } = await found(namespace);
    assert.notEqual(object.metadata.uid, old.metadata.uid);
    assert.deepEqual(fields, [6, 'two', '100m', 3]);
  });

  test('a random value that is left is created once', async () => {
    const namespace = await shared.namespace();
    const path = `/api/v1/namespaces/${namespace}/secrets/one`;
    await settled('kept', namespace, first);
    const made = await shared.client().get(path);
    await settled('kept', namespace, { ...first, image: 'two' });
    const changed = await shared.client().get(path);
    const dataOf = (object: KubeObject | undefined) => object?.data as Record<string, string>;
    assert.equal(dataOf(changed).password, dataOf(made).password);
    assert.equal(dataOf(changed).user, btoa('two'));
    assert.equal(changed?.metadata.annotations?.['example.com/note'], 'new');
  });
});
