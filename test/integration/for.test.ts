import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

/** A definition for ConfigMaps: a copy of each, in another ConfigMap. */
function copier(name: string, selectors: string): string {
  return `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: ${name} }
spec:
  for:
    apiVersion: v1
    kind: ConfigMap
    ${selectors}
  children:
    - id: copy
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-${name}" }
        data: { value: "\${ data.value }" }
`;
}

const byLabel = copier('by-label', 'selector: { matchLabels: { test/copy: "yes" } }');
const byBoth = copier(
  'by-both',
  `selector: { matchExpressions: [{ key: test/copy, operator: Exists }] }
    annotationSelector: { matchLabels: { test/note: "any text, really" } }`,
);

const servicePerPod = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: service-per-pod }
spec:
  for:
    apiVersion: apps/v1
    kind: StatefulSet
    selector: { matchExpressions: [{ key: example.com/service-per-pod, operator: Exists }] }
  children:
    - id: services
      forEach: \${ [0..spec.replicas - 1] }
      template:
        apiVersion: v1
        kind: Service
        metadata: { name: "\${ metadata.name }-\${ $item }" }
        spec:
          selector: { "statefulset.kubernetes.io/pod-name": "\${ metadata.name }-\${ $item }" }
          ports: [{ port: 80 }]
    - id: summary
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-summary" }
        data: { ready: "\${ status.readyReplicas ?? 0 }" }
`;

const marked = { labels: { 'test/copy': 'yes' } };
const noted = { ...marked, annotations: { 'test/note': 'any text, really' } };

function configMap(namespace: string, metadata: object, value = 'a'): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'one', namespace, ...metadata },
    data: { value },
  };
}

function statefulSet(namespace: string): KubeObject {
  const app = { app: 'db' };
  const containers = [{ name: 'db', image: 'busybox' }];
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace, labels: { 'example.com/service-per-pod': '' } },
    spec: {
      replicas: 2,
      serviceName: 'db',
      selector: { matchLabels: app },
      template: { metadata: { labels: app }, spec: { containers } },
    },
  };
}

shared.describe('integration/for', () => {
  before(async () => {
    await startHomeostat({
      'by-label.yaml': byLabel,
      'by-both.yaml': byBoth,
      'service-per-pod.yaml': servicePerPod,
    });
  });

  test('a built-in kind gets children, and nothing is written to it', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(statefulSet(namespace));
    const services = `/api/v1/namespaces/${namespace}/services`;
    const names = (items: readonly KubeObject[]) =>
      items.map(({ metadata }) => metadata.name).sort();
    const made = await client.untilList(services, (items) => items.length === 2);
    assert.deepEqual(names(made), ['db-0', 'db-1']);
    assert.equal(made[0]?.metadata.ownerReferences?.[0]?.kind, 'StatefulSet');
    const path = `/apis/apps/v1/namespaces/${namespace}/statefulsets/db`;
    await client.patch(path, { spec: { replicas: 3 } });
    await client.untilList(services, (items) => items.length === 3);
    await client.patch(path, { spec: { replicas: 1 } });
    await client.untilList(services, (items) => items.length === 1);
    // The status is somebody else's, and what expressions read of it counts.
    const summary = `/api/v1/namespaces/${namespace}/configmaps/db-summary`;
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    await client.untilObject(summary, (object) => dataOf(object, 'ready') === '0');
    await client.untilList(pods, (items) => items.some(({ metadata }) => metadata.name === 'db-0'));
    await client.patch(`${pods}/db-0/status`, {
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    });
    await client.untilObject(summary, (object) => dataOf(object, 'ready') === '1');
    const managers = (await client.get(path))?.metadata as {
      managedFields?: { manager: string }[];
    };
    assert.deepEqual(
      managers.managedFields?.filter(({ manager }) => manager.startsWith('homeostat')),
      [],
    );
    assert.equal(
      shared.audit
        .entries()
        .some(({ uri, verb }) => uri.includes('statefulsets') && verb === 'patch'),
      false,
    );
  });

  test('any field of a kind without generations counts', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const copy = `/api/v1/namespaces/${namespace}/configmaps/one-by-label`;
    await client.apply(configMap(namespace, marked, 'a'));
    await client.untilObject(copy, (object) => dataOf(object, 'value') === 'a');
    await client.apply(configMap(namespace, marked, 'b'));
    await client.untilObject(copy, (object) => dataOf(object, 'value') === 'b');
  });

  test('definitions of one kind work beside each other, and each releases its own', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    await client.apply(configMap(namespace, noted));
    await client.untilObject(`${path}/one-by-label`, (object) => object !== undefined);
    await client.untilObject(`${path}/one-by-both`, (object) => object !== undefined);
    await client.patch(`${path}/one`, { metadata: { annotations: { 'test/note': null } } });
    await client.untilGone(`${path}/one-by-both`);
    assert.ok(await client.get(`${path}/one-by-label`));
    await client.patch(`${path}/one`, {
      metadata: { annotations: { 'test/note': 'any text, really' } },
    });
    await client.untilObject(`${path}/one-by-both`, (object) => object !== undefined);
    await client.patch(`${path}/one`, { metadata: { labels: { 'test/copy': null } } });
    await client.untilGone(`${path}/one-by-both`);
    await client.untilGone(`${path}/one-by-label`);
    assert.equal(dataOf(await client.get(`${path}/one`), 'value'), 'a');
    await shared.audit.quiet(1_000);
    const mark = shared.audit.mark();
    await client.patch(`${path}/one`, { data: { value: 'c' } });
    await shared.audit.quiet(1_000);
    assert.deepEqual(shared.audit.atRest({ since: mark }), []);
  });

  test('what another definition made is not touched, though it copied our labels', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    await client.apply(configMap(namespace, marked));
    const child = await client.untilObject(
      `${path}/one-by-label`,
      (object) => object !== undefined,
    );
    const { labels, ownerReferences } = child?.metadata ?? {};
    const { annotations } = child?.metadata ?? {};
    await client.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'copied', namespace, labels: labels ?? {}, annotations: annotations ?? {} },
    });
    assert.equal(ownerReferences?.length, 1);
    await client.patch(`${path}/one`, { metadata: { labels: { 'test/copy': 'no' } } });
    await client.untilGone(`${path}/one-by-label`);
    await shared.audit.quiet(1_000);
    assert.ok(await client.get(`${path}/copied`));
  });
});

shared.describe('integration/for: selectors that change while no process runs', () => {
  test('an object that stopped matching meanwhile loses its children', async () => {
    const { namespace, client, path } = await setUp('offline');
    const homeostat = await startHomeostat({ 'a.yaml': copier('offline', selector('offline')) });
    await client.untilObject(`${path}/one-offline`, (object) => object !== undefined);
    await homeostat.stop();
    await client.patch(`${path}/one`, { metadata: { labels: { 'test/offline': null } } });
    await startHomeostat({ 'a.yaml': copier('offline', selector('offline')) });
    await client.untilGone(`${path}/one-offline`);
    assert.ok(await client.get(`/api/v1/namespaces/${namespace}/configmaps/one`));
  });

  test('a paused object that stops matching keeps its children until it is resumed', async () => {
    const { client, path } = await setUp('resting');
    const homeostat = await startHomeostat({ 'a.yaml': copier('resting', selector('resting')) });
    const before = await client.untilObject(
      `${path}/one-resting`,
      (object) => object !== undefined,
    );
    const annotate = (value: string | null) =>
      client.patch(`${path}/one`, { metadata: { annotations: { 'homeostat.dev/paused': value } } });
    await annotate('true');
    await client.patch(`${path}/one`, { metadata: { labels: { 'test/resting': null } } });
    await shared.audit.quiet(2_000);
    const kept = await client.get(`${path}/one-resting`);
    assert.equal(kept?.metadata.uid, before?.metadata.uid);
    await annotate(null);
    await client.untilGone(`${path}/one-resting`);
    await homeostat.stop();
  });

  test('a definition that was edited leaves them in place and says how many', async () => {
    const { client, path } = await setUp('edited');
    const homeostat = await startHomeostat({ 'a.yaml': copier('edited', selector('edited')) });
    const before = await client.untilObject(`${path}/one-edited`, (object) => object !== undefined);
    await homeostat.stop();
    const again = await startHomeostat({ 'a.yaml': copier('edited', selector('other')) });
    const { leftInPlace } = await again.whenLogged(
      'Objects that no longer match the selector keep their children',
    );
    assert.equal(leftInPlace, 1);
    // Editing the object changes nothing: it is none of the definition's business any more.
    await client.patch(`${path}/one`, { metadata: { labels: { 'test/edited': null } } });
    await shared.audit.quiet(2_000);
    const after = await client.get(`${path}/one-edited`);
    assert.equal(after?.metadata.uid, before?.metadata.uid);
    // It matches once more, and takes part again.
    await client.patch(`${path}/one`, {
      metadata: { labels: { 'test/other': 'yes' } },
      data: { value: 'z' },
    });
    const followed = await client.untilObject(
      `${path}/one-edited`,
      (object) => dataOf(object, 'value') === 'z',
    );
    assert.equal(followed?.metadata.uid, before?.metadata.uid);
    await client.patch(`${path}/one`, { metadata: { labels: { 'test/other': null } } });
    await client.untilGone(`${path}/one-edited`);
  });
});

/** A ConfigMap in every Namespace that is marked, one in a namespace of its own, and one that stays. */
const perNamespace = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: per-namespace }
spec:
  for: { apiVersion: v1, kind: Namespace, selector: { matchLabels: { test/marked: "yes" } } }
  children:
    - id: inside
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: inside, namespace: "\${ metadata.name }" }
        data: { team: "\${ metadata.labels.team ?? 'none' }" }
      crossNamespace: { namespaces: ["*"] }
`;
const far = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: far }
spec:
  for: { apiVersion: v1, kind: ConfigMap, selector: { matchLabels: { test/far: "yes" } } }
  children:
    - id: far
      crossNamespace: true
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-\${ metadata.namespace }", namespace: default } }
    - id: stays
      deletionPolicy: Orphan
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-stays" } }
`;

shared.describe('integration/for: beyond a namespace', () => {
  test('a cluster-scoped kind, with children in a namespace', async () => {
    const homeostat = await startHomeostat({ 'per-namespace.yaml': perNamespace });
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = `/api/v1/namespaces/${namespace}`;
    await client.patch(path, { metadata: { labels: { 'test/marked': 'yes' } } });
    const made = await client.untilObject(
      `${path}/configmaps/inside`,
      (object) => object !== undefined,
    );
    assert.equal(made?.metadata.ownerReferences?.[0]?.kind, 'Namespace');
    await client.patch(path, { metadata: { labels: { team: 'a' } } });
    await client.untilObject(
      `${path}/configmaps/inside`,
      (object) => dataOf(object, 'team') === 'a',
    );
    await client.delete(`${path}/configmaps/inside`);
    await client.untilObject(
      `${path}/configmaps/inside`,
      (object) => object !== undefined && object.metadata.uid !== made?.metadata.uid,
    );
    await client.patch(path, { metadata: { labels: { 'test/marked': null } } });
    await client.untilGone(`${path}/configmaps/inside`);
    await homeostat.stop();
  });

  for (const isRestarted of [false, true]) {
    const how = isRestarted ? 'while no process ran' : 'now';
    test(`with a finalizer: what has stopped matching ${how} is released when its children are`, async () => {
      const homeostat = await startHomeostat({ 'far.yaml': far });
      const namespace = await shared.namespace();
      const client = shared.client();
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      const there = `/api/v1/namespaces/default/configmaps/one-${namespace}`;
      await client.apply(configMap(namespace, { labels: { 'test/far': 'yes' } }));
      await client.untilObject(there, (object) => object !== undefined);
      const held = await client.untilObject(`${path}/one-stays`, (object) => object !== undefined);
      assert.deepEqual((await client.get(`${path}/one`))?.metadata.finalizers, [
        'homeostat.dev/far',
      ]);
      if (isRestarted) await homeostat.stop();
      await client.patch(`${path}/one`, { metadata: { labels: { 'test/far': null } } });
      const running = isRestarted ? await startHomeostat({ 'far.yaml': far }) : homeostat;
      await client.untilGone(there);
      await client.untilObject(
        `${path}/one`,
        (object) => object !== undefined && object.metadata.finalizers === undefined,
      );
      const stayed = await client.untilObject(
        `${path}/one-stays`,
        (object) => object?.metadata.ownerReferences === undefined,
      );
      assert.equal(stayed?.metadata.uid, held?.metadata.uid);
      await running.stop();
    });
  }

  test('with a finalizer: what matched before the definition was edited is released when it is deleted', async () => {
    const homeostat = await startHomeostat({ 'far.yaml': far });
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = `/api/v1/namespaces/${namespace}/configmaps/one`;
    const there = `/api/v1/namespaces/default/configmaps/one-${namespace}`;
    await client.apply(configMap(namespace, { labels: { 'test/far': 'yes' } }));
    await client.untilObject(there, (object) => object !== undefined);
    await homeostat.stop();
    const again = await startHomeostat({ 'far.yaml': far.replace('test/far', 'test/farther') });
    const { leftInPlace } = await again.whenLogged(
      'Objects that no longer match the selector keep their children',
    );
    assert.equal(leftInPlace, 1);
    await shared.audit.quiet(1_000);
    assert.ok(await client.get(there));
    await client.delete(path);
    await client.untilGone(path);
    await client.untilGone(there);
    await again.stop();
  });
});

function selector(word: string): string {
  return `selector: { matchLabels: { test/${word}: "yes" } }`;
}

async function setUp(word: string) {
  const namespace = await shared.namespace();
  const client = shared.client();
  await client.apply(configMap(namespace, { labels: { [`test/${word}`]: 'yes' } }));
  return { namespace, client, path: `/api/v1/namespaces/${namespace}/configmaps` };
}

function dataOf(object: KubeObject | undefined, key: string): string | undefined {
  return (object?.data as Readonly<Record<string, string>> | undefined)?.[key];
}
