import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLogger, type Logger } from '#telemetry';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { type ApiScript, RecordedApi } from '../../../../test/support/recorded-api.ts';
import { freshMetrics, silentLogger } from '../../../../test/support/silent-telemetry.ts';
import { KubeError, type KubeErrorCode } from '../kube-error.ts';
import type { EventInput } from '../roles.ts';
import { createEventRecorder } from './event-recorder.ts';

const minuteMs = 60_000;
const well: ApiScript = () => ({ status: 201, body: {} });
const collection = '/apis/events.k8s.io/v1/namespaces/ns/events';

function failWith(code: KubeErrorCode): ApiScript {
  return () => {
    throw new KubeError(code, 'x', { status: 0 });
  };
}

function event(changes: Partial<EventInput> = {}): EventInput {
  return {
    regarding: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', namespace: 'ns', uid: 'u' },
    },
    type: 'Warning',
    reason: 'ApplyFailed',
    action: 'Apply',
    note: 'Cannot apply',
    definition: 'podset',
    ...changes,
  };
}

/** Different subjects, so that no burst limit holds them back. */
function on(name: string): EventInput {
  const metadata = { name, namespace: 'ns', uid: name };
  return event({ regarding: { apiVersion: 'v1', kind: 'Pod', metadata } });
}

function setUp(script: ApiScript = well, logger: Logger = silentLogger()) {
  const api = new RecordedApi(script);
  const clock = new FakeClock();
  const metrics = freshMetrics();
  let count = 0;
  const recorder = createEventRecorder({
    api,
    clock,
    metrics,
    random: { fraction: () => 0, text: () => `${count++}` },
    logger,
    instance: 'homeostat-host',
  });
  /** `create`, or the count that was written, of each request. */
  const reported = () =>
    api.requests.map(({ method, body }) =>
      method === 'POST' ? 'create' : (body as { series: { count: number } }).series.count,
    );
  const dropped = async (reason: string) => {
    const [, value] =
      new RegExp(`homeostat_events_dropped_total\\{reason="${reason}"\\} (\\d+)`).exec(
        await metrics.expose(),
      ) ?? [];
    return Number(value);
  };
  return { recorder, api, clock, reported, dropped };
}

describe('kube/event-recorder', () => {
  test('an Event is posted to its object, on behalf of its definition', async () => {
    const { recorder, api, clock } = setUp();
    recorder.record(event());
    assert.deepEqual(api.lines, [`POST ${collection}`]);
    assert.deepEqual(api.requests[0]?.flow, { name: 'podset', priority: 'event' });
    assert.deepEqual(api.requests[0]?.body, {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'web.0', namespace: 'ns' },
      eventTime: new Date(clock.nowMs()).toISOString().replace('Z', '000Z'),
      reportingController: 'homeostat.dev/podset',
      reportingInstance: 'homeostat-host',
      action: 'Apply',
      reason: 'ApplyFailed',
      regarding: { apiVersion: 'v1', kind: 'Pod', name: 'web', namespace: 'ns', uid: 'u' },
      note: 'Cannot apply',
      type: 'Warning',
    });
    await recorder.close();
  });

  test('the second occurrence makes a series, later ones only count', async () => {
    const { recorder, reported, api } = setUp();
    recorder.record(event());
    await settle();
    for (let index = 0; index < 5; index++) recorder.record(event());
    await settle();
    assert.deepEqual(reported(), ['create', 2]);
    assert.equal(api.lines[1], `PATCH ${collection}/web.0`);
    await recorder.close();
  });

  test('another note is another Event, within the burst of its object', async () => {
    const { recorder, reported, dropped } = setUp();
    for (let index = 0; index < 30; index++) recorder.record(event({ note: `number ${index}` }));
    await settle();
    assert.deepEqual(reported(), Array(25).fill('create'));
    assert.equal(await dropped('burst'), 5);
    await recorder.close();
  });

  test('a count waits until the event itself is there', async () => {
    const answers: (() => void)[] = [];
    const { recorder, reported } = setUp(
      () => new Promise((resolve) => answers.push(() => resolve({ status: 201, body: {} }))),
    );
    for (let index = 0; index < 3; index++) recorder.record(event());
    await settle();
    assert.deepEqual(reported(), ['create']);
    answers.shift()?.();
    await settle();
    assert.deepEqual(reported(), ['create', 3]);
    answers.shift()?.();
    await recorder.close();
  });

  test('a series is written every half hour, and at its end after six quiet minutes', async () => {
    const { recorder, clock, reported } = setUp();
    recorder.record(event());
    await settle();
    for (let minute = 0; minute < 35; minute++) {
      recorder.record(event());
      await clock.advance(minuteMs);
    }
    assert.deepEqual(reported(), ['create', 2, 31]);
    await clock.advance(6 * minuteMs);
    assert.deepEqual(reported(), ['create', 2, 31, 36]);
    recorder.record(event());
    await settle();
    assert.deepEqual(reported(), ['create', 2, 31, 36, 'create']);
    await recorder.close();
  });

  test('a series that ended without news is not written again, and no timer stays', async () => {
    const { recorder, clock, reported } = setUp();
    recorder.record(event());
    await clock.advance(10 * minuteMs);
    assert.deepEqual(reported(), ['create']);
    assert.equal(clock.pending, 0);
    await recorder.close();
  });

  for (const [what, changes] of [
    ['type', { type: 'Normal' }],
    ['reason', { reason: 'Other' }],
    ['action', { action: 'Other' }],
    ['definition', { definition: 'other' }],
    ['object', on('other')],
  ] as const) {
    test(`another ${what} is another Event`, async () => {
      const { recorder, reported } = setUp();
      recorder.record(event());
      recorder.record(event(changes));
      assert.deepEqual(reported(), ['create', 'create']);
      await recorder.close();
    });
  }

  test('an object gets 25 Events at once and then one in five minutes', async () => {
    const { recorder, clock, reported, dropped } = setUp();
    for (let index = 0; index < 30; index++) recorder.record(event({ reason: `R${index}` }));
    await settle();
    assert.equal(reported().length, 25);
    assert.equal(await dropped('burst'), 5);
    await clock.advance(5 * minuteMs);
    for (let index = 30; index < 33; index++) recorder.record(event({ reason: `R${index}` }));
    recorder.record(on('other'));
    await settle();
    assert.equal(reported().length, 27);
    await recorder.close();
  });

  test('a full queue drops the oldest, which is reported when it happens again', async () => {
    const { recorder, api, dropped } = setUp(() => new Promise(() => undefined));
    for (let index = 0; index < 1_010; index++) recorder.record(on(`pod-${index}`));
    await settle();
    assert.equal(api.requests.length, 4);
    assert.equal(await dropped('queue-full'), 6);
    recorder.record(on('pod-4'));
    assert.equal(await dropped('queue-full'), 7);
  });

  test('a failure of the server is waited out, twelve times', async () => {
    const { recorder, api, clock, dropped } = setUp(failWith('unavailable'));
    recorder.record(event());
    for (let tries = 1; tries < 12; tries++) {
      await settle();
      assert.equal(api.requests.length, tries);
      await clock.advance(10_000);
    }
    await settle();
    assert.equal(api.requests.length, 12);
    assert.equal(await dropped('rejected'), 1);
    await recorder.close();
  });

  test('an Event that got through at the second try continues as usual', async () => {
    const { recorder, api, clock, reported } = setUp(failWith('timeout'));
    recorder.record(event());
    await settle();
    api.answerBy(failWith('already-exists'));
    await clock.advance(10_000);
    api.answerBy(well);
    recorder.record(event());
    await settle();
    assert.deepEqual(reported(), ['create', 'create', 2]);
    await recorder.close();
  });

  for (const code of ['forbidden', 'namespace-terminating', 'rejected', 'not-found'] as const) {
    test(`"${code}" is not tried again`, async () => {
      const { recorder, api, clock, dropped } = setUp(failWith(code));
      recorder.record(event());
      await clock.advance(minuteMs);
      assert.equal(api.requests.length, 1);
      assert.equal(await dropped('rejected'), 1);
      await recorder.close();
    });
  }

  test('a right that is missing is reported once, is known while it is missing, and reported when it is there', async () => {
    const log: string[] = [];
    const destination = { write: (line: string) => log.push(JSON.parse(line).msg) };
    const right = { verb: 'create', group: 'events.k8s.io', resource: 'events', namespace: 'ns' };
    const { recorder, api } = setUp(
      () => {
        throw new KubeError('forbidden', 'no', { status: 403, right });
      },
      createLogger({ level: 'info', destination }),
    );
    assert.equal(recorder.denied, undefined);
    for (const name of ['a', 'b', 'c']) recorder.record(on(name));
    await settle();
    assert.deepEqual(recorder.denied, { namespaces: 1, right });
    assert.deepEqual(log, ['Events are denied, continuing without them']);
    api.answerBy(well);
    recorder.record(on('d'));
    await settle();
    assert.equal(recorder.denied, undefined);
    assert.deepEqual(log.slice(1), ['Events are written again']);
    await recorder.close();
  });

  test('a right that was missing ten minutes ago may be there: it is not known as missing any more', async () => {
    const { recorder, clock } = setUp(() => {
      throw new KubeError('forbidden', 'no', { status: 403 });
    });
    recorder.record(on('a'));
    await settle();
    await clock.advance(599_000);
    assert.deepEqual(recorder.denied, { namespaces: 1 });
    await clock.advance(1_000);
    assert.equal(recorder.denied, undefined);
    await recorder.close();
  });

  test('closing writes what is queued and the counts that are not known yet', async () => {
    const { recorder, reported } = setUp();
    for (let index = 0; index < 7; index++) recorder.record(event());
    for (let index = 0; index < 20; index++) recorder.record(on(`pod-${index}`));
    await recorder.close();
    assert.equal(reported().filter((entry) => entry === 'create').length, 21);
    assert.deepEqual(
      reported().filter((entry) => entry !== 'create'),
      [7],
    );
    recorder.record(event({ reason: 'Late' }));
    assert.equal(reported().length, 22);
  });

  test('closing waits two seconds for a server that does not answer', async () => {
    const { recorder, clock } = setUp(
      (_request, signal) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () =>
            reject(new KubeError('aborted', 'x', { status: 0 })),
          ),
        ),
    );
    recorder.record(event());
    let isClosed = false;
    const closed = recorder.close().then(() => {
      isClosed = true;
    });
    await clock.advance(1_999);
    assert.equal(isClosed, false);
    await clock.advance(1);
    await closed;
    assert.equal(clock.pending, 0);
  });
});
