import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

/** Adds a variable to a container of another owner, and a line to a ConfigMap that all resources share. */
const lender = thingDefinition(
  'lender',
  `  patches:
    - id: env
      when: \${ $not(spec.off = true) }
      target: { apiVersion: apps/v1, kind: Deployment, name: "\${ spec.deployment }" }
      withdraw: true
      patch:
        spec:
          template:
            spec:
              containers:
                - name: web
                  env: [{ name: LENT, value: "\${ spec.text }" }]
    - id: board
      target: { apiVersion: v1, kind: ConfigMap, name: board }
      conflicts: Report
      patch:
        data: { "\${ metadata.name }": "\${ spec.text }", shared: "yes", title: "\${ spec.title ?? 'none' }" }
    - id: mark
      when: \${ spec.marked = true }
      withdraw: true
      patch: { metadata: { labels: { marked: "yes" } } }
`,
);

/** Sets the address of a Service, and deletes a ConfigMap on request. */
const router = thingDefinition(
  'router',
  `  patches:
    - id: address
      when: \${ $exists(spec.ip) }
      target: { apiVersion: v1, kind: Service, name: web }
      status: true
      withdraw: true
      patch: { status: { loadBalancer: { ingress: [{ ip: "\${ spec.ip }" }] } } }
    - id: clear
      target: { apiVersion: v1, kind: ConfigMap, name: cache }
      once: \${ spec.clearedAt }
      delete: true
`,
);

/** Selects the pods of a policy of another owner. */
const chooser = thingDefinition(
  'chooser',
  `  patches:
    - id: pods
      target: { apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, name: policy }
      conflicts: Report
      patch: { spec: { podSelector: { matchLabels: { app: "\${ spec.text }" } } } }
`,
);

/** Marks ConfigMaps that resources list, and the Services of some of them. */
const marker = thingDefinition(
  'marker',
  `  patches:
    - id: mark
      forEach: \${ spec.maps }
      target: { apiVersion: v1, kind: ConfigMap, name: "\${ $item.name }" }
      withdraw: true
      patch: { data: { "by-\${ metadata.name }": "\${ $item.text }" } }
    - id: addresses
      forEach: \${ spec.services ?? [] }
      target: { apiVersion: v1, kind: Service, name: "\${ $item }" }
      status: true
      withdraw: true
      patch: { status: { loadBalancer: { ingress: [{ ip: "192.0.2.\${ 1 + $index }" }] } } }
    - id: clear
      forEach: \${ spec.cleared ?? [] }
      target: { apiVersion: v1, kind: ConfigMap, name: "\${ $item }" }
      once: \${ spec.clearedAt }
      delete: true
    - id: farewell
      forEach: \${ spec.maps }
      at: Deletion
      target: { apiVersion: v1, kind: ConfigMap, name: "\${ $item.name }" }
      patch: { data: { last: "\${ $item.text }" } }
`,
);

function configPath(namespace: string, name: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps/${name}`;
}

function dataOf(object: KubeObject | undefined): Readonly<Record<string, unknown>> {
  return (object?.data ?? {}) as Readonly<Record<string, unknown>>;
}

function board(namespace: string, data = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'board' }, data };
}

interface Container {
  readonly name: string;
  readonly env?: readonly { readonly name: string; readonly value: string }[];
}

function deployment(namespace: string, name: string): KubeObject {
  const labels = { app: name };
  const env = [{ name: 'OWN', value: 'a' }];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'web', image: 'registry.example.com/web:1', env }] },
      },
    },
  };
}

function envOf(object: KubeObject | undefined): readonly string[] {
  const spec = object?.spec as
    | { readonly template: { readonly spec: { readonly containers: readonly Container[] } } }
    | undefined;
  const [web] = spec?.template.spec.containers ?? [];
  return (web?.env ?? []).map(({ name, value }) => `${name}=${value}`);
}

function deploymentPath(namespace: string, name: string): string {
  return `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
}

const isReady = (object: KubeObject | undefined) => conditionOf(object)?.status === 'True';

shared.describe('integration/withdrawn-patches', () => {
  before(async () => {
    await startHomeostat({
      'lender.yaml': lender,
      'router.yaml': router,
      'chooser.yaml': chooser,
      'marker.yaml': marker,
    });
  });

  test('fields that only the patch owns are removed when it no longer applies', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = thingPath('lender', namespace);
    for (const name of ['first', 'second']) await client.apply(deployment(namespace, name));
    await client.apply(board(namespace, { mine: 'yes' }));
    await client.apply(thing('lender', namespace, { deployment: 'first', text: 'a' }));
    const first = deploymentPath(namespace, 'first');
    const second = deploymentPath(namespace, 'second');
    await client.untilObject(first, (object) => envOf(object).length === 2);
    await client.untilObject(path, isReady);
    await shared.audit.quiet(3_000);
    await client.patch(path, { spec: { text: 'b' } });
    await client.untilObject(first, (object) => envOf(object).includes('LENT=b'));
    // Another target.
    await client.patch(path, { spec: { deployment: 'second' } });
    await client.untilObject(second, (object) => envOf(object).includes('LENT=b'));
    const left = await client.untilObject(first, (object) => envOf(object).length === 1);
    assert.deepEqual(envOf(left), ['OWN=a']);
    // Its condition.
    await client.patch(path, { spec: { off: true } });
    await client.untilObject(second, (object) => envOf(object).length === 1);
    await client.patch(path, { spec: { off: false } });
    await client.untilObject(second, (object) => envOf(object).length === 2);
    // The resource.
    await client.must({ method: 'DELETE', path });
    await client.untilGone(path);
    assert.deepEqual(envOf(await client.get(second)), ['OWN=a']);
    assert.deepEqual(dataOf(await client.get(configPath(namespace, 'board'))), { mine: 'yes' });
    await shared.audit.quiet(3_000);
  });

  test('a field of several resources stays until the last of them, and a field of others is left', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    for (const name of ['d1', 'd2']) await client.apply(deployment(namespace, name));
    await client.apply(board(namespace, { title: 'theirs' }));
    const target = configPath(namespace, 'board');
    const one = thing('lender', namespace, { deployment: 'd1', text: 'a', title: 'ours' }, 'one');
    await client.apply(one);
    await client.apply(thing('lender', namespace, { deployment: 'd2', text: 'b' }, 'two'));
    await client.untilObject(target, (object) => dataOf(object).two === 'b');
    const reported = await client.untilObject(
      thingPath('lender', namespace, 'one'),
      (object) => conditionOf(object)?.reason === 'Conflict',
    );
    assert.match(
      conditionOf(reported)?.message ?? '',
      /^patches\.board: data\.title is left to field manager "/,
    );
    for (const name of ['one', 'two']) {
      const path = thingPath('lender', namespace, name);
      await client.must({ method: 'DELETE', path });
      await client.untilGone(path);
      const expected =
        name === 'one' ? { shared: 'yes', title: 'theirs', two: 'b' } : { title: 'theirs' };
      assert.deepEqual(dataOf(await client.get(target)), expected);
    }
  });

  test('a target that is deleted is not created by the withdrawal, and a patch of the resource itself is withdrawn', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = thingPath('lender', namespace);
    await client.apply(deployment(namespace, 'first'));
    await client.apply(board(namespace));
    const spec = { deployment: 'first', text: 'a', marked: true };
    await client.apply(thing('lender', namespace, spec));
    await client.untilObject(path, (object) => object?.metadata.labels?.marked === 'yes');
    await client.untilObject(path, isReady);
    await client.patch(path, { spec: { marked: false } });
    await client.untilObject(path, (object) => object?.metadata.labels?.marked === undefined);
    const target = configPath(namespace, 'board');
    await client.must({ method: 'DELETE', path: target });
    await client.untilGone(target);
    await client.must({ method: 'DELETE', path });
    await client.untilGone(path);
    assert.equal(await client.get(target), undefined);
  });

  test('each target of a list is patched, an element that is removed is withdrawn, and the last values stay', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const configMap = (name: string): KubeObject => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace },
    });
    for (const name of ['a', 'b', 'c', 'cache-1', 'cache-2']) await client.apply(configMap(name));
    for (const name of ['web', 'api'])
      await client.apply({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name, namespace },
        spec: { type: 'LoadBalancer', ports: [{ name: 'http', port: 80 }] },
      } as KubeObject);
    const two = thingPath('marker', namespace, 'two');
    const maps = (...names: readonly string[]) =>
      names.map((name) => ({ name, text: `of ${name}` }));
    const data = async (name: string) => dataOf(await client.get(configPath(namespace, name)));
    const ofResource = { 'by-one': 'of b' };
    await client.apply(
      thing('marker', namespace, { maps: maps('a', 'b'), services: ['web', 'api'] }, 'one'),
    );
    const one = thingPath('marker', namespace, 'one');
    await client.untilObject(one, isReady);
    assert.deepEqual([await data('a'), await data('b')], [{ 'by-one': 'of a' }, ofResource]);
    const service = (name: string) => `/api/v1/namespaces/${namespace}/services/${name}`;
    assert.equal(addressOf(await client.get(service('api'))), '192.0.2.2');
    // Another resource marks the same objects.
    await client.apply(thing('marker', namespace, { maps: maps('a', 'b') }, 'two'));
    await client.untilObject(two, isReady);
    await client.patch(one, { spec: { maps: maps('c', 'b'), services: ['web'] } });
    await client.untilObject(
      configPath(namespace, 'a'),
      (object) => dataOf(object)['by-one'] === undefined,
    );
    await client.untilObject(
      configPath(namespace, 'c'),
      (object) => dataOf(object)['by-one'] === 'of c',
    );
    assert.equal((await data('b'))['by-one'], 'of b');
    assert.equal(Object.keys(await data('a')).length, 1);
    await client.untilObject(service('api'), (object) => addressOf(object) === undefined);
    assert.equal(addressOf(await client.get(service('web'))), '192.0.2.1');
    await client.patch(one, { spec: { cleared: ['cache-1', 'cache-2'], clearedAt: 'monday' } });
    for (const name of ['cache-1', 'cache-2']) await client.untilGone(configPath(namespace, name));
    await client.must({ method: 'DELETE', path: one });
    await client.untilGone(one);
    assert.deepEqual(await data('c'), { last: 'of c' });
    assert.equal((await data('b')).last, 'of b');
  });

  test('an empty selector of another manager is a value, and is left', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const policy = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'policy', namespace },
      spec: { podSelector: {}, policyTypes: ['Ingress'] },
    } as KubeObject;
    await client.apply(policy);
    await client.apply(thing('chooser', namespace, { text: 'web' }));
    const reported = await client.untilObject(
      thingPath('chooser', namespace),
      (object) =>
        conditionOf(object)?.status !== undefined && conditionOf(object)?.reason !== 'Progressing',
    );
    const path = `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies/policy`;
    const stored = await client.get(path);
    assert.deepEqual(
      (stored?.spec as { readonly podSelector?: unknown } | undefined)?.podSelector,
      {},
    );
    assert.equal(conditionOf(reported)?.reason, 'Conflict');
  });

  test('a status of another object is set and withdrawn, and an object is deleted once', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = thingPath('router', namespace);
    await client.apply({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace },
      spec: { type: 'LoadBalancer', ports: [{ name: 'http', port: 80 }] },
    } as KubeObject);
    const cache = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'cache', namespace } };
    await client.apply(cache);
    await client.apply(thing('router', namespace, { ip: '192.0.2.1' }));
    const service = `/api/v1/namespaces/${namespace}/services/web`;
    await client.untilObject(service, (object) => addressOf(object) === '192.0.2.1');
    await client.untilObject(path, isReady);
    await shared.audit.quiet(3_000);
    await client.patch(path, { spec: { clearedAt: 'monday' } });
    await client.untilGone(configPath(namespace, 'cache'));
    await client.untilObject(path, isReady);
    await client.apply(cache);
    await client.patch(path, { spec: { ip: '192.0.2.2' } });
    await client.untilObject(service, (object) => addressOf(object) === '192.0.2.2');
    assert.ok(await client.get(configPath(namespace, 'cache')));
    await client.must({ method: 'DELETE', path });
    await client.untilGone(path);
    assert.equal(addressOf(await client.get(service)), undefined);
    assert.ok(await client.get(configPath(namespace, 'cache')));
  });
});

function addressOf(object: KubeObject | undefined): string | undefined {
  const status = object?.status as
    | { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip: string }[] } }
    | undefined;
  return status?.loadBalancer?.ingress?.[0]?.ip;
}
