import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ReconcileRecord } from '#web';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { type RecordsQuery, RemoteRecords } from './remote-records.ts';

const resource = { apiVersion: 'example.com/v1', kind: 'Thing', namespace: 'ns', name: 'a' };
const recordOf = (number: number): ReconcileRecord => ({
  number,
  time: '2026-01-01T00:00:00Z',
  durationMs: 1,
  queuedMs: 0,
  trigger: { kind: 'start', text: 'its start', objects: [] },
  revision: 'a',
  children: [],
  requests: [],
  phases: [],
  status: 'unchanged',
  isReady: true,
  end: 'done',
  reason: '',
});
const recordsOf = (...numbers: number[]) => numbers.map(recordOf);

/** Follows a resource; each request is answered with the next answer. */
function followed(answers: unknown[], options: { readonly cluster?: string } = {}) {
  const clock = new FakeClock();
  const asked: RecordsQuery[] = [];
  const client = {
    read: async (query: RecordsQuery) => {
      asked.push(query);
      return answers.shift() ?? { process: 'p', records: [] };
    },
  };
  const records = new RemoteRecords({ client, clock, ...options });
  const stopper = new AbortController();
  const numbers: number[] = [];
  const ended = (async () => {
    for await (const { number } of records.follow(resource, stopper.signal)) numbers.push(number);
  })();
  return { clock, asked, numbers, ended, records, stop: () => stopper.abort() };
}

describe('console/remote-records', () => {
  test('asks every second for what is newer', async () => {
    const { clock, asked, numbers, stop, ended } = followed([
      { process: 'p', records: recordsOf(3, 4) },
      { process: 'p', records: recordsOf(9) },
    ]);
    await settle();
    await clock.advance(1_000);
    await clock.advance(1_000);
    assert.deepEqual(numbers, [3, 4, 9]);
    assert.deepEqual(
      asked.map(({ after }) => after),
      ['0', '4', '9'],
    );
    stop();
    await ended;
  });

  test('starts again when another process answers, which counts from 1', async () => {
    const { clock, asked, numbers, stop, ended } = followed([
      { process: 'p', records: recordsOf(3) },
      { process: 'q', records: [] },
      { process: 'q', records: recordsOf(1) },
    ]);
    await settle();
    await clock.advance(1_000);
    assert.deepEqual(numbers, [3, 1]);
    assert.deepEqual(
      asked.map(({ after }) => after),
      ['0', '3', '0'],
    );
    stop();
    await ended;
  });

  test('asks no faster when two processes answer in turn', async () => {
    const answers = Array.from({ length: 100 }, (_, index) => ({
      process: index % 2 === 0 ? 'p' : 'q',
      records: recordsOf(1),
    }));
    const { clock, asked, stop, ended } = followed(answers);
    await settle();
    for (let second = 0; second < 3; second++) await clock.advance(1_000);
    assert.ok(asked.length <= 8, `${asked.length} requests`);
    stop();
    await ended;
  });

  test('does not keep a page waiting for a runtime that is slow, and asks one that answered no more', async () => {
    const clock = new FakeClock();
    const answers: PromiseWithResolvers<unknown>[] = [];
    const records = new RemoteRecords({
      clock,
      client: {
        read: () => {
          const answer = Promise.withResolvers<unknown>();
          answers.push(answer);
          return answer.promise;
        },
      },
    });
    const { signal } = new AbortController();
    const first = records.findProblem(signal);
    await settle();
    await clock.advance(500);
    assert.match((await first) ?? '', /has not answered yet/);
    const second = records.findProblem(signal);
    answers[0]?.resolve({ queues: {} });
    assert.equal(await second, undefined);
    assert.equal(await records.findProblem(signal), undefined);
    assert.equal(answers.length, 1);
  });

  test('names the member cluster', async () => {
    const { asked, stop, ended } = followed([], { cluster: 'eu' });
    await settle();
    assert.deepEqual(asked, [{ ...resource, cluster: 'eu', after: '0' }]);
    stop();
    await ended;
  });

  for (const [what, odd] of [
    ['null', null],
    ['a list', []],
    ['without a trigger', { ...recordOf(1), trigger: undefined }],
    ['with a number that is a text', { ...recordOf(1), number: '1' }],
    ['with children that are no list', { ...recordOf(1), children: { length: 1e9 } }],
    ['with a child that is a text', { ...recordOf(1), children: ['a'] }],
    ['with a message that is a map', { ...recordOf(1), reason: { toString: 'a' } }],
  ] as const)
    test(`a record that is ${what} is an error, and no record`, async () => {
      const answer = { process: 'p', records: [recordOf(1), odd] };
      const { ended, numbers } = followed([answer]);
      await assert.rejects(ended, /Expected records of reconciles/);
      assert.deepEqual(numbers, []);
    });

  test('an answer of something else is an error', async () => {
    const { ended, records } = followed(['<html>', {}]);
    await assert.rejects(ended, /Expected records of reconciles/);
    await assert.rejects(
      records.queues(new AbortController().signal),
      /Expected records of reconciles/,
    );
  });
});
