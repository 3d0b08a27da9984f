import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { RemoteRecords } from '#console';
import { DirectRecords } from '#console/node/index.ts';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import type { ReconcileRecord } from '#web';
import { isEstablished, useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { useMembers } from '../support/members.ts';

const shared = useControlPlane({ controllerManager: false });
const launch = useRuntimes(shared);

const definition = thingDefinition(
  'recorded',
  `  children:
    - id: settings
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { value: "\${ spec.value }" }
    - id: later
      when: "\${ spec.value = 'b' }"
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-later" }
        data: { value: "\${ spec.value }" }
`,
);

shared.describe('integration/console-records', () => {
  const members = useMembers(shared, ['east']);
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-records-'));
  const tokenFile = join(folder, 'token');
  let homeostat: HomeostatRuntime;
  let namespace: string;
  before(async () => {
    writeFileSync(tokenFile, 'a-token-of-the-test\n');
    homeostat = launch({
      definitions: { 'recorded.yaml': definition },
      flags: [
        ...['--console-records', tokenFile, '--sources', 'directories,objects'],
        ...['--namespace', 'homeostat-test', '--cluster-secrets', 'default'],
      ],
    });
    await homeostat.whenReady();
    namespace = await shared.namespace();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  async function recordsOf(name: string, token = 'a-token-of-the-test') {
    const client = new DirectRecords({
      url: await homeostat.url(),
      readToken: async () => token,
    });
    const { clock } = homeostat;
    return { client, records: new RemoteRecords({ client, clock }), ref: refOf(name) };
  }
  const refOf = (name: string) => {
    const { apiVersion, kind } = thing('recorded', namespace, {}, name);
    return { apiVersion, kind, namespace, name };
  };

  /** The records of a resource, until one satisfies the condition. */
  async function untilRecorded(
    name: string,
    isExpected: (record: ReconcileRecord) => boolean,
  ): Promise<ReconcileRecord> {
    const { records, ref } = await recordsOf(name);
    const stopper = new AbortController();
    for await (const record of records.follow(ref, stopper.signal)) {
      if (!isExpected(record)) continue;
      stopper.abort();
      return record;
    }
    return assert.fail('The stream has ended');
  }

  async function applyThing(name: string, spec: object): Promise<void> {
    const client = shared.client();
    await client.apply(thing('recorded', namespace, spec, name));
    await client.untilObject(
      thingPath('recorded', namespace, name),
      (object) => conditionOf(object)?.status === 'True',
    );
  }

  test('a reconcile is recorded with its trigger, children, requests and phases', async () => {
    await applyThing('one', { value: 'a' });
    const created = await untilRecorded('one', ({ children }) =>
      children.some(({ verdict }) => verdict === 'created'),
    );
    assert.match(created.trigger.text, /one was created/);
    assert.deepEqual(
      created.children.map(({ id, verdict }) => [id, verdict]),
      [
        ['settings', 'created'],
        ['later', 'omitted'],
      ],
    );
    assert.match(created.children[0]?.digest ?? '', /^[0-9a-f]{10}$/);
    assert.deepEqual(
      created.requests.map(({ verb, object, code }) => [verb, object, code]).slice(0, 1),
      [['apply', `ConfigMap ${namespace}/one`, 201]],
    );
    assert.match(created.requests.at(-1)?.object ?? '', /\/status$/);
    assert.deepEqual(
      created.phases.map(({ name }) => name),
      ['reads', 'children', 'prune', 'report', 'status'],
    );
    assert.deepEqual([created.status, created.end], ['written', 'done']);
  });

  test('an edit is the trigger of the next one, and the digest follows the desired object', async () => {
    await applyThing('two', { value: 'a' });
    const first = await untilRecorded('two', ({ children }) => children.length > 0);
    await applyThing('two', { value: 'b' });
    const second = await untilRecorded(
      'two',
      ({ trigger }) => trigger.kind === 'edit' && /spec\.value/.test(trigger.text),
    );
    // A text may be secret: only its path is recorded.
    assert.match(second.trigger.text, /was edited: spec\.value$/);
    const verdicts = second.children.map(({ id, verdict }) => [id, verdict]);
    assert.deepEqual(verdicts, [
      ['settings', 'applied'],
      ['later', 'created'],
    ]);
    assert.notEqual(second.children[0]?.digest, first.children[0]?.digest);
    const { client } = await recordsOf('two');
    assert.doesNotMatch(
      JSON.stringify(await client.read({ ...refOf('two') }, new AbortController().signal)),
      /"value":"[ab]"/,
    );
  });

  test('a deletion of a child by a user is recorded as the trigger, and as what repaired it', async () => {
    await applyThing('three', { value: 'a' });
    await shared.client().delete(`/api/v1/namespaces/${namespace}/configmaps/three`);
    const repaired = await untilRecorded('three', ({ trigger }) =>
      /ConfigMap .*three was deleted/.test(trigger.text),
    );
    assert.equal(repaired.trigger.kind, 'event');
    assert.deepEqual(repaired.trigger.objects[0], {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      namespace,
      name: 'three',
    });
    assert.equal(repaired.children[0]?.verdict, 'created');
  });

  test('reconciles in a member cluster are recorded with its name', async () => {
    const client = shared.client();
    await client.untilList('/apis/homeostat.dev/v1alpha1/operatordefinitions', () => true);
    const inMembers = definition
      .replaceAll('recorded', 'placed')
      .replace(
        '  children:',
        '  controller: { clusters: { selector: { matchLabels: { placed: "true" } } } }\n  children:',
      );
    await client.apply(parseYaml(inMembers) as KubeObject);
    const clusterCrd =
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusters.homeostat.dev';
    await client.untilObject(clusterCrd, isEstablished);
    await members.register('east', { labels: { placed: 'true' } });
    await members.untilReason('east', 'Connected');
    const member = members.client('east');
    const crd = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.placed.example.com';
    await member.untilObject(crd, isEstablished);
    await member.apply(thing('placed', 'default', { value: 'a' }, 'one'));
    const records = new RemoteRecords({
      client: (await recordsOf('one')).client,
      clock: homeostat.clock,
      cluster: 'east',
    });
    const { apiVersion, kind } = thing('placed', 'default', {}, 'one');
    const stopper = new AbortController();
    const ref = { apiVersion, kind, namespace: 'default', name: 'one' };
    for await (const { children } of records.follow(ref, stopper.signal)) {
      if (!children.some(({ verdict }) => verdict === 'created')) continue;
      stopper.abort();
    }
  });

  test('requests that are none of the console get a status and no record', async () => {
    const url = await homeostat.url();
    const authorization = 'Bearer a-token-of-the-test';
    const { apiVersion, kind } = refOf('one');
    const query = `apiVersion=${encodeURIComponent(apiVersion)}&kind=${kind}&namespace=${namespace}&name=one`;
    const statusOf = async (path: string, init: RequestInit = { headers: { authorization } }) => {
      const response = await fetch(`${url}/records${path}`, init);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      const text = await response.text();
      if (response.status !== 200) assert.doesNotMatch(text, /trigger|a-token/);
      return response.status;
    };
    assert.equal(await statusOf(`?${query}`), 200);
    for (const wrong of [
      `?${query}&after=-1`,
      `?${query}&after=1e3`,
      `?${query}&after=9999999999999999`,
      `?${query}&after=0&after=1`,
      `?${query.replace('name=one', 'name=')}`,
      `?${query.replace('name=one', 'name[]=one')}`,
      `?${query.replace('kind=', 'kind[__proto__]=')}`,
      '?name=one',
      '?__proto__=one',
    ])
      assert.equal(await statusOf(wrong), 400, wrong);
    for (const headers of [
      {},
      { authorization: 'Bearer ' },
      { authorization: 'Bearer a-token-of-the-tes' },
      { authorization: `${authorization}x` },
      { authorization: 'Basic a-token-of-the-test' },
      { 'x-homeostat-records-token': '' },
      { 'x-homeostat-records-token': 'another', authorization },
      { cookie: 'token=a-token-of-the-test' },
    ])
      assert.equal(await statusOf(`?${query}&token=a-token-of-the-test`, { headers }), 401);
    for (const odd of [
      query.replace('name=one', 'name=__proto__'),
      query.replace('name=one', `name=${'x'.repeat(10_000)}`),
      `${query}&cluster=__proto__`,
      `${query}&cluster=${encodeURIComponent('../east')}`,
    ]) {
      const response = await fetch(`${url}/records?${odd}`, { headers: { authorization } });
      assert.deepEqual(((await response.json()) as { records: unknown }).records, [], odd);
    }
  });

  test('a token file that is replaced counts at once; without a token, nothing is served', async () => {
    const { signal } = new AbortController();
    const { client } = await recordsOf('one');
    const changed = (await recordsOf('one', 'the-token-after-that')).client;
    writeFileSync(tokenFile, 'the-token-after-that');
    assert.ok(await changed.read({}, signal));
    await assert.rejects(async () => client.read({}, signal), /rejects the token/);
    for (const text of ['', 'short', 'with spaces in the token']) {
      writeFileSync(tokenFile, text);
      for (const token of ['the-token-after-that', text])
        await assert.rejects(async () => (await recordsOf('one', token)).client.read({}, signal));
    }
    rmSync(tokenFile);
    execFileSync('mkfifo', [tokenFile]);
    await assert.rejects(async () => changed.read({}, signal));
    rmSync(tokenFile);
    writeFileSync(tokenFile, 'a-token-of-the-test');
    assert.ok(await client.read({}, signal));
  });

  test('a client without the token gets nothing, and the work queues need it too', async () => {
    const { records, ref } = await recordsOf('one', 'another-token-0123');
    const { signal } = new AbortController();
    assert.match((await records.findProblem(signal)) ?? '', /rejects the token/);
    await assert.rejects(async () => {
      for await (const _ of records.follow(ref, signal)) assert.fail('A record was sent');
    }, /rejects the token/);
    const permitted = await recordsOf('one');
    assert.equal(await permitted.records.findProblem(signal), undefined);
    assert.ok('recorded' in (await permitted.records.queues(signal)));
  });
});
