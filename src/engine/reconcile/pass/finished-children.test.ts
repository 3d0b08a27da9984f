import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { type FinishedChild, FinishedChildren } from './finished-children.ts';

const annotation = 'finished.homeostat.dev/mine';

function childrenOf(text?: string): FinishedChildren {
  const annotations = text === undefined ? {} : { [annotation]: text };
  const resource: KubeObject = {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name: 'a', annotations },
  };
  return new FinishedChildren(resource, 'mine');
}

/** As a Job controller reports it. */
const ended: FinishedChild = {
  child: 'nightly-imports',
  intent: '0123456789abcdef',
  status: {
    succeeded: 1,
    conditions: ['SuccessCriteriaMet', 'Complete'].map((type) => ({
      type,
      status: 'True',
      reason: 'CompletionsReached',
    })),
  },
};

const record = (message: string): FinishedChild => ({
  child: 'job',
  intent: '0123456789abcdef',
  uid: 'u',
  status: {
    succeeded: 1,
    conditions: [
      { type: 'Suspended', status: 'False' },
      { type: 'Complete', status: 'True', reason: 'Done', message },
    ],
  },
});

describe('reconcile/pass: finished children', () => {
  test('what was stored is read again, and unchanged records are not written', () => {
    const first = childrenOf();
    assert.equal(first.isEmpty, true);
    first.set('batch/Job default/b', record('b'));
    first.set('batch/Job default/a', record('a'));
    const text = first.takeChange()?.[annotation] ?? '';
    assert.deepEqual(Object.keys(JSON.parse(text)), ['batch/Job default/a', 'batch/Job default/b']);
    assert.equal(first.takeChange(), undefined);
    const second = childrenOf(text);
    assert.deepEqual(second.records.get('batch/Job default/b'), record('b'));
    assert.equal(second.takeChange(), undefined);
  });

  test('the last record removes the annotation', () => {
    const finished = childrenOf(JSON.stringify({ 'batch/Job default/a': record('a') }));
    finished.delete('batch/Job default/none');
    assert.equal(finished.takeChange(), undefined);
    finished.delete('batch/Job default/a');
    assert.deepEqual(finished.takeChange(), { [annotation]: null });
  });

  for (const text of ['{', '[]', 'null', '{"a":1}', '{"a":{"child":"x"}}'])
    test(`an edited annotation has no records: ${text}`, () => {
      assert.equal(childrenOf(text).records.size, 0);
    });

  test('many records keep the true conditions only, and fit', () => {
    const finished = childrenOf();
    for (let index = 0; index < 1_000; index++)
      finished.set(`batch/Job default/${'n'.repeat(40)}-${index}`, record('m'.repeat(500)));
    const text = finished.takeChange()?.[annotation] ?? '';
    assert.ok(text.length < 240 * 1_024, String(text.length));
    const [kept] = childrenOf(text).records.values();
    const conditions = [{ type: 'Complete', status: 'True', reason: 'Done' }];
    assert.deepEqual(kept, { child: 'job', intent: '0123456789abcdef', status: { conditions } });
  });

  test('as many records as a resource has children, with the longest names, fit into an object', () => {
    const finished = childrenOf();
    const identities = Array.from(
      { length: 2_000 },
      (_, index) => `batch/Job ${'s'.repeat(63)}/${'n'.repeat(59)}${1_000 + index}`,
    );
    for (const identity of identities) finished.set(identity, ended);
    finished.set('/Pod default/one', { ...ended, status: { phase: 'Succeeded' } });
    const text = finished.takeChange()?.[annotation] ?? '';
    assert.ok(text.length < 240 * 1_024, String(text.length));
    const { records } = childrenOf(text);
    assert.equal(records.size, 2_001);
    const conditions = [
      { type: 'SuccessCriteriaMet', status: 'True' },
      { type: 'Complete', status: 'True' },
    ];
    assert.deepEqual(records.get(identities[7] ?? ''), { ...ended, status: { conditions } });
    assert.deepEqual(records.get('/Pod default/one')?.status, {
      phase: 'Succeeded',
      conditions: [],
    });
  });
});
