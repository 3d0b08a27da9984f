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
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

/** One child in a namespace that the resource names, one that has none, and one beside the resource. */
const far = thingDefinition(
  'far',
  `  children:
    - id: near
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" } }
    - id: copy
      when: \${ $exists(spec.to) }
      crossNamespace: { namespaces: ["test-*"] }
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-copy", namespace: "\${ spec.to }" }
        data: { text: "\${ spec.text }" }
    - id: role
      when: \${ $exists(spec.to) }
      crossNamespace: true
      template:
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: { name: "far-\${ metadata.uid }" }
        rules: []
`,
);

/** The same definition, with a mistake that only its text has. */
const brokenFar = far.replace('spec.text', 'spec.text +');

/** A cluster-scoped kind, which makes a namespace and something in it. */
const tenant = thingDefinition(
  'tenant',
  `  children:
    - id: space
      crossNamespace: { namespaces: ["tenant-*"] }
      template: { apiVersion: v1, kind: Namespace, metadata: { name: "tenant-\${ metadata.name }" } }
    - id: settings
      crossNamespace: { namespaces: ["tenant-*"] }
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: settings, namespace: "\${ children.space.metadata.name }" }
        data: { owner: "\${ metadata.name }" }
  status:
    space: \${ children.space.metadata.name }
`,
).replace('scope: Namespaced', 'scope: Cluster');

/** Two kinds, of which a later text has one. */
const shrinking = thingDefinition(
  'shrinking',
  `  children:
    - id: config
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" } }
    - id: secret
      template: { apiVersion: v1, kind: Secret, metadata: { name: "\${ metadata.name }" } }
`,
);
const shrunk = shrinking.slice(0, shrinking.indexOf('    - id: secret'));

/** An operator of a kind that is there already: labelled ConfigMaps have a copy elsewhere. */
const attached = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: attached }
spec:
  for: { apiVersion: v1, kind: ConfigMap, selector: { matchLabels: { "example.com/copied": "yes" } } }
  children:
    - id: copy
      crossNamespace: { namespaces: ["test-*"] }
      template:
        apiVersion: v1
        kind: Secret
        metadata: { name: "\${ metadata.name }-copy", namespace: "\${ data.to }" }
        stringData: { text: "\${ data.text }" }
`;

const other = thingDefinition(
  'other',
  '  children: [{ id: a, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: a } } }]\n',
);

function configMapPath(namespace: string, name: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps/${name}`;
}

const definitions = {
  'far.yaml': far,
  'tenant.yaml': tenant,
  'shrinking.yaml': shrinking,
  'attached.yaml': attached,
  'other.yaml': other,
};

shared.describe('integration/scope', () => {
  let homeostat: HomeostatRuntime;

  before(async () => {
    homeostat = await startHomeostat(definitions);
    // Else the collector hears of new kinds within half a minute.
    await shared.plane.restartControllerManager();
  });

  /** A resource with a copy in another namespace. */
  async function makeFar(name = 'one') {
    const client = shared.client();
    const [home, away] = [await shared.namespace(), await shared.namespace()];
    await client.apply(thing('far', home, { to: away, text: 'hello' }, name));
    const made = await client.untilObject(
      thingPath('far', home, name),
      (object) => conditionOf(object)?.status === 'True',
    );
    const copy = await client.get(configMapPath(away, `${name}-copy`));
    assert.ok(copy);
    const uid = made?.metadata.uid ?? '';
    const role = `/apis/rbac.authorization.k8s.io/v1/clusterroles/far-${uid}`;
    return { client, home, away, made, copy, role, path: thingPath('far', home, name) };
  }

  test('children of elsewhere are made, in a resource that waits for us, with labels only; afterwards nothing is sent', async () => {
    await shared.audit.quiet(1_000);
    const mark = shared.audit.mark();
    const { client, home, away, made, copy, role } = await makeFar('made');
    assert.deepEqual(made?.metadata.finalizers, ['homeostat.dev/far']);
    assert.deepEqual((made?.status as { childInventory?: unknown } | undefined)?.childInventory, [
      `ConfigMap ${away}/made-copy`,
      `rbac.authorization.k8s.io/ClusterRole far-${made?.metadata.uid}`,
    ]);
    assert.equal(copy.metadata.ownerReferences, undefined);
    assert.equal(copy.metadata.labels?.['homeostat.dev/owner-uid'], made?.metadata.uid);
    assert.equal((await client.get(role))?.metadata.ownerReferences, undefined);
    const near = await client.get(configMapPath(home, 'made'));
    assert.equal(near?.metadata.ownerReferences?.[0]?.uid, made?.metadata.uid);
    const entry = statusOf(made).children?.find(({ id }) => id === 'copy');
    assert.equal((entry as { namespace?: string } | undefined)?.namespace, away);
    await shared.audit.quiet(2_000);
    const { by } = shared.audit.count({ since: mark });
    // The finalizer is one apply of the resource; the children are one each. What is on record comes with the report.
    assert.equal(by['patch things'], 1);
    assert.equal(by['patch configmaps'], 2);
    assert.equal(by['patch clusterroles'], 1);
    await client.patch(configMapPath(away, 'made-copy'), { data: { text: 'meddled' } });
    await client.untilObject(
      configMapPath(away, 'made-copy'),
      (object) => (object?.data as { text: string } | undefined)?.text === 'hello',
    );
  });

  test('they are deleted with their owner, and the owner when they are deleted', async () => {
    const { client, away, role, path } = await makeFar('gone');
    await client.delete(path);
    await client.untilGone(path);
    assert.equal(await client.get(configMapPath(away, 'gone-copy')), undefined);
    assert.equal(await client.get(role), undefined);
  });

  test('one that moves leaves nothing behind', async () => {
    const { client, away, path } = await makeFar('moved');
    const next = await shared.namespace();
    await client.patch(path, { spec: { to: next } });
    await client.untilObject(configMapPath(next, 'moved-copy'), (object) => object !== undefined);
    await client.untilGone(configMapPath(away, 'moved-copy'));
  });

  test('a namespace that the definition does not allow is rejected, and what is there stays', async () => {
    const { client, away, path } = await makeFar('rejected');
    await client.patch(path, { spec: { to: 'kube-system' } });
    const reported = await client.untilObject(
      path,
      (object) => conditionOf(object)?.reason === 'RenderFailed',
    );
    assert.equal(
      conditionOf(reported)?.message,
      'copy "rejected-copy": metadata.namespace: "kube-system" matches none of "crossNamespace.namespaces"',
    );
    assert.ok(await client.get(configMapPath(away, 'rejected-copy')));
  });

  test('what another user labelled like ours is never deleted', async () => {
    const { client, home, away, made, path } = await makeFar('like');
    const labels = { ...(await client.get(configMapPath(away, 'like-copy')))?.metadata.labels };
    const copies = [configMapPath(away, 'copied'), configMapPath(home, 'copied')];
    for (const namespace of [away, home]) {
      const metadata = { name: 'copied', namespace, labels };
      await client.create(`/api/v1/namespaces/${namespace}/configmaps`, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata,
      });
    }
    assert.equal(labels['homeostat.dev/owner-uid'], made?.metadata.uid);
    await client.delete(path);
    await client.untilGone(path);
    for (const copy of copies) assert.ok(await client.get(copy), copy);
  });

  test('a finalizer that others own by now is taken off all the same', async () => {
    const { client, path } = await makeFar('restored');
    // As a restore from a backup leaves it: nothing is applied by us any more.
    await client.patch(path, { metadata: { managedFields: [{}] } });
    await client.delete(path);
    await client.untilGone(path);
  });

  test('a cluster-scoped resource owns what it makes, in namespaces too, and needs no finalizer', async () => {
    const client = shared.client();
    const path = '/apis/tenant.example.com/v1/things/blue';
    await client.apply({
      apiVersion: 'tenant.example.com/v1',
      kind: 'Thing',
      metadata: { name: 'blue' },
      spec: {},
    });
    const made = await client.untilObject(path, (object) => conditionOf(object)?.status === 'True');
    assert.equal(statusOf(made).space, 'tenant-blue');
    assert.equal(made?.metadata.finalizers, undefined);
    const settings = configMapPath('tenant-blue', 'settings');
    const owners = (await client.get(settings))?.metadata.ownerReferences;
    assert.equal(owners?.[0]?.uid, made?.metadata.uid);
    await client.delete(settings);
    await client.untilObject(
      settings,
      (object) => object !== undefined && object.metadata.uid !== undefined,
    );
    await client.delete(path);
    await client.untilGone('/api/v1/namespaces/tenant-blue');
  });

  test('an object of a kind of others is released when it is no resource any more, also while no process runs', async () => {
    const client = shared.client();
    const [home, away] = [await shared.namespace(), await shared.namespace()];
    const path = configMapPath(home, 'source');
    const copy = `/api/v1/namespaces/${away}/secrets/source-copy`;
    const label = (value: string | null) => ({
      metadata: { labels: { 'example.com/copied': value } },
    });
    const isHeld = (object: KubeObject | undefined) =>
      object?.metadata.finalizers?.includes('homeostat.dev/attached') === true;
    await client.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'source', namespace: home, labels: { 'example.com/copied': 'yes' } },
      data: { to: away, text: 'hello' },
    });
    await client.untilObject(copy, (object) => object !== undefined);
    await client.untilObject(path, isHeld);
    await client.patch(path, label(null));
    await client.untilGone(copy);
    const free = await client.untilObject(path, (object) => !isHeld(object));
    assert.deepEqual(free?.metadata.annotations ?? {}, {});
    await client.patch(path, label('yes'));
    await client.untilObject(copy, (object) => object !== undefined);
    await homeostat.stop();
    await client.patch(path, label(null));
    await client.delete(path);
    homeostat = await startHomeostat(definitions);
    await client.untilGone(path);
    assert.equal(await client.get(copy), undefined);
  });

  test('a kind that the definition has dropped is cleaned up after a restart, and then forgotten', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    const path = '/apis/homeostat.dev/v1alpha1/operatordefinitions/shrinking';
    const kindsOf = (object: KubeObject | undefined) =>
      (statusOf(object).kinds as { readonly children: readonly string[] } | undefined)?.children;
    await client.apply(thing('shrinking', namespace, {}));
    const secret = `/api/v1/namespaces/${namespace}/secrets/one`;
    await client.untilObject(secret, (object) => object !== undefined);
    assert.deepEqual(kindsOf(await client.get(path)), ['ConfigMap', 'Secret']);
    await homeostat.stop();
    homeostat = await startHomeostat({ 'far.yaml': far, 'shrinking.yaml': shrunk });
    await client.untilGone(secret);
    assert.ok(await client.get(configMapPath(namespace, 'one')));
    await homeostat.stop();
    homeostat = await startHomeostat({ 'far.yaml': far, 'shrinking.yaml': shrunk });
    await client.untilObject(path, (object) => kindsOf(object)?.join() === 'ConfigMap');
    await homeostat.stop();
    homeostat = await startHomeostat(definitions);
  });

  test('a CRD that is deleted takes its resources and what they have made elsewhere with it', async () => {
    const { client, away, role, path } = await makeFar('crd');
    const crd = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.far.example.com';
    const { uid } = (await client.get(crd))?.metadata ?? {};
    await client.delete(crd);
    await client.untilObject(crd, (object) => object?.metadata.uid !== uid);
    assert.equal(await client.get(configMapPath(away, 'crd-copy')), undefined);
    assert.equal(await client.get(role), undefined);
    // The definition starts over with a CRD of its own.
    await client.untilObject(crd, (object) => object !== undefined && object.metadata.uid !== uid);
    await client.untilGone(path);
  });

  test('they go also when no process runs when their owner was deleted', async () => {
    const { client, away, role, path } = await makeFar('restarted');
    await homeostat.stop();
    await client.delete(path);
    homeostat = await startHomeostat(definitions);
    await client.untilGone(path);
    assert.equal(await client.get(configMapPath(away, 'restarted-copy')), undefined);
    assert.equal(await client.get(role), undefined);
  });

  test('they go also when their definition is broken meanwhile', async () => {
    const { client, away, role, path } = await makeFar('broken');
    await homeostat.stop();
    homeostat = await startHomeostat({ 'far.yaml': brokenFar, 'other.yaml': other });
    await client.delete(path);
    await client.untilGone(path);
    assert.equal(await client.get(configMapPath(away, 'broken-copy')), undefined);
    assert.equal(await client.get(role), undefined);
  });

  test('they go also when their definition is gone', async () => {
    await homeostat.stop();
    homeostat = await startHomeostat(definitions);
    const { client, away, role, path } = await makeFar('gone');
    await homeostat.stop();
    homeostat = await startHomeostat({ 'other.yaml': other });
    await client.delete(path);
    await client.untilGone(path);
    assert.equal(await client.get(configMapPath(away, 'gone-copy')), undefined);
    assert.equal(await client.get(role), undefined);
  });
});
