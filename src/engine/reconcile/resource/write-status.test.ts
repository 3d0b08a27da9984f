import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MemberHarness, placedPlan } from '../../../../test/support/fakes/member-harness.ts';
import { TimedOperator } from '../../../../test/support/fakes/timed-operator.ts';

describe('reconcile/resource/write-status', () => {
  test('a report that a member connects follows after 20 s in all, also if events run the resource meanwhile', async () => {
    const harness = new MemberHarness(
      placedPlan(`
  children:
    - id: settings
      cluster: berlin
      crossCluster: { selector: all }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" }, data: { a: b } }
`),
    );
    harness.addMember('berlin');
    const timed = new TimedOperator(harness);
    await timed.start();
    const podSet = harness.podSet('a');
    await timed.pass(1);
    timed.restart();
    harness.disconnect('berlin');
    await timed.pass(60, {
      each: (second) => {
        if (second !== 10) return;
        const metadata = { ...podSet.metadata, labels: { touched: 'yes' } };
        harness.edit(podSet, { metadata });
      },
    });
    assert.ok(timed.runs.includes(10));
    assert.deepEqual(timed.sent('status'), [20]);
  });
});
