import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { LocatedDefinition } from '#definition';
import { KubeError } from '#kube/roles.ts';
import { createLogger } from '#telemetry';
import { createSystemRandom } from '#util/random.ts';
import { unlimitedTimeSlicer } from '#util/time-slicer.ts';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { recordingGate } from '../../../../test/support/fakes/recording-gate.ts';
import { ShadowCluster } from '../../../../test/support/fakes/shadow-cluster.ts';
import {
  locatedShadow,
  shadowObject,
  shadowSpec,
} from '../../../../test/support/fakes/shadow-definition.ts';
import { freshMetrics } from '../../../../test/support/silent-telemetry.ts';
import type { DefinitionTask } from '../definitions/decide.ts';
import type { UninstallRequest } from '../desired-definition.ts';
import type { RecordedKinds } from '../recorded-state.ts';
import { RunningDefinition } from './running-definition.ts';

const orphaning = { isOrphaned: true } as const;
const a = locatedShadow(shadowSpec('a', orphaning));
const b = locatedShadow(shadowSpec('b', orphaning));
const ofServices = locatedShadow(shadowSpec('s', { kind: 'Service' }));
/** Compiles without schemas only. */
const wrong = locatedShadow(shadowSpec('x', { field: 'dada' }));

const kindOf = (kind: string) => ({ group: '', kind });
const all: RecordedKinds = { resources: [kindOf('Secret')], children: [kindOf('ConfigMap')] };
const run = (located: LocatedDefinition): DefinitionTask => ({ kind: 'run', desired: { located } });
const paused = (located: LocatedDefinition): DefinitionTask => ({
  kind: 'run',
  desired: { located, isPaused: true },
});
const finalize = (message = 'Why', isAbandoned = false): DefinitionTask => ({
  kind: 'finalize',
  reason: 'Withdrawn',
  message,
  isAbandoned,
});

const uninstall = (request: UninstallRequest, isPaused = false): DefinitionTask => ({
  kind: 'finalize',
  reason: 'Deleted',
  message: 'Being deleted',
  uninstall: request,
  isPaused,
});

/** A definition in this process, whose record is written at once. */
function setUp(t: TestContext) {
  const cluster = new ShadowCluster();
  const clock = new FakeClock();
  const log: { readonly level: string; readonly msg: string }[] = [];
  const destination = { write: (line: string) => void log.push(JSON.parse(line)) };
  const stopper = new AbortController();
  const recorded: string[] = [];
  const gate = recordingGate({
    kinds: all,
    onRecorded: (revision) => void recorded.push(revision),
  });
  const kinds = () => gate.state.kinds.resources.map(({ kind }) => kind);
  const metrics = freshMetrics();
  let done = 0;
  const unit: RunningDefinition = new RunningDefinition(
    {
      cluster,
      clock,
      listener: {
        awaited: () => {
          if (unit.isDone) done += 1;
        },
        changed: () => {},
        counted: () => {},
      },
      random: createSystemRandom(),
      logger: createLogger({ level: 'info', destination }),
      metrics,
      timeSlicer: unlimitedTimeSlicer,
      name: 'shadow',
      gate,
    },
    stopper.signal,
  );
  const stop = async () => {
    stopper.abort(new Error('The test has ended'));
    await unit.stop();
    assert.deepEqual(cluster.watched, []);
    assert.equal(clock.pending, 0);
  };
  t.after(stop);
  const become = (task: DefinitionTask) => {
    unit.want(task);
    return cluster.calm();
  };
  const reported = (msg: string) => log.filter((line) => line.msg === msg).length;
  /** How often something was brought to its end since the last call. */
  const takeDone = () => {
    const since = done;
    done = 0;
    return since;
  };
  return { cluster, clock, metrics, unit, recorded, kinds, become, reported, takeDone, stop };
}

/** With one that runs, and a Secret that it works on. */
async function running(t: TestContext) {
  const harness = setUp(t);
  harness.cluster.make('Secret');
  await harness.become(run(a));
  assert.equal(harness.cluster.shadow(), 'a');
  assert.deepEqual(harness.cluster.finalizers('Secret'), ['homeostat.dev/shadow']);
  return harness;
}

describe('runtime/running/running-definition', () => {
  test('does nothing before it has a task, and nothing while it rests', async (t) => {
    const { cluster, unit, become } = setUp(t);
    cluster.make('Secret');
    await cluster.calm();
    assert.equal(unit.view.state.kind, 'starting');
    await become({ kind: 'wait', message: 'It is being read' });
    assert.deepEqual(unit.view.state, { kind: 'starting', message: 'It is being read' });
    assert.deepEqual([cluster.requests, cluster.watched], [[], []]);
    assert.equal(unit.hasRun, false);
  });

  test('its series follow its state, keep what they counted while it only finalizes, and end with it', async (t) => {
    const { unit, metrics, become, stop } = await running(t);
    const written = /^homeostat_status_writes_total\{definition="shadow",result="\w+"\} [1-9]/m;
    const state = (kind: string) =>
      `homeostat_definition_state{definition="shadow",state="${kind}"} 1`;
    unit.observe();
    let text = await metrics.expose();
    assert.match(text, written);
    assert.ok(text.includes(state('running')));
    assert.ok(text.includes('homeostat_resources{definition="shadow",ready="True"} 1'));
    await become(finalize());
    unit.observe();
    text = await metrics.expose();
    assert.match(text, written);
    assert.ok(text.includes(state('finalizing')));
    assert.ok(text.includes('homeostat_resources{definition="shadow",ready="True"} 0'));
    await stop();
    assert.doesNotMatch(await metrics.expose(), /"shadow"/);
  });

  test('a changed text is taken up by what runs', async (t) => {
    const { cluster, unit, become, recorded, reported } = await running(t);
    assert.equal(unit.hasRun, true);
    await become(run(b));
    assert.equal(cluster.shadow(), 'b');
    assert.deepEqual(recorded, [a.definition.revision, b.definition.revision]);
    assert.equal(reported('Definition running'), 1);
  });

  test('a task that stays the same is not begun again', async (t) => {
    const { cluster, become, reported } = await running(t);
    cluster.takeWrites();
    await become(run(a));
    await become(finalize());
    await become(finalize('Another reason'));
    await become(finalize());
    assert.deepEqual(cluster.takeWrites(), []);
    assert.equal(reported('Definition stopped, its resources and their children are orphaned'), 1);
  });

  test('one that stops leaves what it has made, and brings deletions to their end', async (t) => {
    const { cluster, unit, become } = await running(t);
    await become(finalize());
    assert.deepEqual(unit.view.state, { kind: 'finalizing', message: 'Why' });
    assert.equal(unit.view.instances, 1);
    assert.equal(unit.isDone, false);
    cluster.remove('ConfigMap', 'one-shadow');
    cluster.make('Secret', 'two');
    await cluster.calm();
    assert.deepEqual([cluster.shadow(), cluster.shadow('two')], [undefined, undefined]);
    cluster.remove('Secret');
    await cluster.calm();
    assert.equal(cluster.object('Secret'), undefined);
    assert.deepEqual([unit.isDone, unit.view.instances], [true, 0]);
    assert.deepEqual(cluster.watched, []);
  });

  test('the end of deletions is reported, also where none was left', async (t) => {
    const { cluster, unit, become, takeDone } = await running(t);
    await become(finalize());
    assert.equal(takeDone(), 0);
    cluster.remove('Secret');
    await cluster.calm();
    assert.equal(takeDone(), 1);
    await become(run(a));
    assert.equal(unit.isDone, false);
    await become(finalize());
    assert.deepEqual([takeDone(), unit.isDone], [1, true]);
  });

  test('why nothing runs may change while deletions come to their end', async (t) => {
    const { unit, become } = await running(t);
    await become(finalize('One'));
    await become(finalize('Two'));
    assert.deepEqual(unit.view.state, { kind: 'finalizing', message: 'Two' });
  });

  test('resources that are abandoned are released, and they and their children stay', async (t) => {
    const { cluster, unit, become } = await running(t);
    await become(finalize());
    assert.equal(unit.isDone, false);
    await become(finalize('Why', true));
    assert.equal(unit.isDone, true);
    assert.deepEqual(cluster.finalizers('Secret'), []);
    assert.equal(cluster.shadow(), 'a');
  });

  test('one that comes back runs on, however often it went meanwhile', async (t) => {
    const { cluster, unit, become } = await running(t);
    unit.want(finalize());
    unit.want(run(b));
    unit.want(finalize());
    await become(run(b));
    assert.equal(cluster.shadow(), 'b');
    assert.equal(unit.view.state.kind, 'running');
  });

  test('nothing of a task is done before the one before it has ended', async (t) => {
    const { cluster, unit, become } = await running(t);
    const gate = Promise.withResolvers<void>();
    cluster.pace = () => gate.promise;
    // A reconcile is under way.
    cluster.remove('ConfigMap', 'one-shadow');
    await cluster.calm();
    await become(run(ofServices));
    assert.deepEqual(unit.view.state, {
      kind: 'starting',
      message: 'Waiting to be reconciled',
    });
    assert.ok(!cluster.watched.some(({ gvk }) => gvk.kind === 'Service'));
    gate.resolve();
    await cluster.calm();
    assert.equal(unit.view.state.kind, 'running');
  });

  test('another kind under the same name is another definition: what was made for the one before stays', async (t) => {
    const { cluster, unit, become } = await running(t);
    cluster.make('Service', 'web');
    await become(run(ofServices));
    assert.equal(unit.view.kind, 'Service');
    assert.equal(cluster.shadow('web'), 's');
    assert.equal(cluster.shadow(), 'a');
  });

  test('what of an earlier kind has our finalizer is released when it is deleted; then the kind is forgotten', async (t) => {
    const { cluster, become, kinds } = await running(t);
    await become(run(ofServices));
    assert.deepEqual(kinds(), ['Secret', 'Service']);
    assert.deepEqual(cluster.finalizers('Secret'), ['homeostat.dev/shadow']);
    cluster.remove('Secret');
    await cluster.calm();
    assert.equal(cluster.object('Secret'), undefined);
    assert.deepEqual(kinds(), ['Service']);
    assert.ok(!cluster.watched.some(({ gvk }) => gvk.kind === 'Secret'));
  });

  test('a paused definition leaves deletions of an earlier kind alone until it is resumed', async (t) => {
    const { cluster, become, kinds } = await running(t);
    await become(paused(ofServices));
    cluster.remove('Secret');
    await cluster.calm();
    assert.ok(cluster.object('Secret'));
    await become(run(ofServices));
    assert.equal(cluster.object('Secret'), undefined);
    assert.deepEqual(kinds(), ['Service']);
  });

  test('a paused definition that the cluster rejects leaves deletions alone until it is resumed', async (t) => {
    const { cluster, unit, become } = setUp(t);
    const metadata = { name: 'one', namespace: 'default', finalizers: ['homeostat.dev/shadow'] };
    cluster.server.put({ apiVersion: 'v1', kind: 'Secret', metadata });
    cluster.remove('Secret');
    await become(paused(wrong));
    assert.equal(unit.view.state.kind, 'rejected');
    assert.ok(cluster.object('Secret'));
    await become(run(wrong));
    assert.equal(cluster.object('Secret'), undefined);
  });

  for (const [what, harness] of [
    ['that the cluster rejects', { located: wrong, answer: undefined }],
    [
      'that lacks a right',
      {
        located: b,
        answer: () => Promise.reject(new KubeError('forbidden', 'no', { status: 403 })),
      },
    ],
  ] as const)
    test(`deletions of a definition ${what} come to their end`, async (t) => {
      const { cluster, unit, become, clock } = setUp(t);
      const finalizers = ['homeostat.dev/shadow'];
      const metadata = { name: 'one', namespace: 'default', finalizers };
      cluster.server.put({ apiVersion: 'v1', kind: 'Secret', metadata });
      cluster.remove('Secret');
      if (harness.answer !== undefined) cluster.answer = harness.answer;
      await become(run(harness.located));
      assert.match(unit.view.state.kind, /rejected|failing/);
      assert.equal(cluster.object('Secret'), undefined);
      cluster.answer = async () => undefined;
      await clock.advance(60_000);
      await cluster.calm();
      assert.equal(unit.view.state.kind, 'running');
    });

  test('without a server deletions wait', async (t) => {
    const { cluster, unit, become } = setUp(t);
    const finalizers = ['homeostat.dev/shadow'];
    const metadata = { name: 'one', namespace: 'default', finalizers };
    cluster.server.put({ apiVersion: 'v1', kind: 'Secret', metadata });
    cluster.remove('Secret');
    cluster.answer = () => Promise.reject(new KubeError('unavailable', 'no answer', { status: 0 }));
    await become(run(a));
    assert.equal(unit.view.state.kind, 'starting');
    assert.ok(cluster.object('Secret'));
  });

  test('a paused uninstall that another task replaces has completed nothing', async (t) => {
    const { unit, become, takeDone } = await running(t);
    const policy = { children: true, crd: false };
    await become(uninstall({ policy, located: a, sinceMs: 0 }, true));
    await become(finalize());
    assert.deepEqual([takeDone(), unit.isDone], [0, false]);
  });

  test('an uninstall waits for resources of an earlier kind, which have our finalizer', async (t) => {
    const { cluster, unit, become, takeDone } = await running(t);
    await become(run(ofServices));
    const finalizers = ['homeostat.dev/definition'];
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    cluster.server.put(shadowObject(shadowSpec('s'), { finalizers, deletionTimestamp }));
    cluster.server.put({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'operatordefinitions.homeostat.dev' },
    });
    const policy = { children: true, crd: false };
    await become(uninstall({ policy, located: ofServices, sinceMs: 0 }));
    assert.deepEqual(cluster.finalizers('Secret'), ['homeostat.dev/shadow']);
    assert.deepEqual([takeDone(), unit.isDone, unit.view.instances], [0, false, 1]);
    assert.equal(unit.view.state.kind, 'finalizing');
    cluster.remove('Secret');
    await cluster.calm();
    assert.equal(cluster.object('Secret'), undefined);
    assert.deepEqual([takeDone(), unit.isDone], [1, true]);
  });

  test('what cannot be finalized now is tried again', async (t) => {
    const { cluster, clock, unit, become } = await running(t);
    cluster.fault = ({ verb }) =>
      verb === 'edit' ? new KubeError('server-error', 'no', { status: 500 }) : undefined;
    await become(finalize('Why', true));
    assert.equal(unit.isDone, false);
    cluster.fault = () => undefined;
    await clock.advance(60_000);
    await cluster.calm();
    assert.equal(unit.isDone, true);
    assert.deepEqual(cluster.finalizers('Secret'), []);
  });

  test('it ends with its process, in the middle of whatever it does', async (t) => {
    const { cluster, become, stop } = await running(t);
    await become(finalize());
    await stop();
    cluster.remove('Secret');
    await cluster.calm();
    assert.ok(cluster.object('Secret'));
  });
});
