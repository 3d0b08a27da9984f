import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { type HandmadeChild, planOf } from '../../../../test/support/fakes/handmade-plan.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { podSetPlan } from '../../../../test/support/fakes/podset-plan.ts';

const key = 'default/a';

/** Messages above debug. */
function loggedIn(harness: OperatorHarness): readonly string[] {
  return harness.log
    .filter(({ level }) => level !== 'debug')
    .map(({ level, msg }) => `${level} ${msg}`);
}

function configMapChild(id: string): HandmadeChild {
  return { id, apiVersion: 'v1', kind: 'ConfigMap', template: () => ({ metadata: { name: id } }) };
}

/** A PodSet whose applies fail so. */
async function failing(error: KubeError): Promise<OperatorHarness> {
  const harness = new OperatorHarness(podSetPlan());
  await harness.start();
  harness.cluster.fault = ({ verb }) => (verb === 'apply' ? error : undefined);
  harness.podSet('a', { size: 1 });
  harness.cluster.deliver();
  for (let run = 0; run < 4; run++) await harness.runOne(key);
  return harness;
}

describe('reconcile/tell-failures', () => {
  test('a failure that repeats is reported once, in the log and in an Event', async () => {
    const harness = await failing(new KubeError('server-error', 'broken', { status: 500 }));
    assert.equal(
      loggedIn(harness).filter((line) => line === 'warn Reconcile is blocked').length,
      1,
    );
    assert.equal(harness.cluster.reported.length, 1);
  });

  test('one Event and one line name all children that fail for the same reason, ten of them by name', async () => {
    const ids = Array.from({ length: 12 }, (_, index) => `c${index}`);
    const harness = new OperatorHarness(podSetPlan({ children: ids.map(configMapChild) }));
    await harness.start();
    const message = 'exceeded quota: small';
    harness.cluster.fault = ({ verb, name }) => {
      if (verb !== 'apply') return undefined;
      const other = new KubeError('rejected', 'too long', { status: 422 });
      return name === 'c3' ? other : new KubeError('quota-exceeded', message, { status: 403 });
    };
    harness.podSet('a', { size: 1 });
    harness.cluster.deliver();
    await harness.runOne(key);
    const quoted = ids.filter((id) => id !== 'c3').map((id) => `${id} "${id}"`);
    assert.deepEqual(
      harness.cluster.reported.map(({ reason, note }) => [reason, note]),
      [
        ['ApplyFailed', `${quoted.slice(0, 10).join(', ')} and 1 more: ${message}`],
        ['ApplyFailed', 'c3 "c3": too long'],
      ],
    );
    assert.deepEqual(
      harness.log.filter(({ msg }) => msg === 'Reconcile is blocked').map(({ detail }) => detail),
      harness.cluster.reported.map(({ note }) => note),
    );
  });

  test('what fails in many ways at once is ten Events and lines, and the number of the others', async () => {
    const ids = Array.from({ length: 50 }, (_, index) => `c${index}`);
    const harness = new OperatorHarness(podSetPlan({ children: ids.map(configMapChild) }));
    await harness.start();
    harness.cluster.fault = ({ verb, name }) =>
      verb === 'apply' ? new KubeError('rejected', `no ${name}`, { status: 422 }) : undefined;
    harness.podSet('a', { size: 1 });
    harness.cluster.deliver();
    await harness.runOne(key);
    assert.equal(harness.cluster.reported.length, 10);
    assert.equal(harness.log.filter(({ msg }) => msg === 'Reconcile is blocked').length, 10);
    const more = harness.log.filter(({ msg }) => msg === 'Reconcile is blocked for more reasons');
    assert.deepEqual(
      more.map(({ left }) => left),
      [40],
    );
  });

  test('an outage is not reported resource by resource', async () => {
    const harness = await failing(new KubeError('unavailable', 'no answer', { status: 0 }));
    assert.ok(!loggedIn(harness).includes('warn Reconcile is blocked'));
    assert.deepEqual(harness.cluster.reported, []);
    const blocked = harness.log.filter(({ msg }) => msg === 'Reconcile is blocked');
    assert.deepEqual(
      blocked.map(({ level }) => level),
      ['debug'],
    );
  });

  test('a resource that never settles is reported, and then runs in silence', async () => {
    const harness = new OperatorHarness(
      planOf({
        status: {
          count: ({ resource }) =>
            ((resource.status as { count?: number } | undefined)?.count ?? 0) + 1,
        },
        statusPathsRead: [['status', 'count']],
      }),
    );
    await harness.start();
    harness.podSet('a');
    await harness.settle();
    const runRested = async () => {
      await harness.clock.advance(300_000);
      await harness.runOne(key);
    };
    await runRested();
    assert.match(harness.ready('a'), /^False Unstable/);
    const before = loggedIn(harness).length;
    for (let run = 0; run < 5; run++) await runRested();
    assert.ok((harness.status('a').count as number) > 6);
    assert.equal(loggedIn(harness).length, before);
  });

  test('nothing is reported where nothing changes', async () => {
    const harness = new OperatorHarness(podSetPlan());
    await harness.start();
    harness.podSet('a', { size: 1 });
    await harness.settle();
    harness.log.length = 0;
    for (let run = 0; run < 3; run++) await harness.runOne(key);
    assert.deepEqual(harness.log, []);
  });
});
