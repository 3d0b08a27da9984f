import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, shippedText, statusOf, thingDefinition } from '../support/definitions.ts';
import { useRuntimes, webhookFlags } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { untilStatus } from '../support/scrape.ts';

const shared = useControlPlane({ audit: true, users: ['second'] });
const launch = useRuntimes(shared);
const collection = '/apis/homeostat.dev/v1alpha1/operatordefinitions';
const shipped = readdirSync(new URL('../../operators/', import.meta.url)).filter((file) =>
  file.endsWith('.yaml'),
);

const label = { 'homeostat.dev/definitions': 'true' };

/** A child that shows a text. */
const shows = (text: string) => `  children:
    - id: shown
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { text: "${text}" }
`;

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

shared.describe('integration/definitions-shown', () => {
  function start(
    namespace: string,
    { user = 'operator', flags = [] }: { user?: string; flags?: readonly string[] } = {},
  ): HomeostatRuntime {
    return launch({
      user,
      flags: ['--namespace', namespace, '--sources', 'configmaps,objects', ...flags],
    });
  }

  async function end(process: HomeostatRuntime): Promise<void> {
    assert.equal(await process.stop(), 0);
  }

  function write(
    namespace: string,
    data: Readonly<Record<string, string>>,
    name = 'operators',
  ): Promise<KubeObject> {
    return shared.client().apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace, labels: label },
      data,
    });
  }

  function untilDefinition(
    name: string,
    check: (object: KubeObject | undefined) => boolean,
  ): Promise<KubeObject | undefined> {
    return shared.client().untilObject(`${collection}/${name}`, check);
  }

  const isReady = (object: KubeObject | undefined) => conditionOf(object)?.status === 'True';

  function untilText(namespace: string, name: string, text: string): Promise<unknown> {
    return shared
      .client()
      .untilObject(
        `/api/v1/namespaces/${namespace}/configmaps/${name}`,
        (object) => (object?.data as { text?: string } | undefined)?.text === text,
      );
  }

  const thing = (group: string, namespace: string, name: string): KubeObject => ({
    apiVersion: `${group}.example.com/v1`,
    kind: 'Thing',
    metadata: { name, namespace },
    spec: {},
  });

  test('a ConfigMap of all shipped operators: each has an object that is ready, and nothing is sent afterwards', async () => {
    const namespace = await shared.namespace();
    const process = start(namespace, { flags: await webhookFlags() });
    await write(namespace, Object.fromEntries(shipped.map((file) => [file, shippedText(file)])));
    const client = shared.client();
    await client.untilList(
      collection,
      (items) => items.length === shipped.length && items.every(isReady),
    );
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const table = await client.must<Table>({ method: 'GET', path: collection, accept });
    const names = table.columnDefinitions.filter(({ priority }) => priority === 0);
    assert.deepEqual(
      names.map(({ name }) => name),
      ['Name', 'Ready', 'Reason', 'Kind', 'Instances', 'Revision', 'Age'],
    );
    const podset = table.rows.find(({ cells: [name] }) => name === 'podset');
    assert.deepEqual(podset?.cells.slice(1, 5), ['True', 'Running', 'PodSet', 0]);

    // A status that follows another one is written after up to five seconds.
    await shared.audit.quiet(6_000, { ofDefinitions: true });
    const since = shared.audit.mark();
    await shared.audit.quiet(20_000, { ofDefinitions: true });
    assert.deepEqual(shared.audit.atRest({ since, ofDefinitions: true }), []);
    await write(namespace, {});
    await client.untilList(collection, (items) => items.length === 0);
    await end(process);
  });

  test('an error is reported with its place, what ran continues, and a restart begins with that', async () => {
    const [namespace, home] = [await shared.namespace(), await shared.namespace()];
    const good = thingDefinition('restarted', shows('one'));
    let process = start(namespace);
    await write(namespace, { 'thing.yaml': good });
    await untilDefinition('restarted', isReady);
    await shared.client().apply(thing('restarted', home, 'first'));
    await untilText(home, 'first', 'one');

    await write(namespace, { 'thing.yaml': good.replace('children:', 'childern:') });
    const rejected = await untilDefinition(
      'restarted',
      (object) => conditionOf(object)?.reason === 'Rejected',
    );
    assert.match(
      conditionOf(rejected, 'Accepted')?.message ?? '',
      /thing\.yaml:\d+:3: Unknown field "childern"\. Did you mean "children"\?/,
    );
    assert.equal(conditionOf(rejected, 'Running')?.status, 'True');
    await untilEvent(namespace, 'Rejected');
    await shared.client().apply(thing('restarted', home, 'second'));
    await untilText(home, 'second', 'one');

    await end(process);
    process = start(namespace);
    await process.whenLogged('Definition running');
    await shared.client().apply(thing('restarted', home, 'third'));
    await untilText(home, 'third', 'one');
    await untilDefinition(
      'restarted',
      (object) =>
        conditionOf(object)?.reason === 'Rejected' &&
        conditionOf(object, 'Running')?.status === 'True',
    );

    const odd = `${shows('two')}  vars: { odd: no }\n`;
    await write(namespace, { 'thing.yaml': thingDefinition('restarted', odd) });
    await untilText(home, 'first', 'two');
    const accepted = conditionOf(await untilDefinition('restarted', isReady), 'Accepted');
    assert.match(
      accepted?.message ?? '',
      /\nWarning: configmap .*:\d+:\d+: Plain "no" is a string/,
    );
    await untilDefinition('restarted', (object) => {
      const { revision, revisions } = statusOf(object);
      const kept = revisions as readonly { readonly revision: string }[] | undefined;
      return isReady(object) && kept?.length === 1 && kept[0]?.revision === revision;
    });
    await end(process);
  });

  test('an accepted warning is no longer reported, and is no new revision', async () => {
    const [namespace, home] = [await shared.namespace(), await shared.namespace()];
    const process = start(namespace);
    const odd = `${shows('one')}  vars: { odd: no }\n`;
    const warned = (object: KubeObject | undefined) =>
      conditionOf(object, 'Accepted')?.message?.includes('Warning:') === true;
    await write(namespace, { 'thing.yaml': thingDefinition('answered', odd) });
    const before = await untilDefinition('answered', (object) => isReady(object) && warned(object));
    await shared.client().apply(thing('answered', home, 'first'));
    await untilText(home, 'first', 'one');

    const entry =
      '{ code: ambiguous-yaml, path: /spec/vars/odd, reason: No tool but this one reads it }';
    const text = thingDefinition('answered', `${odd}  acceptedWarnings: [${entry}]\n`);
    await write(namespace, { 'thing.yaml': text });
    const after = await untilDefinition('answered', (object) => isReady(object) && !warned(object));
    assert.deepEqual(
      [statusOf(after).revision, statusOf(after).rollout],
      [statusOf(before).revision, undefined],
    );
    await write(namespace, { 'thing.yaml': text.replace('ambiguous-yaml', 'duplicate-id') });
    await untilDefinition(
      'answered',
      (object) =>
        conditionOf(object, 'Accepted')?.message?.includes('There is no warning "duplicate-id"') ===
        true,
    );
    await end(process);
  });

  test('a renamed ConfigMap, a mirror deleted by hand: nothing else is deleted', async () => {
    const [namespace, home] = [await shared.namespace(), await shared.namespace()];
    const text = thingDefinition('renamed', shows('one'));
    const process = start(namespace);
    const client = shared.client();
    await write(namespace, { 'thing.yaml': text }, 'before');
    await untilDefinition('renamed', isReady);
    await client.apply(thing('renamed', home, 'kept'));
    await untilText(home, 'kept', 'one');
    const since = shared.audit.mark();

    await write(namespace, { 'thing.yaml': text }, 'after');
    await client.delete(`/api/v1/namespaces/${namespace}/configmaps/before`);
    const ref = `${namespace}/after/thing.yaml`;
    const moved = await untilDefinition(
      'renamed',
      (object) => object?.metadata.annotations?.['homeostat.dev/source-ref'] === ref,
    );
    await client.delete(`${collection}/renamed`);
    await untilDefinition(
      'renamed',
      (object) => isReady(object) && object?.metadata.uid !== moved?.metadata.uid,
    );
    const deleted = shared.audit
      .entries({ since, ofDefinitions: true })
      .filter(({ verb }) => verb === 'delete');
    assert.deepEqual(deleted, []);

    await client.delete(`/api/v1/namespaces/${namespace}/configmaps/after`);
    await client.untilGone(`${collection}/renamed`);
    assert.ok(await client.get(`/api/v1/namespaces/${home}/configmaps/kept`));
    await end(process);
  });

  test('a kind that is not there has a condition', async () => {
    const namespace = await shared.namespace();
    const process = start(namespace);
    await write(namespace, {
      'waits.yaml': `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: waits }
spec:
  for: { apiVersion: nowhere.example.com/v1, kind: Nothing }
${shows('x')}`,
    });
    const waiting = await untilDefinition(
      'waits',
      (object) => conditionOf(object)?.reason === 'KindMissing',
    );
    assert.equal(conditionOf(waiting, 'KindAvailable')?.status, 'False');
    assert.equal(conditionOf(waiting, 'Accepted')?.status, 'True');
    await end(process);
  });

  test('an object of a user is served from itself, and pauses by an annotation', async () => {
    const [namespace, home] = [await shared.namespace(), await shared.namespace()];
    const process = start(namespace);
    const client = shared.client();
    await write(namespace, {});
    await process.whenLogged('Starting');
    const object = parseYaml(thingDefinition('own', shows('one'))) as KubeObject;
    await client.untilList(collection, () => true);
    await client.apply(object);
    await untilDefinition('own', isReady);
    await client.apply(thing('own', home, 'mine'));
    await untilText(home, 'mine', 'one');
    await client.patch(`${collection}/own`, {
      metadata: { annotations: { 'homeostat.dev/paused': 'true' } },
    });
    const paused = await untilDefinition('own', (each) => conditionOf(each)?.reason === 'Paused');
    assert.deepEqual(paused?.spec, object.spec);
    assert.equal(statusOf(paused).observedGeneration, paused?.metadata.generation);
    await client.delete(`${collection}/own`);
    await client.untilGone(`${collection}/own`);
    await end(process);
  });

  test('of two replicas the leader alone shows definitions; the other one continues where it stopped', async () => {
    const namespace = await shared.namespace();
    const group = 'rbac.authorization.k8s.io';
    await shared.client().apply({
      apiVersion: `${group}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'second' },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: group, kind: 'User', name: 'second' }],
    });
    const flags = ['--leader-elect'];
    const text = thingDefinition('elected', shows('one'));
    const first = start(namespace, { flags });
    await first.whenLogged('Became leader');
    const second = start(namespace, { user: 'second', flags });
    await second.whenLogged('Follower, another process is the leader');
    await write(namespace, { 'thing.yaml': text });
    const shown = await untilDefinition('elected', isReady);
    await untilStatus(second, '/readyz', 200);
    const writesOfSecond = () =>
      shared.audit
        .entries({ user: 'second', ofDefinitions: true })
        .filter(
          ({ verb, resource }) => !/^(get|list|watch)$/.test(verb) && !/review/.test(resource),
        );
    assert.deepEqual(writesOfSecond(), []);

    await end(first);
    await second.whenLogged('Became leader');
    await write(namespace, { 'thing.yaml': text.replace('children:', 'childern:') });
    const rejected = await untilDefinition(
      'elected',
      (object) => conditionOf(object)?.reason === 'Rejected',
    );
    assert.equal(rejected?.metadata.uid, shown?.metadata.uid);
    await write(namespace, {});
    await shared.client().untilGone(`${collection}/elected`);
    await end(second);
  });

  function untilEvent(namespace: string, reason: string): Promise<unknown> {
    return shared
      .client()
      .untilList(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`, (events) =>
        events.some((event) => event.reason === reason),
      );
  }
});
