import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { createTestSandbox } from '../../../test/support/backends/index.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { listField, objectField } from '../json-fields.ts';

const core = '/api/v1/namespaces/default';

/** A template that is valid, and whose Pods are rejected at their admission. */
const pod = (more: JsonObject = {}): JsonObject => ({
  metadata: { labels: { app: 'a' } },
  spec: { priorityClassName: 'none', containers: [{ name: 'c', image: 'c' }], ...more },
});
const selected = { selector: { matchLabels: { app: 'a' } }, template: pod() };

const controllers = [
  ['apps/v1', 'Deployment', 'deployments', selected, 'ReplicaSet'],
  ['apps/v1', 'ReplicaSet', 'replicasets', selected, 'ReplicaSet'],
  ['apps/v1', 'DaemonSet', 'daemonsets', selected, 'DaemonSet'],
  ['batch/v1', 'Job', 'jobs', { template: pod({ restartPolicy: 'Never' }) }, 'Job'],
] as const;

function sandboxOf(clock: FakeClock) {
  const onInternalError = (error: unknown) => assert.fail(String(error));
  const sandbox = createTestSandbox({ clock, onInternalError });
  const call = (method: string, path: string, body?: JsonObject): JsonObject => {
    const headers = { 'content-type': 'application/json' };
    const text = body === undefined ? '' : JSON.stringify(body);
    const answer = sandbox.handle({ method, path, headers, body: text });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.body}`);
    return JSON.parse(String(answer.body));
  };
  const events = (reason: string) =>
    listField(call('GET', `${core}/events`), 'items')
      .filter(isJsonObject)
      .filter((event) => event.reason === reason);
  return { call, events };
}

describe('sandbox/controllers/rejected-pods', () => {
  for (const [apiVersion, kind, plural, spec, owner] of controllers)
    test(`rejected Pods of a ${kind} are Events FailedCreate of the ${owner}, and are created when that is possible`, async () => {
      const clock = new FakeClock();
      const { call, events } = sandboxOf(clock);
      const path = `/apis/${apiVersion}/namespaces/default/${plural}`;
      call('POST', path, { apiVersion, kind, metadata: { name: 'x' }, spec });
      await clock.advance(100_000);
      // Each has the name of the Pod, which is generated; after growing delays.
      const found = events('FailedCreate');
      assert.ok(found.length > 0 && found.length < 10, String(found.length));
      for (const event of found) {
        const { kind: of } = objectField(event, 'involvedObject') ?? {};
        assert.deepEqual([event.type, of], ['Warning', owner]);
        assert.match(
          String(event.message),
          /^Error creating: pods "x-.*" is forbidden: no PriorityClass with name none was found$/,
        );
      }
      assert.deepEqual(call('GET', `${core}/pods`).items, []);
      call('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', {
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name: 'none' },
        value: 1,
      });
      await clock.advance(1_000_000);
      assert.equal(listField(call('GET', `${core}/pods`), 'items').length, 1);
    });

  test('a Deployment whose name is too long for its ReplicaSets has one with a cut name, as on a server of 1.36', async () => {
    const clock = new FakeClock();
    const { call, events } = sandboxOf(clock);
    const name = 'n'.repeat(250);
    const path = '/apis/apps/v1/namespaces/default/deployments';
    const kind = { apiVersion: 'apps/v1', kind: 'Deployment' };
    call('POST', path, { ...kind, metadata: { name }, spec: selected });
    await clock.advance(100_000);
    assert.deepEqual(events('ReplicaSetCreateError'), []);
    assert.equal(objectField(call('GET', `${path}/${name}`), 'status')?.observedGeneration, 1);
    const sets = listField(call('GET', path.replace('deployments', 'replicasets')), 'items');
    const names = sets.map((set) => isJsonObject(set) && objectField(set, 'metadata')?.name);
    assert.match(names.join(), /^n{242}-\w{10}$/);
  });

  test('a DaemonSet whose name is too long for its revisions gets no Pods, no status and no Event, as on a server', async () => {
    const clock = new FakeClock();
    const { call } = sandboxOf(clock);
    const path = '/apis/apps/v1/namespaces/default/daemonsets';
    const kind = { apiVersion: 'apps/v1', kind: 'DaemonSet' };
    const names = [250, 243, 242].map((length) => 'n'.repeat(length));
    for (const name of names) call('POST', path, { ...kind, metadata: { name }, spec: selected });
    await clock.advance(100_000);
    const seen = names.map((name) => objectField(call('GET', `${path}/${name}`), 'status') ?? {});
    assert.deepEqual(
      seen.map(({ observedGeneration }) => observedGeneration),
      [undefined, undefined, 1],
    );
    const owners = listField(call('GET', `${core}/events`), 'items').map((event) =>
      isJsonObject(event) ? objectField(event, 'involvedObject')?.name : undefined,
    );
    assert.deepEqual(
      names.map((name) => owners.includes(name)),
      [false, false, true],
    );
    for (const name of names) call('DELETE', `${path}/${name}`);
    await clock.advance(100_000);
    assert.deepEqual(call('GET', path).items, []);
  });
});
