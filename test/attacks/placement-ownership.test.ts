import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject, ObjectMeta } from '#util/kube-object.ts';
import { type PlaneClient, useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

/** A password that is made once, and something that uses it. */
const vault = thingDefinition(
  'vault',
  `  vars: { password: "\${ observed.secret.data.password ?? $base64encode($randomString(20)) }" }
  children:
    - id: secret
      template:
        apiVersion: v1
        kind: Secret
        metadata: { name: "\${ metadata.name }", labels: { text: "\${ spec.text }" } }
        data: { password: "\${ vars.password }" }
    - id: user
      template:
        apiVersion: v1
        kind: Secret
        metadata: { name: "\${ metadata.name }-user" }
        data: { password: "\${ vars.password }" }
`,
);

/** Children in namespaces of the author's choice. */
const wide = thingDefinition(
  'wide',
  `  children:
    - id: copy
      crossNamespace: { namespaces: ["*"] }
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-copy", namespace: "\${ spec.to }" }
        data: { text: "\${ spec.text }" }
`,
);

const two = `  children:
    - id: stays
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-stays" } }
`;
const withDropped = thingDefinition(
  'losing',
  `${two}    - id: dropped
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-dropped" } }
`,
);
const withoutDropped = thingDefinition('losing', two);

const definitions = { 'vault.yaml': vault, 'wide.yaml': wide, 'losing.yaml': withDropped };

shared.describe('attacks/placement: what looks like a child', () => {
  let homeostat: HomeostatRuntime;

  before(async () => {
    homeostat = await startHomeostat(definitions);
  });

  async function ready(client: PlaneClient, path: string): Promise<KubeObject> {
    const found = await client.untilObject(path, (object) => {
      const isNew = statusOf(object).observedGeneration === object?.metadata.generation;
      return isNew && conditionOf(object)?.status === 'True';
    });
    assert.ok(found);
    return found;
  }

  /** Somebody who may write objects in a namespace, and knows the resource, copies all that its child says of itself. */
  async function spoof(
    client: PlaneClient,
    { definition, resource, ...object }: Spoofed,
  ): Promise<void> {
    const { child, metadata, isOwned = false, ...content } = object;
    const controller = { name: resource.metadata.name, uid: resource.metadata.uid ?? '' };
    const reference = { apiVersion: resource.apiVersion, kind: resource.kind, ...controller };
    const labels = {
      'app.kubernetes.io/managed-by': 'homeostat',
      'homeostat.dev/definition': definition,
      'homeostat.dev/child': child,
      'homeostat.dev/owner-uid': resource.metadata.uid ?? '',
    };
    // Elsewhere the garbage collector takes what refers to an owner that is not there.
    const owners = isOwned ? { ownerReferences: [{ ...reference, controller: true }] } : {};
    await client.apply(
      { apiVersion: 'v1', ...content, metadata: { ...metadata, labels, ...owners } },
      { fieldManager: `homeostat/${definition}` },
    );
  }

  interface Spoofed {
    readonly definition: string;
    readonly resource: KubeObject;
    readonly child: string;
    /** @default false */
    readonly isOwned?: boolean;
    readonly kind: string;
    readonly metadata: ObjectMeta;
    readonly data?: Readonly<Record<string, string>>;
  }

  for (const [where, isElsewhere] of [
    ['in a namespace of his own', true],
    ['beside it', false],
  ] as const) {
    test(`no Secret that a user puts ${where} becomes the password of a resource`, async () => {
      const client = shared.client();
      const home = await shared.namespace();
      const name = isElsewhere ? 'far' : 'near';
      const path = thingPath('vault', home, name);
      await client.apply(thing('vault', home, { text: 'one' }, name));
      const resource = await ready(client, path);
      const secretPath = `/api/v1/namespaces/${home}/secrets/${name}`;
      const before = (await client.get(secretPath))?.data;
      // The first in any order.
      const namespace = isElsewhere ? await client.createNamespace('a') : home;
      const metadata = { name: 'aaa', namespace };
      const data = { password: 'aW5qZWN0ZWQ=' };
      await spoof(client, {
        definition: 'vault',
        resource,
        child: 'secret',
        kind: 'Secret',
        isOwned: !isElsewhere,
        metadata,
        data,
      });
      await client.patch(path, { spec: { text: 'two' } });
      await ready(client, path);
      assert.deepEqual((await client.get(secretPath))?.data, before);
      assert.deepEqual((await client.get(`${secretPath}-user`))?.data, before);
    });
  }

  test('no object with a foreign finalizer keeps a resource from being deleted', async () => {
    const client = shared.client();
    const [home, away] = [await shared.namespace(), await shared.namespace()];
    const path = thingPath('wide', home, 'held');
    await client.apply(thing('wide', home, { to: away, text: 'one' }, 'held'));
    const resource = await ready(client, path);
    for (const namespace of [away, await shared.namespace()]) {
      const metadata = { name: 'spoofed', namespace, finalizers: ['example.com/stay'] };
      await spoof(client, {
        definition: 'wide',
        resource,
        child: 'copy',
        kind: 'ConfigMap',
        metadata,
      });
    }
    await client.delete(path);
    await client.untilGone(path);
    const configMaps = `/api/v1/namespaces/${away}/configmaps`;
    assert.equal(await client.get(`${configMaps}/held-copy`), undefined);
    const spoofed = await client.get(`${configMaps}/spoofed`);
    assert.equal(spoofed?.metadata.deletionTimestamp, undefined);
  });

  test('no author has the runtime watch a kind, or delete of it', async () => {
    const client = shared.client();
    const [home, away] = [await shared.namespace(), await shared.namespace()];
    const path = thingPath('wide', home, 'watching');
    await client.apply(thing('wide', home, { to: away, text: 'one' }, 'watching'));
    const resource = await ready(client, path);
    const metadata = { name: 'reader', namespace: home };
    await spoof(client, {
      definition: 'wide',
      resource,
      child: 'copy',
      kind: 'ServiceAccount',
      metadata,
    });
    const annotations = { 'inventory.homeostat.dev/wide': 'ConfigMap,ServiceAccount' };
    await client.patch(path, { metadata: { annotations } });
    const mark = shared.audit.mark();
    await client.delete(path);
    await client.untilGone(path);
    const { by } = shared.audit.count({ since: mark });
    assert.deepEqual(
      Object.keys(by).filter((what) => what.includes('serviceaccounts')),
      [],
    );
    assert.ok(await client.get(`/api/v1/namespaces/${home}/serviceaccounts/reader`));
  });

  test('a child that lost its labels while no process ran, and that the definition has dropped, is deleted', async () => {
    const client = shared.client();
    const home = await shared.namespace();
    const path = thingPath('losing', home);
    await client.apply(thing('losing', home, {}));
    await ready(client, path);
    const configMaps = `/api/v1/namespaces/${home}/configmaps`;
    await homeostat.stop();
    const labels = Object.fromEntries(
      ['definition', 'child', 'owner-uid'].map((each) => [`homeostat.dev/${each}`, null]),
    );
    await client.patch(`${configMaps}/one-dropped`, { metadata: { labels } });
    homeostat = await startHomeostat({ ...definitions, 'losing.yaml': withoutDropped });
    await client.untilGone(`${configMaps}/one-dropped`);
    assert.ok(await client.get(`${configMaps}/one-stays`));
  });
});
