import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { startAdmissionWebhook } from '../support/admission-webhook.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

const config = (more: string) => `  children:
    - id: config
${more}      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: config }
        data: { a: "\${ spec.a }", b: "\${ spec.b }" }
  controller: { retry: { permanent: 5s } }
`;

const forcing = thingDefinition('forcing', config(''));
const reporting = thingDefinition('reporting', config('      conflicts: Report\n'));
const spec = { a: 'ours', b: 'ours' };

const configPath = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps/config`;

function dataOf(object: KubeObject | undefined, key = 'a'): string | undefined {
  return (object?.data as Record<string, string> | undefined)?.[key];
}

async function applied(definition: string) {
  const namespace = await shared.namespace();
  await shared.client().apply(thing(definition, namespace, spec));
  await untilReady(definition, namespace);
  return namespace;
}

async function untilReady(definition: string, namespace: string): Promise<void> {
  await shared
    .client()
    .untilObject(
      thingPath(definition, namespace),
      (object) => conditionOf(object)?.status === 'True',
    );
}

/** Another manager applies a value by force. */
async function applyTheirs(namespace: string, data: Record<string, string>): Promise<void> {
  const metadata = { name: 'config', namespace };
  const theirs = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
  await shared.client().apply(theirs, { fieldManager: 'their-manager' });
}

/** A client that knows nothing of apply. */
async function patchTheirs(namespace: string, data: Record<string, string>): Promise<void> {
  await shared.client().patch(`${configPath(namespace)}?fieldManager=their-client`, { data });
}

shared.describe('integration/fights', () => {
  before(async () => {
    await startHomeostat({ 'forcing.yaml': forcing, 'reporting.yaml': reporting });
  });

  for (const [manager, write] of [
    ['their-manager', applyTheirs],
    ['their-client', patchTheirs],
  ] as const) {
    test(`${manager} takes a field of ours: it is reported, slowed down, and over when the other gives in`, async () => {
      const client = shared.client();
      const namespace = await applied('forcing');
      let isOver = false;
      const conflict = async () => {
        while (!isOver) {
          await client.untilObject(configPath(namespace), (object) => dataOf(object) === 'ours');
          if (!isOver) await write(namespace, { a: 'theirs' });
        }
      };
      const conflicting = conflict();
      const reported = await client.untilObject(
        thingPath('forcing', namespace),
        (object) => conditionOf(object)?.reason === 'Contested',
      );
      assert.equal(
        conditionOf(reported)?.message,
        `config "config": "homeostat/forcing" and "${manager}" overwrite each other in data.a: Homeostat reverts the change with growing delays until one of them stops`,
      );
      assert.equal(conditionOf(reported, 'Stalled')?.status, 'True');
      isOver = true;
      // If it has been taken meanwhile, it is reverted once more.
      await conflicting;
      await untilReady('forcing', namespace);
      assert.equal(dataOf(await client.get(configPath(namespace))), 'ours');
      await shared.audit.quiet(1_000);
      const mark = shared.audit.mark();
      await shared.audit.quiet(2_000);
      assert.deepEqual(shared.audit.atRest({ since: mark }), []);
    });
  }

  test('a webhook that rewrites a field otherwise each time is lived with', async (t) => {
    const client = shared.client();
    const namespace = await shared.namespace();
    const webhook = await startAdmissionWebhook({
      client,
      namespace,
      type: 'Mutating',
      resource: 'configmaps',
      judge: ({ metadata: { name } }, calls) =>
        name === 'config'
          ? {
              kind: 'rewrite',
              patch: [{ op: 'replace', path: '/data/a', value: `rewritten ${calls}` }],
            }
          : { kind: 'allow' },
    });
    t.after(() => webhook.stop());
    await client.apply(thing('forcing', namespace, spec));
    await untilReady('forcing', namespace);
    assert.match(dataOf(await client.get(configPath(namespace))) ?? '', /^rewritten/);
    await shared.audit.quiet(1_000);
    const mark = shared.audit.mark();
    // Whatever else is written, the webhook has the last word.
    for (const b of ['x', 'y', 'z']) {
      await client.patch(configPath(namespace), { data: { b } });
      await client.untilObject(configPath(namespace), (object) => dataOf(object, 'b') === 'ours');
    }
    await shared.audit.quiet(2_000);
    const { by } = shared.audit.count({ since: mark });
    assert.equal(by['patch configmaps'], 3);
  });

  test('with conflicts: Report a field that another manager takes is left to it, and is ours again when it gives it up', async () => {
    const client = shared.client();
    const namespace = await applied('reporting');
    await applyTheirs(namespace, { a: 'theirs' });
    const reported = await client.untilObject(
      thingPath('reporting', namespace),
      (object) => conditionOf(object)?.reason === 'Conflict',
    );
    assert.equal(
      conditionOf(reported)?.message,
      'config "config": data.a is left to field manager "their-manager"',
    );
    // The rest is still ours.
    await client.patch(configPath(namespace), { data: { b: null } });
    await client.untilObject(configPath(namespace), (object) => dataOf(object, 'b') === 'ours');
    await client.patch(thingPath('reporting', namespace), { spec: { b: 'new' } });
    const live = await client.untilObject(
      configPath(namespace),
      (object) => dataOf(object, 'b') === 'new',
    );
    assert.equal(dataOf(live), 'theirs');
    // It gives up all that it has: the value is removed with it, and comes back as ours.
    await applyTheirs(namespace, {});
    await client.untilObject(configPath(namespace), (object) => dataOf(object) === 'ours');
    await untilReady('reporting', namespace);
  });

  test('a field that was given up without a change of its value is found by retry.permanent', async () => {
    const client = shared.client();
    const namespace = await applied('reporting');
    await patchTheirs(namespace, { a: 'theirs' });
    await client.untilObject(
      thingPath('reporting', namespace),
      (object) => conditionOf(object)?.reason === 'Conflict',
    );
    const live = await client.get(configPath(namespace));
    const managers = (live?.metadata ?? {}) as { managedFields?: { manager: string }[] };
    await client.patch(configPath(namespace), {
      metadata: {
        managedFields: managers.managedFields?.filter(({ manager }) => manager !== 'their-client'),
      },
    });
    await client.untilObject(configPath(namespace), (object) => dataOf(object) === 'ours');
    await untilReady('reporting', namespace);
  });
});
