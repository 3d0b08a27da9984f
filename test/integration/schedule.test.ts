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

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

/** Counts its passes, but only those in which the clock has gone on. */
const counting = (name: string, when: string) =>
  thingDefinition(
    name,
    `  status:
    runs: \${ (status.runs ?? 0) + 1 }
    at: \${ $now() }
${when}`,
  );

/** Says what its ConfigMap is to be. */
const config = `  children:
    - id: config
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { text: "\${ spec.text }" }
`;

const definitions = {
  'every.yaml': counting('every', '  schedule: { every: 500ms }\n'),
  'cron.yaml': counting('cron', '  schedule: { cron: "* * * * * *", timeZone: Europe/Berlin }\n'),
  'again.yaml': counting('again', `  requeueAfter: '\${ status.runs < 3 ? "1s" }'\n`),
  'once.yaml': counting('once', ''),
  'resync.yaml': counting('resync', '  controller: { resync: 500ms, concurrency: 1 }\n'),
  'rejected.yaml': thingDefinition(
    'rejected',
    `  children:
    - id: service
      template:
        apiVersion: v1
        kind: Service
        metadata: { name: "\${ metadata.name }" }
        spec: { ports: [{ port: "\${ spec.port }" }] }
  controller: { retry: { permanent: 1s } }
`,
  ),
  'orphan.yaml': thingDefinition(
    'orphan',
    `  children:
    - id: config
      deletionPolicy: Orphan
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" } }
`,
  ),
  'paused.yaml': thingDefinition('paused', config),
  'some.yaml': thingDefinition(
    'some',
    `${config}  controller: { namespaces: { include: ["*-served"], exclude: ["not-*"] } }\n`,
  ),
};

const pausedAnnotation = 'homeostat.dev/paused';

function runsOf(object: KubeObject | undefined): number {
  return Number(statusOf(object).runs ?? 0);
}

function untilRuns(definition: string, namespace: string, count: number) {
  return shared
    .client()
    .untilObject(thingPath(definition, namespace), (object) => runsOf(object) >= count);
}

function configPath(namespace: string, name = 'one'): string {
  return `/api/v1/namespaces/${namespace}/configmaps/${name}`;
}

function hasText(text: string) {
  return (object: KubeObject | undefined) =>
    (object?.data as { readonly text?: string } | undefined)?.text === text;
}

shared.describe('integration/schedule', () => {
  before(async () => {
    await startHomeostat(definitions);
  });

  test('schedule.every runs a resource again and again', async () => {
    const namespace = await shared.namespace();
    await shared.client().apply(thing('every', namespace, {}));
    await untilRuns('every', namespace, 4);
    await shared.client().must({ method: 'DELETE', path: thingPath('every', namespace) });
  });

  test('schedule.cron runs all resources at its times', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    for (const name of ['one', 'two']) await client.apply(thing('cron', namespace, {}, name));
    for (const name of ['one', 'two']) {
      await client.untilObject(thingPath('cron', namespace, name), (object) => runsOf(object) >= 3);
      await client.must({ method: 'DELETE', path: thingPath('cron', namespace, name) });
    }
  });

  test('requeueAfter runs a resource as long as it gives a duration', async () => {
    const namespace = await shared.namespace();
    await shared.client().apply(thing('again', namespace, {}));
    await untilRuns('again', namespace, 3);
    await shared.audit.quiet(3_000);
    assert.equal(runsOf(await untilRuns('again', namespace, 3)), 3);
  });

  test('a change of homeostat.dev/reconcile-at runs a resource that rests', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(thing('once', namespace, {}));
    const first = runsOf(await untilRuns('once', namespace, 1));
    await client.patch(thingPath('once', namespace), {
      metadata: { annotations: { 'homeostat.dev/reconcile-at': '2026-01-01T00:00:00Z' } },
    });
    await untilRuns('once', namespace, first + 1);
  });

  test('a paused resource is not changed, reports it once, and continues when the annotation is removed', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = thingPath('paused', namespace);
    await client.apply(thing('paused', namespace, { text: 'a' }));
    await client.untilObject(configPath(namespace), hasText('a'));
    await client.patch(path, { metadata: { annotations: { [pausedAnnotation]: 'true' } } });
    await client.untilObject(path, (object) => conditionOf(object)?.reason === 'Paused');
    await shared.audit.quiet(1_000);
    const mark = shared.audit.mark();
    await client.patch(path, { spec: { text: 'b' } });
    await client.patch(configPath(namespace), { data: { text: 'by hand' } });
    await shared.audit.quiet(2_000);
    const writes = shared.audit
      .entries({ since: mark })
      .filter((entry) => entry.namespace === namespace && entry.verb === 'patch');
    assert.deepEqual(writes, []);
    assert.ok(hasText('by hand')(await client.get(configPath(namespace))));
    await client.patch(path, { metadata: { annotations: { [pausedAnnotation]: null } } });
    await client.untilObject(configPath(namespace), hasText('b'));
    await client.untilObject(path, (object) => conditionOf(object)?.reason === 'AllReady');
  });

  test('a paused resource is not even released', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = thingPath('orphan', namespace);
    await client.apply(thing('orphan', namespace, {}));
    await client.untilObject(path, (object) => conditionOf(object)?.reason === 'AllReady');
    await client.patch(path, { metadata: { annotations: { [pausedAnnotation]: 'true' } } });
    await client.untilObject(path, (object) => conditionOf(object)?.reason === 'Paused');
    await client.must({ method: 'DELETE', path });
    await shared.audit.quiet(2_000);
    const held = await client.get(path);
    assert.notEqual(held?.metadata.deletionTimestamp, undefined);
    assert.equal(conditionOf(held)?.reason, 'Paused');
    await client.patch(path, { metadata: { annotations: { [pausedAnnotation]: null } } });
    await client.untilGone(path);
    assert.notEqual(await client.get(configPath(namespace)), undefined);
  });

  test('resync runs every resource once in a while', async () => {
    const namespace = await shared.namespace();
    await shared.client().apply(thing('resync', namespace, {}));
    await untilRuns('resync', namespace, 3);
    await shared.client().must({ method: 'DELETE', path: thingPath('resync', namespace) });
  });

  test('what is rejected for good is sent again every retry.permanent', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const mark = shared.audit.mark();
    await client.apply(thing('rejected', namespace, { port: 70_000 }));
    await shared.audit.untilSeen(
      (entries) =>
        entries.filter((entry) => entry.namespace === namespace && entry.status === 422).length >=
        3,
      { since: mark },
    );
    await client.patch(thingPath('rejected', namespace), { spec: { port: 80 } });
    await client.untilObject(
      thingPath('rejected', namespace),
      (object) => conditionOf(object)?.reason === 'AllReady',
    );
  });

  test('only resources of the namespaces that are served are worked on', async () => {
    const outside = await shared.namespace();
    const inside = `${outside}-served`;
    const excluded = `not-${outside}-served`;
    const client = shared.client();
    for (const name of [inside, excluded])
      await client.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    for (const namespace of [outside, excluded, inside])
      await client.apply(thing('some', namespace, { text: 'a' }));
    await client.untilObject(configPath(inside), hasText('a'));
    await client.untilObject(
      thingPath('some', inside),
      (object) => conditionOf(object)?.reason === 'AllReady',
    );
    await shared.audit.quiet(1_000);
    for (const namespace of [outside, excluded]) {
      assert.equal(await client.get(configPath(namespace)), undefined);
      assert.equal((await client.get(thingPath('some', namespace)))?.status, undefined);
    }
  });
});
