import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useHomeostat, useRuntimes } from '../support/homeostat.ts';
import { grantExactly, type Rule, runtimeRules } from '../support/rights/index.ts';

const user = 'limited';
const late = 'late';
const shared = useControlPlane({ audit: true, users: [user, late] });
const launch = useRuntimes(shared);
const startHomeostat = useHomeostat(shared);

const definition = thingDefinition(
  'rights',
  `  reads:
    - { id: shared, apiVersion: v1, kind: Secret, name: "\${ spec.secret }", optional: true }
  children:
    - id: config
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" }, data: { a: "\${ spec.a }" } }
    - id: service
      when: \${ $exists(spec.port) }
      template:
        apiVersion: v1
        kind: Service
        metadata: { name: "\${ metadata.name }" }
        spec: { clusterIP: None, selector: { a: b }, ports: [{ port: "\${ spec.port }" }] }
  status:
    secret: \${ $exists(reads.shared) }
`,
);

const all = ['get', 'list', 'watch', 'create', 'patch', 'delete'];
const basics: readonly Rule[] = [
  ...runtimeRules,
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: all },
  { apiGroups: ['rights.example.com'], resources: ['things', 'things/status'], verbs: all },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: all },
  { apiGroups: [''], resources: ['services'], verbs: ['list', 'watch'] },
];
const configMaps: Rule = { apiGroups: [''], resources: ['configmaps'], verbs: all };
const secrets: Rule = { apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'] };

/** Gives the user of the runtime exactly these rights. */
async function allow(...rules: readonly Rule[]): Promise<void> {
  await grantExactly(shared.client(), user, [...basics, ...rules]);
  await untilInForce([...basics, ...rules]);
}

/** The server hears of its own roles a little later. */
async function untilInForce(rules: readonly Rule[]): Promise<void> {
  for (const [resource, verb] of [
    ['configmaps', 'list'],
    ['secrets', 'list'],
    ['services', 'patch'],
  ] as const) {
    const isGiven = rules.some(
      ({ resources, verbs }) => resources.includes(resource) && verbs.includes(verb),
    );
    while ((await isAllowed(resource, verb)) !== isGiven) await sleep(50);
  }
}

async function isAllowed(resource: string, verb: string): Promise<boolean> {
  const review = await shared
    .client()
    .create('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, resourceAttributes: { resource, verb } },
    });
  return (review.status as { readonly allowed: boolean }).allowed;
}

function reviews(since: number): number {
  return shared.audit.count({ user, since }).by['create selfsubjectaccessreviews'] ?? 0;
}

async function untilReady(namespace: string, name = 'one') {
  return shared
    .client()
    .untilObject(
      thingPath('rights', namespace, name),
      (object) => conditionOf(object)?.status === 'True',
    );
}

async function untilForbidden(namespace: string, text: string, name = 'one') {
  return shared
    .client()
    .untilObject(
      thingPath('rights', namespace, name),
      (object) =>
        conditionOf(object)?.reason === 'Forbidden' &&
        (conditionOf(object)?.message.includes(text) ?? false),
    );
}

shared.describe('integration/rights', () => {
  test('with all rights nothing is asked for', async () => {
    await allow(configMaps, secrets);
    const homeostat = await startHomeostat({ 'rights.yaml': definition }, user);
    const namespace = await shared.namespace();
    const mark = shared.audit.mark();
    await shared.client().apply(thing('rights', namespace, { a: 'x', secret: 'none' }));
    await untilReady(namespace);
    await shared.audit.quiet(1_000, { user });
    assert.equal(reviews(mark), 0);
    await homeostat.stop();
  });

  test('a write that is not allowed says which right is missing, and continues by itself when it is given', async () => {
    await allow(configMaps, secrets);
    const homeostat = await startHomeostat({ 'rights.yaml': definition }, user);
    const namespace = await shared.namespace();
    const client = shared.client();
    const spec = { a: 'x', secret: 'none', port: 80 };
    for (const name of ['one', 'two', 'three']) {
      await client.apply({ ...thing('rights', namespace, spec, name) });
    }
    const right = `not allowed to patch services in namespace "${namespace}"`;
    const resource = await untilForbidden(namespace, right);
    assert.match(
      conditionOf(resource)?.message ?? '',
      /grant the rule \{ apiGroups: \[""\], resources: \["services"\], verbs: \["create", "patch"\] \}/,
    );
    assert.equal(conditionOf(resource, 'Stalled')?.status, 'True');
    // What is allowed is done.
    assert.ok(await client.get(`/api/v1/namespaces/${namespace}/configmaps/one`));
    for (const name of ['two', 'three']) await untilForbidden(namespace, right, name);
    await shared.audit.quiet(1_000, { user });
    const mark = shared.audit.mark();
    await allow(configMaps, secrets, { apiGroups: [''], resources: ['services'], verbs: all });
    await untilReady(namespace);
    // However many wait for it, it is asked for once at a time.
    const asked = reviews(mark);
    assert.ok(asked > 0 && asked < 10, `${asked} reviews`);
    await shared.audit.quiet(1_000, { user });
    const rest = shared.audit.mark();
    await shared.audit.quiet(8_000, { user });
    assert.deepEqual(shared.audit.atRest({ user, since: rest }), []);
    await homeostat.stop();
  });

  test('a kind that may not be watched is reported by the resource and by the definition, and heals', async () => {
    await allow(secrets);
    const homeostat = await startHomeostat({ 'rights.yaml': definition }, user);
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(thing('rights', namespace, { a: 'x', secret: 'none' }));
    await untilForbidden(namespace, 'not allowed to list configmaps at the cluster scope');
    const running = await homeostat.whenLogged('Definition running');
    assert.match(
      JSON.stringify(running.problems),
      /not allowed to list configmaps at the cluster scope/,
    );
    await allow(configMaps, secrets);
    await untilReady(namespace);
    assert.ok(await client.get(`/api/v1/namespaces/${namespace}/configmaps/one`));
    await homeostat.stop();
  });

  test('a read that is forbidden is not taken for absent, also when it is optional', async () => {
    await allow(configMaps);
    const homeostat = await startHomeostat({ 'rights.yaml': definition }, user);
    const namespace = await shared.namespace();
    const client = shared.client();
    const metadata = { name: 'there', namespace };
    await client.apply({ apiVersion: 'v1', kind: 'Secret', metadata });
    await client.apply(thing('rights', namespace, { a: 'x', secret: 'there' }));
    await untilForbidden(namespace, 'reads.shared: The runtime is not allowed to list secrets');
    await allow(configMaps, secrets);
    const resource = await untilReady(namespace);
    assert.equal(statusOf(resource).secret, true);
    await homeostat.stop();
  });

  test('a definition whose kind may not be installed says so, and starts when it may', async () => {
    const client = shared.client();
    await grantExactly(client, late, runtimeRules);
    const homeostat = launch({
      user: late,
      definitions: { 'lately.yaml': thingDefinition('lately', '') },
    });
    try {
      const failed = await homeostat.whenLogged('Definition cannot start, will retry');
      assert.match(String(failed.reason), /cannot patch resource "customresourcedefinitions"/);
      await grantExactly(client, late, [
        ...runtimeRules,
        {
          apiGroups: ['apiextensions.k8s.io'],
          resources: ['customresourcedefinitions'],
          verbs: all,
        },
        { apiGroups: ['lately.example.com'], resources: ['things', 'things/status'], verbs: all },
      ]);
      await homeostat.whenLogged('Definition running');
    } finally {
      await homeostat.stop();
    }
  });
});
