import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '../../util/kube-object.ts';
import { KnownMarks } from './known-marks.ts';

function object(metadata: object = {}, conditions: readonly object[] = []): KubeObject {
  return {
    apiVersion: 'homeostat.dev/v1alpha1',
    kind: 'OperatorDefinition',
    metadata: { name: 'thing', ...metadata },
    status: { conditions },
  };
}

const mirror = {
  labels: { 'homeostat.dev/source': 'configmap' },
  annotations: { 'homeostat.dev/source-ref': 'ns/ops/a.yaml' },
};
const running = [{ type: 'Running', status: 'True' }];

const table: readonly (readonly [string, KubeObject, object])[] = [
  [
    'a mirror: where its text stands',
    object(mirror),
    { origin: { source: 'configmap', ref: 'ns/ops/a.yaml' } },
  ],
  [
    'an object that runs: it has the name',
    object({}, running),
    { origin: { source: 'object', ref: 'thing' } },
  ],
  ['an object that never ran: nothing', object(), {}],
  [
    'marks of users',
    object({
      annotations: { 'homeostat.dev/paused': 'true', 'homeostat.dev/approve-deletions': 'r' },
    }),
    { isPaused: true, approvedDeletions: 'r' },
  ],
  [
    'marks that say no',
    object({
      annotations: { 'homeostat.dev/paused': 'false', 'homeostat.dev/approve-deletions': '' },
    }),
    {},
  ],
];

describe('runtime/objects/known-marks', () => {
  for (const [what, current, expected] of table) {
    test(what, () => {
      const marks = new KnownMarks();
      marks.note('thing', current);
      assert.deepEqual(marks.all.get('thing'), { name: 'thing', ...expected });
    });
  }

  test('tells of changes only, and of the end', () => {
    const marks = new KnownMarks();
    let calls = 0;
    const unsubscribe = marks.onChange(() => calls++);
    marks.note('thing', object(mirror));
    marks.note('thing', object({ ...mirror, resourceVersion: '2' }));
    assert.equal(calls, 1);
    marks.note('thing', undefined);
    assert.equal(calls, 2);
    assert.equal(marks.all.size, 0);
    unsubscribe();
    marks.note('thing', object());
    assert.equal(calls, 2);
  });
});
