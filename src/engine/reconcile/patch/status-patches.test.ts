import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

const report = (more = '', kind = 'Service') => `
  patches:
    - id: report
      when: \${ $not(spec.off = true) }
      target: { apiVersion: v1, kind: ${kind}, name: target }
      status: true
      ${more}
      patch: { status: { loadBalancer: { ingress: [{ ip: "\${ spec.ip }" }] } } }
`;

async function harnessOf(body: string): Promise<OperatorHarness> {
  const harness = new OperatorHarness(planOfPodSet(body));
  await harness.start();
  return harness;
}

function service(harness: OperatorHarness): KubeObject {
  const metadata = { name: 'target', namespace: 'default' };
  const spec = { ports: [{ port: 80 }] };
  return harness.cluster.server.put({ apiVersion: 'v1', kind: 'Service', metadata, spec }).object;
}

const statusOf = (harness: OperatorHarness) => harness.get('v1', 'Service', 'target')?.status;
const ingress = (ip: string) => ({ loadBalancer: { ingress: [{ ip }] } });

describe('reconcile/patch of a status', () => {
  test('is sent to the subresource, only when it differs, and stays', async () => {
    const harness = await harnessOf(report());
    service(harness);
    const one = harness.podSet('one', { ip: '10.0.0.1' });
    await harness.settle();
    assert.deepEqual(statusOf(harness), ingress('10.0.0.1'));
    assert.ok(harness.cluster.takeWrites().includes('status Service/target'));
    await harness.runOne('default/one');
    await harness.restart(planOfPodSet(report()));
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), []);
    harness.edit(one, { spec: { ip: '10.0.0.2' } });
    await harness.settle();
    assert.deepEqual(statusOf(harness), ingress('10.0.0.2'));
    harness.remove(one);
    await harness.settle();
    assert.deepEqual(statusOf(harness), ingress('10.0.0.2'));
  });

  test('is withdrawn, and costs nothing after a restart', async () => {
    const withdrawn = report('withdraw: true');
    const harness = await harnessOf(withdrawn);
    service(harness);
    const one = harness.podSet('one', { ip: '10.0.0.1' });
    await harness.settle();
    assert.deepEqual(statusOf(harness), ingress('10.0.0.1'));
    harness.cluster.takeWrites();
    await harness.restart(planOfPodSet(withdrawn));
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), []);
    harness.edit(one, { spec: { ip: '10.0.0.1', off: true } });
    await harness.settle();
    assert.deepEqual(statusOf(harness) ?? {}, {});
    harness.edit(one, { spec: { ip: '10.0.0.1' } });
    await harness.settle();
    harness.remove(one);
    await harness.settle();
    assert.deepEqual(statusOf(harness) ?? {}, {});
    assert.equal(harness.get('apps.example.com/v1', 'PodSet', 'one'), undefined);
  });

  test('of a kind without a status subresource is an error', async () => {
    const harness = await harnessOf(
      report('', 'ConfigMap').replace(/patch: .*/, 'patch: { status: { a: b } }'),
    ).catch((error: unknown) => String(error));
    if (typeof harness === 'string') {
      assert.match(harness, /status/);
      return;
    }
    harness.podSet('one', {});
    await harness.settle();
    assert.match(harness.ready('one'), /"ConfigMap" has no status subresource/);
  });
});
