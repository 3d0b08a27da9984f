import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { KubeError, type Writer } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
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
  const server = { error: undefined as KubeError | undefined };
  const apply: Writer['apply'] = async (object) => {
    if (server.error) throw server.error;
    return { stored: { object, bytes: 0 }, created: false } as never;
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
    onWritten: ({ status }, after) => {
      written.push(`${(status as Status).state} -> ${after.state} ${after.count}`);
    },
  });
  return { clock, written, server, reporter };
}

describe('runtime/objects/status-reporter', () => {
  test('writes a status that the object does not have, and no other', async () => {
    const { reporter, written } = setUp();
    assert.equal(await reporter.report(thing('old'), { state: 'old', count: 0 }, signal), 0);
    assert.deepEqual(written, []);
    assert.equal(await reporter.report(thing('old'), { state: 'new', count: 0 }, signal), 0);
    assert.deepEqual(written, ['old -> new 0']);
  });

  test('counts are written less often, all writes at a limited rate', async () => {
    const { clock, reporter, written } = setUp();
    await reporter.report(thing('old'), { state: 'new', count: 0 }, signal);
    const delayMs = await reporter.report(thing('new'), { state: 'new', count: 1 }, signal);
    assert.equal(delayMs, 1_000);
    await clock.advance(1_000);
    assert.equal(await reporter.report(thing('new'), { state: 'new', count: 1 }, signal), 0);
    const restMs = await reporter.report(thing('new', 1), { state: 'newer', count: 1 }, signal);
    assert.ok(restMs !== undefined && restMs > 1_000);
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
