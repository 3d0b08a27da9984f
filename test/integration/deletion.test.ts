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

const configMap = (name: string, rest = '') =>
  `{ apiVersion: v1, kind: ConfigMap, metadata: { name: "${name}" }${rest} }`;

const orphan = thingDefinition(
  'orphan',
  `  children:
    - id: kept
      when: \${ spec.on }
      deletionPolicy: Orphan
      template: ${configMap('${ metadata.name }-kept', ', data: { text: hello }')}
    - id: other
      template: ${configMap('${ metadata.name }-other')}
`,
);

const guarded = thingDefinition(
  'guarded',
  `  children:
    - id: claims
      forEach: \${ spec.items }
      deleteWhen: \${ $child.data.done = "yes" }
      template: ${configMap('${ metadata.name }-${ $item }')}
`,
);

const ordered = thingDefinition(
  'ordered',
  `  children:
    - id: steps
      forEach: \${ spec.items }
      ordered: true
      template: ${configMap('${ metadata.name }-${ $item }')}
`,
);

const onDelete = (name: string, rest: string) =>
  thingDefinition(
    name,
    `  children:
    - id: base
      template: ${configMap('${ metadata.name }-base', ', data: { a: b }')}
    - id: dependent
      template: ${configMap('${ metadata.name }-dependent', ', data: { base: "${ children.base.metadata.uid }" }')}
  onDelete:
${rest}
    children:
      - id: backup
        template:
          apiVersion: batch/v1
          kind: Job
          metadata: { name: "\${ metadata.name }-backup" }
          spec:
            template:
              metadata: { annotations: { base: "\${ children.base.data.a }", generation: "\${ metadata.generation }" } }
              spec: { restartPolicy: Never, containers: [{ name: backup, image: busybox }] }
`,
  );

const definitions = {
  'orphan.yaml': orphan,
  'guarded.yaml': guarded,
  'ordered.yaml': ordered,
  'backup.yaml': onDelete('backup', '    order: Reverse'),
  'patient.yaml': onDelete('patient', '    timeout: 1s'),
  'hasty.yaml': onDelete('hasty', '    timeout: 1s\n    onTimeout: Continue'),
};

shared.describe('integration/deletion', () => {
  let homeostat: HomeostatRuntime;

  before(async () => {
    homeostat = await startHomeostat(definitions);
    // Else the collector hears of new kinds within half a minute.
    await shared.plane.restartControllerManager();
  });

  /** A ready Thing of a definition in a namespace of its own. */
  async function makeThing(definition: string, spec: unknown, name = 'one') {
    const client = shared.client();
    const namespace = await shared.namespace();
    const path = thingPath(definition, namespace, name);
    await client.apply(thing(definition, namespace, spec, name));
    const made = await client.untilObject(path, (object) => conditionOf(object)?.status === 'True');
    const maps = `/api/v1/namespaces/${namespace}/configmaps`;
    return {
      client,
      namespace,
      path,
      made,
      maps,
      map: (suffix: string) => `${maps}/${name}-${suffix}`,
    };
  }

  function isOurs({ metadata }: KubeObject): boolean {
    const entries = (metadata as { managedFields?: readonly { manager: string }[] }).managedFields;
    return (
      Object.keys({ ...metadata.labels, ...metadata.annotations }).some((key) =>
        key.startsWith('homeostat.dev/'),
      ) ||
      (metadata.ownerReferences ?? []).length > 0 ||
      (entries ?? []).some(({ manager }) => manager === 'homeostat/orphan')
    );
  }

  for (const [what, go] of [
    ['that is dropped', 'drop'],
    ['whose resource is deleted', 'delete'],
  ] as const) {
    test(`an orphan ${what} stays as it is, and is ours no more`, async () => {
      const { client, path, map } = await makeThing('orphan', { on: true });
      const before = await client.get(map('kept'));
      if (go === 'drop') {
        await client.patch(path, { spec: { on: false } });
        await client.untilObject(map('kept'), (object) => object !== undefined && !isOurs(object));
      } else {
        await client.delete(path);
        await client.untilGone(path);
      }
      const kept = await client.get(map('kept'));
      assert.ok(kept);
      assert.equal(isOurs(kept), false);
      assert.deepEqual([kept.metadata.uid, kept.data], [before?.metadata.uid, { text: 'hello' }]);
      // The other child tells that the collector has been there.
      if (go === 'delete') await client.untilGone(map('other'));
      assert.ok(await client.get(map('kept')));
      if (go === 'drop') await client.delete(path);
    });
  }

  test('a child that says when it may go stays until then, and says so', async () => {
    const { client, path, map } = await makeThing('guarded', { items: ['a', 'b'] });
    await client.patch(path, { spec: { items: ['a'] } });
    const held = await client.untilObject(
      path,
      (object) =>
        statusOf(object).children?.some(({ name }) => name === 'one-b') === true &&
        statusOf(object).observedGeneration === object?.metadata.generation,
    );
    assert.equal(conditionOf(held)?.status, 'True');
    const entry = statusOf(held).children?.find(({ name }) => name === 'one-b');
    assert.equal(entry?.state, 'Deleting');
    assert.equal(entry?.message, 'No longer desired; kept until "deleteWhen" is true');
    await client.patch(map('b'), { data: { done: 'yes' } });
    await client.untilGone(map('b'));
    assert.ok(await client.get(map('a')));
    await client.delete(path);
    const waiting = await client.untilObject(
      path,
      (object) => conditionOf(object)?.reason === 'Terminating',
    );
    assert.equal(
      conditionOf(waiting)?.message,
      'Waiting for ConfigMap "one-a" (child "claims") to be deleted: kept until "deleteWhen" is true',
    );
    await shared.audit.quiet(1_000);
    await client.patch(map('a'), { data: { done: 'yes' } });
    await client.untilGone(path);
    assert.equal(await client.get(map('a')), undefined);
  });

  test('elements of an ordered child go one by one from the last, each when the one before is gone', async () => {
    const { client, path, map } = await makeThing('ordered', { items: ['a', 'b', 'c'] });
    const hold = (on: boolean) => ({ metadata: { finalizers: on ? ['example.com/hold'] : null } });
    for (const each of ['b', 'c']) await client.patch(map(each), hold(true));
    await client.patch(path, { spec: { items: ['a'] } });
    await client.untilObject(
      map('c'),
      (object) => object?.metadata.deletionTimestamp !== undefined,
    );
    await shared.audit.quiet(1_000);
    assert.equal((await client.get(map('b')))?.metadata.deletionTimestamp, undefined);
    await client.patch(map('c'), hold(false));
    await client.untilObject(
      map('b'),
      (object) => object?.metadata.deletionTimestamp !== undefined,
    );
    await client.delete(path);
    await shared.audit.quiet(1_000);
    // The resource is deleted in the same order.
    assert.equal((await client.get(map('a')))?.metadata.deletionTimestamp, undefined);
    await client.patch(map('b'), hold(false));
    await client.untilGone(path);
    assert.equal(await client.get(map('a')), undefined);
  });

  test('a deletion that was asked to orphan leaves the children where they are, and they are ours no more', async () => {
    const { client, path, map } = await makeThing('ordered', { items: ['a', 'b'] });
    await client.delete(path, 'Orphan');
    await client.untilGone(path);
    for (const each of ['a', 'b']) {
      const left = await client.get(map(each));
      assert.equal(left?.metadata.deletionTimestamp, undefined, each);
      assert.equal(left?.metadata.labels?.['homeostat.dev/owner-uid'], undefined, each);
      assert.ok(left, each);
    }
  });

  test('what onDelete makes is made first and waited for; then the children go, dependents first', async () => {
    const { client, namespace, path, map, made } = await makeThing('backup', {});
    assert.equal(made?.metadata.annotations?.['on-delete.homeostat.dev/backup'], 'true');
    const job = `/apis/batch/v1/namespaces/${namespace}/jobs/one-backup`;
    assert.equal(await client.get(job), undefined);
    await client.patch(map('dependent'), { metadata: { finalizers: ['example.com/hold'] } });
    await client.delete(path);
    const backup = await client.untilObject(job, (object) => object !== undefined);
    const { template } = (backup?.spec ?? {}) as { readonly template?: KubeObject };
    assert.equal(template?.metadata.annotations?.base, 'b');
    assert.equal(template?.metadata.annotations?.generation, '2');
    const waiting = await client.untilObject(
      path,
      (object) => conditionOf(object)?.reason === 'Terminating',
    );
    assert.match(
      conditionOf(waiting)?.message ?? '',
      /Waiting for Job "one-backup" \(child "backup"\) to be ready/,
    );
    await shared.audit.quiet(1_000);
    for (const each of ['base', 'dependent']) {
      assert.equal((await client.get(map(each)))?.metadata.deletionTimestamp, undefined, each);
    }
    await completeJob(job);
    await client.untilObject(
      map('dependent'),
      (object) => object?.metadata.deletionTimestamp !== undefined,
    );
    await shared.audit.quiet(1_000);
    assert.equal((await client.get(map('base')))?.metadata.deletionTimestamp, undefined);
    await client.patch(map('dependent'), { metadata: { finalizers: null } });
    await client.untilGone(path);
    assert.equal(await client.get(map('base')), undefined);
    await client.untilGone(job);
  });

  test('a deletion that takes too long says so and continues waiting', async () => {
    const { client, namespace, path } = await makeThing('patient', {});
    await client.delete(path);
    const stalled = await client.untilObject(
      path,
      (object) => conditionOf(object, 'Stalled')?.status === 'True',
    );
    assert.equal(conditionOf(stalled)?.reason, 'Terminating');
    await client.untilList(`/api/v1/namespaces/${namespace}/events`, (items) =>
      items.some((event) => event.reason === 'DeletionTimedOut'),
    );
    await shared.audit.quiet(1_000);
    await completeJob(`/apis/batch/v1/namespaces/${namespace}/jobs/one-backup`);
    await client.untilGone(path);
  });

  test('a deletion that takes too long continues without, where the definition says so', async () => {
    const { client, path, map } = await makeThing('hasty', {});
    await client.delete(path);
    await client.untilGone(path);
    for (const each of ['base', 'dependent']) await client.untilGone(map(each));
  });

  test('a resource may do without onDelete', async () => {
    const { client, path, map } = await makeThing('backup', {}, 'skipping');
    await client.patch(path, {
      metadata: { annotations: { 'homeostat.dev/skip-on-delete': 'true' } },
    });
    await client.delete(path);
    await client.untilGone(path);
    assert.equal(await client.get(map('base')), undefined);
  });

  test('a namespace with such resources in it comes to its end', async () => {
    const { client, namespace } = await makeThing('backup', {});
    await client.apply(thing('ordered', namespace, { items: ['a', 'b'] }, 'two'));
    await client.untilObject(
      thingPath('ordered', namespace, 'two'),
      (object) => conditionOf(object)?.status === 'True',
    );
    await client.delete(`/api/v1/namespaces/${namespace}`);
    await client.untilGone(`/api/v1/namespaces/${namespace}`);
  });

  test('without its definition a deletion with onDelete waits, until it is asked to do without', async () => {
    const { client, path, map } = await makeThing('backup', {}, 'broken');
    homeostat.remove('backup.yaml');
    await homeostat.whenLogged('Definition stopped, its resources and their children are orphaned');
    await client.delete(path);
    const reported = await client.untilObject(
      path,
      (object) => conditionOf(object)?.reason === 'DefinitionBroken',
    );
    assert.match(conditionOf(reported)?.message ?? '', /skip-on-delete/);
    assert.ok(await client.get(map('base')));
    await client.patch(path, {
      metadata: { annotations: { 'homeostat.dev/skip-on-delete': 'true' } },
    });
    await client.untilGone(path);
    assert.equal(await client.get(map('base')), undefined);
  });

  /** What the kubelet and the Job controller would do when its Pod has succeeded. */
  async function completeJob(path: string): Promise<void> {
    const client = shared.client();
    const now = new Date().toISOString();
    const time = { lastProbeTime: now, lastTransitionTime: now };
    const condition = (type: string) => ({
      type,
      status: 'True',
      reason: 'Done',
      message: '',
      ...time,
    });
    const job = await client.untilObject(path, (object) => object !== undefined);
    const started = (job?.status as { startTime?: string } | undefined)?.startTime ?? now;
    await client.patch(`${path}/status`, {
      status: {
        startTime: started,
        completionTime: now,
        succeeded: 1,
        active: 0,
        ready: 0,
        uncountedTerminatedPods: {},
        conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
      },
    });
  }
});
