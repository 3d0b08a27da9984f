import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { QuietCluster } from '../../../test/support/fakes/quiet-cluster.ts';
import { freshMetrics } from '../../../test/support/silent-telemetry.ts';
import { locateThing } from '../../../test/support/thing-plan.ts';
import { KubeError } from '../../kube/roles.ts';
import { createLogger } from '../../telemetry/index.ts';
import { createSystemRandom } from '../../util/random.ts';
import { unlimitedTimeSlicer } from '../../util/time-slicer.ts';
import { whenAborted } from '../../util/when-aborted.ts';
import { DefinitionMetrics } from '../definition-metrics.ts';
import { ViewChangeNotifier } from '../view-change-notifier.ts';
import { DefinitionRunner, type DefinitionRunnerOptions } from './definition-runner.ts';

/** A cluster that answers the first question of a definition with a failure. */
class RejectingCluster extends QuietCluster {
  #error: Error;

  constructor(error: Error) {
    super([]);
    this.#error = error;
  }

  override fetchKindSchema(): Promise<never> {
    return Promise.reject(this.#error);
  }
}

function run(error: Error) {
  const clock = new FakeClock();
  const log: { readonly level: string; readonly msg: string }[] = [];
  const destination = { write: (line: string) => log.push(JSON.parse(line)) };
  const metrics = freshMetrics();
  /** What brings deletions to their end, at the moment and in all. */
  const finalizing = { now: 0, ever: 0 };
  const finalized: (string | undefined)[] = [];
  const recorded: string[] = [];
  const runner = new DefinitionRunner({
    desired: { located: locateThing('  children: []\n') },
    notifier: new ViewChangeNotifier(clock),
    cluster: new RejectingCluster(error),
    clock,
    random: createSystemRandom(),
    timeSlicer: unlimitedTimeSlicer,
    logger: createLogger({ level: 'debug', destination }),
    metrics,
    definitionMetrics: new DefinitionMetrics(metrics, clock, 'thing'),
    childKinds: () => [],
    record: async ({ definition }) => void recorded.push(definition.revision),
    finalizeMeanwhile: async ({ controller }, signal) => {
      finalized.push(controller.namespaces?.include?.join());
      finalizing.now += 1;
      finalizing.ever += 1;
      await whenAborted(signal);
      finalizing.now -= 1;
    },
    onKindsGone: () => {},
  } satisfies DefinitionRunnerOptions);
  const stopper = new AbortController();
  const ended = runner.run(stopper.signal);
  const stop = async () => {
    stopper.abort();
    await ended;
    assert.equal(finalizing.now, 0);
    assert.equal(clock.pending, 0);
  };
  return { clock, log, metrics, runner, finalizing, finalized, recorded, stop };
}

describe('runtime/runner/definition-runner', () => {
  test('a right that is known to be missing is reported as one, for the condition of the definition', async () => {
    const right = { verb: 'get', group: '', resource: 'things' };
    const { runner, stop } = run(new KubeError('forbidden', 'no', { status: 403, right }));
    await settle();
    const { state } = runner.view;
    assert.equal(state.kind === 'failing' && state.isForbidden, true);
    await stop();
  });

  for (const [what, error, kind] of [
    ['a server that is away', new KubeError('unavailable', 'no answer', { status: 0 }), 'starting'],
    [
      'a server that lets nobody in',
      new KubeError('unauthorized', 'who?', { status: 401 }),
      'starting',
    ],
    ['a server in trouble', new KubeError('unavailable', 'later', { status: 503 }), 'failing'],
    [
      'an overloaded server',
      new KubeError('too-many-requests', 'later', { status: 429 }),
      'failing',
    ],
    ['a missing right', new KubeError('forbidden', 'no', { status: 403 }), 'failing'],
  ] as const) {
    test(`with ${what} a definition is ${kind}, and says why`, async () => {
      const { runner, stop } = run(error);
      await settle();
      const { state } = runner.view;
      assert.equal(state.kind, kind);
      const why = kind === 'starting' && error.status === 401 ? /credentials/ : error.message;
      assert.match('message' in state ? state.message : '', RegExp(why));
      await stop();
    });
  }

  test('a definition that cannot start is reported once and tried again', async () => {
    const { clock, log, stop } = run(new KubeError('forbidden', 'no', { status: 403 }));
    await clock.advance(60_000);
    const levels = log.map(({ level }) => level);
    assert.equal(levels[0], 'warn');
    assert.ok(levels.length > 4);
    assert.deepEqual([...new Set(levels.slice(1))], ['debug']);
    await stop();
  });

  const forbidden = new KubeError('forbidden', 'no', { status: 403 });
  const silence = new KubeError('unavailable', 'no answer', { status: 0 });
  for (const [what, error, times] of [
    ['come to their end while it cannot start, however often it tries', forbidden, 1],
    ['wait for a server that is away', silence, 0],
  ] as const) {
    test(`its deletions ${what}`, async () => {
      const { clock, finalizing, recorded, stop } = run(error);
      await clock.advance(60_000);
      assert.deepEqual(finalizing, { now: times, ever: times });
      assert.deepEqual(recorded, []);
      await stop();
    });
  }

  test('deletions are finished where the newest revision works', async () => {
    const { runner, finalizing, finalized, stop } = run(forbidden);
    await settle();
    const namespaces = '  controller: { namespaces: { include: [b] } }\n';
    runner.update({ located: locateThing(`  children: []\n${namespaces}`) });
    await settle();
    assert.deepEqual(finalized, [undefined, 'b']);
    assert.deepEqual(finalizing, { now: 1, ever: 2 });
    await stop();
  });

  test('an error of an unexpected type is reported as a bug', async () => {
    const { log, stop } = run(new TypeError('undefined is not a function'));
    await settle();
    assert.deepEqual(
      log.map(({ level }) => level),
      ['error'],
    );
    await stop();
  });
});
