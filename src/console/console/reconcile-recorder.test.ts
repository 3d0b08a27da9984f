import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OperatorPlan } from '#compile';
import type { DecisionRecord, Intent } from '#reconcile';
import { createSystemRandom } from '#util/random.ts';
import type { ReconcileRecord } from '#web';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { ReconcileRecorder } from './reconcile-recorder.ts';

const gvk = { group: 'example.com', version: 'v1', kind: 'Thing' };
const plan = { name: 'thing', revision: 'abc', definition: { kind: { gvk } } } as OperatorPlan;
const resource = { apiVersion: 'example.com/v1', kind: 'Thing', namespace: 'ns', name: 'a' };
const decided: DecisionRecord = {
  children: [
    {
      childId: 'pod',
      apiVersion: 'v1',
      kind: 'Pod',
      namespace: 'ns',
      name: 'p',
      state: 'Ready',
      message: '',
      line: 1,
      verdict: { kind: 'applied', fields: ['spec.x'] },
    },
    {
      childId: 'late',
      apiVersion: 'v1',
      kind: 'Pod',
      namespace: 'ns',
      name: 'late',
      state: 'Waiting',
      message: 'Waits for children.pod',
      line: 2,
      verdict: { kind: 'waiting', on: ['children.pod to be ready'] },
    },
  ],
  status: 'written',
  isReady: true,
  problemCodes: [],
};
const stored = (generation: number, spec: object, status: object = {}) => ({
  object: {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name: 'a', namespace: 'ns', uid: 'u', generation },
    spec,
    status,
  },
  cluster: undefined,
  appliedBy: [],
});
const podOf = (status: object) => ({
  object: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'ns', uid: 'p' },
    status,
  },
  cluster: undefined,
  appliedBy: [],
});
const intentOf = (x: number): Intent => ({
  ref: {
    gvk: { group: '', version: 'v1', kind: 'Pod', cluster: undefined },
    namespace: 'ns',
    name: 'p',
  },
  identity: '',
  pathHash: '',
  manifest: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { x } },
});

/** Follows a resource until the test stops it. */
function followed(recorder: ReconcileRecorder, name = 'a') {
  const records: ReconcileRecord[] = [];
  const stopper = new AbortController();
  const ended = (async () => {
    for await (const each of recorder.follow({ ...resource, name }, stopper.signal))
      records.push(each);
  })();
  return { records, stop: () => stopper.abort(), ended };
}

function setUp(options: { readonly maxWeight?: number } = {}) {
  const clock = new FakeClock();
  const recorder = new ReconcileRecorder({ clock, random: createSystemRandom(), ...options });
  const trace = recorder.traceOf(plan);
  const reconcile = async (key = 'ns/a', by = trace) => {
    by.onBegin(key);
    by.onDecisions(key, decided);
    by.onEnd(key, { kind: 'done' });
    await settle();
  };
  const read = (name = 'a') => recorder.read({ ...resource, name }, 0).records;
  return { clock, recorder, trace, reconcile, read };
}

describe('console/reconcile-recorder', () => {
  test('records phases, requests, digests, verdicts and times of a reconcile', async () => {
    const { clock, trace, read } = setUp();
    trace.onEnqueue('ns/a', 'timer');
    await clock.advance(20);
    trace.onBegin('ns/a');
    trace.onPhase('ns/a', 'reads');
    await clock.advance(2);
    trace.onPhase('ns/a', 'children');
    trace.onDesired('ns/a', 'pod', intentOf(1));
    const { ref } = intentOf(1);
    const onResponse = trace.onRequest('ns/a', { verb: 'apply', ref });
    await clock.advance(5);
    onResponse(201);
    trace.onPhase('ns/a', 'reads');
    await clock.advance(1);
    trace.onRequest('ns/a', { verb: 'get', ref: { ...ref, isPrivate: true } })(404);
    trace.onDecisions('ns/a', decided);
    trace.onEnd('ns/a', { kind: 'requeue', afterMs: 100, reason: 'a limit' });
    const [record] = read();
    assert.ok(record);
    const { children, phases, requests, trigger, ...rest } = record;
    assert.deepEqual(
      children.map(({ id, verdict, detail, message }) => [id, verdict, detail, message]),
      [
        ['pod', 'applied', 'spec.x', ''],
        ['late', 'waiting', 'children.pod to be ready', 'Waits for children.pod'],
      ],
    );
    assert.match(children[0]?.digest ?? '', /^[0-9a-f]{10}$/);
    assert.equal(children[1]?.digest, '');
    assert.deepEqual(phases, [
      { name: 'reads', durationMs: 3 },
      { name: 'children', durationMs: 5 },
    ]);
    assert.deepEqual(requests, [
      { verb: 'apply', object: 'Pod ns/p', code: 201, durationMs: 5 },
      { verb: 'get', object: 'Pod (private)', code: 404, durationMs: 0 },
    ]);
    assert.deepEqual(trigger, { kind: 'timer', text: 'its schedule', objects: [] });
    assert.deepEqual(
      [rest.durationMs, rest.queuedMs, rest.status, rest.revision, rest.end, rest.reason],
      [8, 20, 'written', 'abc', 'requeue', 'a limit'],
    );
  });

  test('the digest changes with the desired object, and differs in another process', () => {
    const digestOf = (x: number, { trace, read } = setUp()) => {
      trace.onBegin('ns/a');
      trace.onDesired('ns/a', 'pod', intentOf(x));
      trace.onDecisions('ns/a', decided);
      trace.onEnd('ns/a', { kind: 'done' });
      return read().at(-1)?.children[0]?.digest;
    };
    const one = setUp();
    const first = digestOf(1, one);
    assert.equal(digestOf(1, one), first);
    assert.notEqual(digestOf(2, one), first);
    assert.notEqual(digestOf(1), first);
  });

  test('names the object that caused it, the fields of an edit, and no text values', async () => {
    const { trace, reconcile, read } = setUp();
    trace.onEnqueue('ns/a', 'change', {
      old: stored(1, { replicas: 1, password: 'old' }),
      current: stored(2, { replicas: 2, password: 'new' }),
    });
    trace.onEnqueue('ns/a', 'change', { old: podOf({}), current: podOf({ ready: 1 }) });
    await reconcile();
    assert.deepEqual(read()[0]?.trigger, {
      kind: 'edit',
      text: 'Thing ns/a was edited: spec.replicas 1 \u2192 2, spec.password, Pod ns/p changed its status',
      objects: [resource, { apiVersion: 'v1', kind: 'Pod', namespace: 'ns', name: 'p' }],
    });
  });

  const errorEnd = { kind: 'error', code: 'conflict' } as const;
  for (const [title, run, expected] of [
    ['the first of a process', () => undefined, ['start', 'the first reconcile of this process']],
    [
      'a list',
      (trace) => trace.onEnqueue('ns/a', 'start'),
      ['start', 'the first list of the runtime'],
    ],
    [
      'a resync',
      (trace) => trace.onEnqueue('ns/a', 'resync'),
      ['resync', 'a resync of all resources'],
    ],
  ] satisfies readonly [string, (trace: ReturnType<typeof setUp>['trace']) => void, string[]][])
    test(`names the trigger of ${title}`, async () => {
      const { trace, reconcile, read } = setUp();
      run(trace);
      await reconcile();
      const { kind, text } = read()[0]?.trigger ?? {};
      assert.deepEqual([kind, text], expected);
    });

  test('names a retry with the code of the error, a timer, and a new revision', async () => {
    const { recorder, trace, reconcile, read } = setUp();
    trace.onBegin('ns/a');
    trace.onEnd('ns/a', errorEnd);
    await reconcile();
    await reconcile();
    const next = recorder.traceOf({ ...plan, revision: 'def' });
    next.onEnqueue('ns/a', 'start');
    await reconcile('ns/a', next);
    assert.deepEqual(
      read().map(({ trigger: { kind, text }, end }) => [kind, text, end]),
      [
        ['start', 'the first reconcile of this process', 'error'],
        ['retry', 'a retry after conflict', 'done'],
        ['timer', 'its state depends on time', 'done'],
        ['reload', 'its definition changed to revision def', 'done'],
      ],
    );
  });

  test('nothing is recorded of a resource that does not exist', async () => {
    const { trace, read } = setUp();
    trace.onBegin('ns/a');
    trace.onEnd('ns/a', { kind: 'done' });
    assert.deepEqual(read(), []);
  });

  test('a page gets the last 200 records, then each that follows', async () => {
    const { recorder, reconcile } = setUp();
    for (let count = 0; count < 210; count++) await reconcile();
    const { records, stop, ended } = followed(recorder);
    await settle();
    assert.deepEqual([records.length, records[0]?.number], [200, 11]);
    await reconcile();
    assert.equal(records.at(-1)?.number, 211);
    stop();
    await ended;
  });

  test('above the bound, the records of the resources that are idle for longest are dropped', async () => {
    const { reconcile, read } = setUp({ maxWeight: 12 });
    await reconcile('ns/a');
    await reconcile('ns/b');
    await reconcile('ns/b');
    await reconcile('ns/a');
    await reconcile('ns/c');
    assert.deepEqual(
      ['a', 'b', 'c'].map((name) => read(name).map(({ number }) => number)),
      [[1, 4], [3], [5]],
    );
  });

  test('the records of a member cluster are apart', async () => {
    const { recorder, reconcile, read } = setUp();
    await reconcile('ns/a', recorder.inMember('eu').traceOf(plan));
    assert.equal(read().length, 0);
    assert.equal(recorder.read({ ...resource, cluster: 'eu' }, 0).records.length, 1);
  });

  test('another process reads the records after a number', async () => {
    const { recorder, reconcile } = setUp();
    await reconcile();
    await reconcile();
    assert.deepEqual(
      recorder.read(resource, 1).records.map(({ number }) => number),
      [2],
    );
  });
});
