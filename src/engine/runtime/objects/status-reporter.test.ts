import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError, type Writer } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { StatusReporter } from './status-reporter.ts';

interface Status {
  readonly state: string;
  readonly count: number;
}

const { signal } = new AbortController();

function thing(state: string, count = 0): KubeObject {
  const metadata = { name: 'a', uid: 'uid-a' };
  return { apiVersion: 'v1', kind: 'Thing', metadata, status: { state, count } };
}

function setUp() {
  const clock = new FakeClock();
  const written: string[] = [];
  const foreign: string[] = [];
  const server: { error?: KubeError; generation?: number } = {};
  const apply: Writer['apply'] = async (object) => {
    if (server.error) throw server.error;
    const { generation } = server;
    const metadata = { ...object.metadata, ...(generation !== undefined && { generation }) };
    return { stored: { object: { ...object, metadata }, bytes: 0 }, created: false } as never;
  };
  const reporter = new StatusReporter<Status>({
    cluster: { apply },
    clock,
    fieldManager: 'test',
    countsMs: 1_000,
    limits: { burst: 2, refillMs: 10_000 },
    writeOptionsOf: (name) => ({ flow: { name, priority: 'status' } }),
    hasStatus({ status }, { state, count }, ignoresCounts) {
      const live = status as Status;
      return live.state === state && (ignoresCounts || live.count === count);
    },

    onForeignChange: (name) => void foreign.push(name),
    onWritten: ({ status }, after) => {
      written.push(`${(status as Status).state} -> ${after.state} ${after.count}`);
    },
  });
  return { clock, written, foreign, server, reporter };
}

describe('runtime/objects/status-reporter', () => {
  test('writes a status that the object does not have, and no other', async () => {
    const { reporter, written } = setUp();
    const unchanged = await reporter.report(thing('old'), { state: 'old', count: 0 }, signal);
    assert.deepEqual(unchanged, { afterMs: 0, object: thing('old') });
    assert.deepEqual(written, []);
    const changed = await reporter.report(thing('old'), { state: 'new', count: 0 }, signal);
    assert.deepEqual([changed?.afterMs, changed?.object.status], [0, { state: 'new', count: 0 }]);
    assert.deepEqual(written, ['old -> new 0']);
  });

  test('a change of another client in the response of a write is reported, and the own write is not', async () => {
    const { reporter, foreign, server } = setUp();
    await reporter.report(thing('old'), { state: 'new', count: 0 }, signal);
    assert.deepEqual(foreign, []);
    server.generation = 2;
    await reporter.report(thing('old'), { state: 'newer', count: 0 }, signal);
    assert.deepEqual(foreign, ['a']);
  });

  test('counts are written less often, all writes at a limited rate', async () => {
    const { clock, reporter, written } = setUp();
    await reporter.report(thing('old'), { state: 'new', count: 0 }, signal);
    const early = await reporter.report(thing('new'), { state: 'new', count: 1 }, signal);
    assert.deepEqual(early, { afterMs: 1_000, object: thing('new') });
    await clock.advance(1_000);
    const late = await reporter.report(thing('new'), { state: 'new', count: 1 }, signal);
    assert.equal(late?.afterMs, 0);
    const resting = await reporter.report(thing('new', 1), { state: 'newer', count: 1 }, signal);
    assert.ok(resting !== undefined && resting.afterMs > 1_000);
    assert.equal(written.length, 2);
  });

  test('an object that is deleted or created again has no status to report; other errors are thrown', async () => {
    const { reporter, server, written } = setUp();
    server.error = new KubeError('uid-mismatch', 'Another one', { status: 409 });
    const status = { state: 'new', count: 0 };
    assert.equal(await reporter.report(thing('old'), status, signal), undefined);
    server.error = new KubeError('forbidden', 'No', { status: 403 });
    await assert.rejects(reporter.report(thing('old'), status, signal), { code: 'forbidden' });
    assert.deepEqual(written, []);
  });
});
