import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LocatedDefinition } from '#definition';
import { type Informer, type InformerQuery, KubeError } from '#kube/roles.ts';
import { createLogger } from '#telemetry';
import { apiVersionOf, gvkOf } from '#util/gvk.ts';
import { createSystemRandom } from '#util/random.ts';
import { unlimitedTimeSlicer } from '#util/time-slicer.ts';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { QuietCluster } from '../../../../test/support/fakes/quiet-cluster.ts';
import { recordingGate } from '../../../../test/support/fakes/recording-gate.ts';
import { freshMetrics } from '../../../../test/support/silent-telemetry.ts';
import { locateThing } from '../../../../test/support/thing-plan.ts';
import { RunningDefinition } from './running-definition.ts';

const gvk = gvkOf('apps.example.com/v1', 'Thing');

/** A cluster that answers the first question of a definition with a failure. */
class RejectingCluster extends QuietCluster {
  #error: Error;

  /** Watches on Things, which only finalizing has here: now, and in all. */
  readonly finalizing = { now: 0, ever: 0 };

  constructor(error: Error) {
    super([{ gvk, plural: 'things', namespaced: true, hasStatus: true, verbs: [] }]);
    this.#error = error;
  }

  override acquire(query: InformerQuery): Informer {
    const informer = super.acquire(query);
    if (query.gvk.kind !== gvk.kind) return informer;
    const { finalizing } = this;
    finalizing.now += 1;
    finalizing.ever += 1;
    const release = informer.release.bind(informer);
    let isHeld = true;
    informer.release = () => {
      if (isHeld) finalizing.now -= 1;
      isHeld = false;
      release();
    };
    return informer;
  }

  /** A Thing that is being deleted and has the finalizer of the definition. */
  putDeleted(namespace: string): void {
    const finalizers = ['homeostat.dev/thing'];
    const metadata = { name: 'one', namespace, finalizers };
    this.server.put({ apiVersion: apiVersionOf(gvk), kind: gvk.kind, metadata });
    this.server.delete(gvk, { namespace, name: 'one' });
  }

  /** The namespaces with Things. */
  get left(): readonly string[] {
    return ['a', 'b'].filter((namespace) => this.server.get(gvk, namespace, 'one') !== undefined);
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
  const recorded: string[] = [];
  const cluster = new RejectingCluster(error);
  cluster.server.put({
    apiVersion: apiVersionOf(gvk),
    kind: gvk.kind,
    metadata: { name: 'kept', namespace: 'b', finalizers: ['homeostat.dev/thing'] },
  });
  const { finalizing } = cluster;
  const stopper = new AbortController();
  const running = new RunningDefinition(
    {
      name: 'thing',
      listener: { awaited: () => {}, changed: () => {}, counted: () => {} },
      cluster,
      clock,
      random: createSystemRandom(),
      timeSlicer: unlimitedTimeSlicer,
      logger: createLogger({ level: 'debug', destination }),
      metrics,
      gate: recordingGate({
        kinds: { resources: [gvk], children: [] },
        onRecorded: (revision) => void recorded.push(revision),
      }),
    },
    stopper.signal,
  );
  const want = (located: LocatedDefinition) => running.want({ kind: 'run', desired: { located } });
  want(locateThing('  children: []\n'));
  const stop = async () => {
    stopper.abort();
    await running.stop();
    assert.equal(finalizing.now, 0);
    assert.equal(clock.pending, 0);
  };
  return { clock, log, metrics, cluster, running, want, finalizing, recorded, stop };
}

describe('runtime/running/running-failures', () => {
  test('a right that is known to be missing is reported as one, for the condition of the definition', async () => {
    const right = { verb: 'get', group: '', resource: 'things' };
    const { running, stop } = run(new KubeError('forbidden', 'no', { status: 403, right }));
    await settle();
    const { state } = running.view;
    assert.equal(state.kind === 'failing' && state.isForbidden, true);
    await stop();
  });

  for (const [what, error, kind] of [
    ['a server that is away', new KubeError('unavailable', 'no answer', { status: 0 }), 'starting'],
    [
      'a server that accepts no credentials',
      new KubeError('unauthorized', 'who?', { status: 401 }),
      'starting',
    ],
    ['a server with errors', new KubeError('unavailable', 'later', { status: 503 }), 'failing'],
    [
      'an overloaded server',
      new KubeError('too-many-requests', 'later', { status: 429 }),
      'failing',
    ],
    ['a missing right', new KubeError('forbidden', 'no', { status: 403 }), 'failing'],
  ] as const) {
    test(`with ${what} a definition is ${kind}, and says why`, async () => {
      const { running, stop } = run(error);
      await settle();
      const { state } = running.view;
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
    const { clock, cluster, want, finalizing, stop } = run(forbidden);
    const calm = async () => {
      for (let round = 0; round < 10; round++) {
        await settle();
        cluster.deliver();
      }
    };
    await calm();
    cluster.putDeleted('a');
    await calm();
    assert.deepEqual(cluster.left, []);
    const namespaces = '  controller: { namespaces: { include: [b] } }\n';
    want(locateThing(`  children: []\n${namespaces}`));
    await calm();
    cluster.putDeleted('a');
    cluster.putDeleted('b');
    await calm();
    assert.deepEqual(cluster.left, ['a']);
    assert.deepEqual(finalizing, { now: 1, ever: 2 });
    await clock.advance(60_000);
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
