import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { type PlaneClient, useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  customKind,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane({ controllerManager: false });
const startHomeostat = useHomeostat(shared);

/** Children of two kinds in any namespace, one of them cluster-scoped, and a patch of an object of another owner. */
const forged = thingDefinition(
  'forged',
  `  children:
    - id: map
      crossNamespace: { namespaces: ["*"] }
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-map", namespace: "\${ spec.to }" }
        data: { text: "\${ spec.text }" }
    - id: kind
      when: \${ $exists(spec.group) }
      crossNamespace: true
      template:
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: { name: "others.\${ spec.group }" }
        spec:
          group: "\${ spec.group }"
          scope: Namespaced
          names: { kind: Other, plural: others, singular: other, listKind: OtherList }
          versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }]
  patches:
    - id: patched
      when: \${ $exists(spec.patched) }
      target: { apiVersion: v1, kind: ConfigMap, name: "\${ spec.patched }" }
      patch: { data: { patched: "yes" } }
`,
);

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

shared.describe('attacks/forged-status: who can write the status of his resource', () => {
  const client = () => shared.client();
  let homeostat: HomeostatRuntime;
  before(async () => {
    homeostat = await startHomeostat({ 'forged.yaml': forged });
  });

  async function ready(path: string): Promise<KubeObject> {
    const found = await client().untilObject(path, (object) => {
      const isNew = statusOf(object).observedGeneration === object?.metadata.generation;
      return isNew && conditionOf(object)?.status === 'True';
    });
    assert.ok(found);
    return found;
  }

  /** A resource that is ready. */
  async function created(namespace: string, name: string, spec: object): Promise<string> {
    const path = thingPath('forged', namespace, name);
    await client().apply(thing('forged', namespace, { to: namespace, text: 'one', ...spec }, name));
    await ready(path);
    return path;
  }

  /** Writes entries into the status of a resource, has it reconciled by this process and by the next one, and deletes it. */
  async function forge(path: string, entries: readonly string[]): Promise<void> {
    await forgeStatus(client(), path, entries);
    await client().patch(path, { spec: { text: 'two' } });
    await ready(path);
    await homeostat.stop();
    // A process looks recorded objects up once, after its start.
    await forgeStatus(client(), path, entries);
    await client().patch(path, { spec: { text: 'three' } });
    homeostat = await startHomeostat({ 'forged.yaml': forged });
    await ready(path);
    await homeostat.stop();
    await forgeStatus(client(), path, entries);
    await client().delete(path);
    homeostat = await startHomeostat({ 'forged.yaml': forged });
    await client().untilGone(path);
  }

  test('neither deletes nor takes objects of others', async () => {
    const [own, victim] = [await shared.namespace(), await shared.namespace()];
    await created(victim, 'victim', {});
    const metadata = { name: 'plain', namespace: victim };
    await client().apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } });
    await client().apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      data: { a: 'b' },
      metadata: { name: 'patched', namespace: own },
    });
    const path = await created(own, 'attacker', { patched: 'patched' });
    await forge(path, [
      `ConfigMap ${victim}/victim-map`,
      `ConfigMap ${victim}/plain`,
      `ConfigMap ${own}/patched`,
    ]);
    const maps = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;
    for (const each of [`${maps(victim)}/victim-map`, `${maps(victim)}/plain`])
      assert.ok(await client().get(each), each);
    assert.ok(await client().get(`${maps(own)}/patched`));
    assert.equal(await client().get(`${maps(own)}/attacker-map`), undefined);
  });

  test('does not delete the kind of its definition', async () => {
    const own = await shared.namespace();
    const path = await created(own, 'kinds', { group: 'forgedkinds.example.com' });
    const other = customKind({ group: 'forgedothers.example.com', kind: 'Other' });
    await client().installCrd(other);
    await forge(path, [
      'apiextensions.k8s.io/CustomResourceDefinition things.forged.example.com',
      `apiextensions.k8s.io/CustomResourceDefinition ${other.metadata.name}`,
    ]);
    assert.equal(await client().get(`${crds}/others.forgedkinds.example.com`), undefined);
    for (const name of ['things.forged.example.com', other.metadata.name]) {
      const found = await client().get(`${crds}/${name}`);
      assert.ok(found, name);
      assert.equal(found.metadata.deletionTimestamp, undefined, name);
    }
  });
});

/** Adds entries to what the runtime has recorded, and the same as children of the last report. */
async function forgeStatus(
  client: PlaneClient,
  path: string,
  entries: readonly string[],
): Promise<void> {
  const status = (await client.get(path))?.status as {
    readonly childInventory?: readonly string[];
  };
  const childInventory = [...(status.childInventory ?? []), ...entries];
  await client.patch(`${path}/status`, { status: { childInventory } });
}
