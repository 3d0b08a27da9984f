import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { ShadowCluster } from '../../../test/support/fakes/shadow-cluster.ts';
import {
  locatedShadow,
  shadowObject,
  shadowSpec,
} from '../../../test/support/fakes/shadow-definition.ts';
import { freshMetrics, silentLogger } from '../../../test/support/silent-telemetry.ts';
import type { LocatedDefinition } from '../../definition/index.ts';
import { KubeError } from '../../kube/roles.ts';
import { createSystemRandom } from '../../util/random.ts';
import { unlimitedTimeSlicer } from '../../util/time-slicer.ts';
import type { DesiredDefinition } from '../desired-definition.ts';
import { ViewChangeNotifier } from '../view-change-notifier.ts';
import type { Decision } from './decide.ts';
import { DefinitionEntry } from './definition-entry.ts';
import { PlacesRecorder } from './places-recorder.ts';
import {
  type DefinitionRecord,
  type RecordedKinds,
  type RecordedRevision,
  recordOf,
} from './record.ts';

const specs = Object.fromEntries(['a', 'b', 'c', 'd'].map((text) => [text, shadowSpec(text)]));
const located = Object.fromEntries(
  Object.entries(specs).map(([text, spec]) => [text, locatedShadow(spec)]),
) as Record<string, LocatedDefinition>;
const revisionOf = (word: string) => located[word]?.definition.revision ?? assert.fail(word);
const recorded = (...words: readonly string[]): readonly RecordedRevision[] =>
  words.map((word) => {
    const places = located[word] && new PlacesRecorder().of(located[word]);
    return { revision: revisionOf(word), spec: specs[word] ?? {}, ...(places && { places }) };
  });

const kindOf = (kind: string) => ({ group: '', kind });
const usual: RecordedKinds = { resources: [kindOf('Secret')], children: [kindOf('ConfigMap')] };
const nothing = { revisions: [], kinds: { resources: [], children: [] } };

/** An entry of an object whose status says this. What is to be written is written when the test says so. */
function setUp(
  t: TestContext,
  {
    revisions = [],
    kinds = nothing.kinds,
    rollout,
  }: Partial<DefinitionEntry['state'] & Pick<DefinitionRecord, 'rollout'>> = {},
) {
  const cluster = new ShadowCluster();
  const clock = new FakeClock();
  const stopper = new AbortController();
  const record = { ...recordOf(shadowObject(specs.a ?? {})), revisions, kinds, rollout };
  let changes = 0;
  const entry = new DefinitionEntry({
    cluster,
    clock,
    notifier: new ViewChangeNotifier(clock),
    random: createSystemRandom(),
    logger: silentLogger(),
    metrics: freshMetrics(),
    record,
    timeSlicer: unlimitedTimeSlicer,
    signal: stopper.signal,
    onChange: () => {
      changes += 1;
    },
  });
  t.after(async () => {
    stopper.abort(new Error('The test has ended'));
    await entry.stop();
    assert.deepEqual(cluster.watched, []);
    assert.equal(clock.pending, 0);
  });
  cluster.make('Secret');
  let decision: Decision = { kind: 'wait', message: '' };
  /** Changes the desired definition. */
  const run = (word: string, more: Partial<DesiredDefinition> = {}) => {
    const formerly = revisions.flatMap(
      ({ revision }) =>
        Object.values(located).find((each) => each.definition.revision === revision) ?? [],
    );
    const of = located[word] ?? assert.fail(word);
    decision = { kind: 'run', desired: { located: of, previous: formerly, ...more } };
    entry.setTask(decision);
    return cluster.calm();
  };
  const facts = () => entry.factsFor(record, decision);
  /** The status is written. */
  const write = () => {
    entry.onStatusWritten(facts().persisted);
    return cluster.calm();
  };
  const words = () =>
    entry.state.revisions.map(
      ({ revision }) => Object.keys(located).find((word) => revisionOf(word) === revision) ?? '?',
    );
  /** How often there was something to be written since the last call. */
  const takeChanges = () => {
    const since = changes;
    changes = 0;
    return since;
  };
  return { cluster, clock, entry, record, run, facts, write, words, takeChanges };
}

describe('runtime/definitions/definition-entry: what is kept', () => {
  test('no resource takes a revision before the status holds it, with its kinds', async (t) => {
    const { cluster, entry, run, write, takeChanges } = setUp(t);
    await run('a');
    assert.equal(cluster.shadow(), undefined);
    assert.equal(takeChanges(), 1);
    assert.deepEqual(entry.state, { revisions: recorded('a'), kinds: usual });
    assert.deepEqual(entry.view.state, {
      kind: 'starting',
      message: 'Recording the accepted revision',
    });
    await write();
    assert.equal(cluster.shadow(), 'a');
  });

  test('a status that was made before the revision was there does not count', async (t) => {
    const { cluster, entry, run, write } = setUp(t);
    const { state: persisted } = entry;
    await run('a');
    entry.onStatusWritten(persisted);
    await cluster.calm();
    assert.equal(cluster.shadow(), undefined);
    await write();
    assert.equal(cluster.shadow(), 'a');
  });

  test('what runs runs on while the next revision waits for the status', async (t) => {
    const { cluster, run, write, words } = setUp(t);
    await run('a');
    await write();
    await run('b');
    assert.deepEqual(words(), ['b', 'a']);
    assert.equal(cluster.shadow(), 'a');
    cluster.remove('ConfigMap', 'one-shadow');
    await cluster.calm();
    assert.equal(cluster.shadow(), 'a');
    await write();
    assert.equal(cluster.shadow(), 'b');
  });

  test('of revisions that were superseded while they waited none is taken', async (t) => {
    const { cluster, entry, run, write, words } = setUp(t);
    await run('a');
    const { state: persisted } = entry;
    await run('b');
    entry.onStatusWritten(persisted);
    await cluster.calm();
    assert.equal(cluster.shadow(), undefined);
    await write();
    assert.equal(cluster.shadow(), 'b');
    assert.equal(words()[0], 'b');
  });

  test('the old text again, before the new one was written, is the accepted one again', async (t) => {
    const { cluster, run, write, words } = setUp(t);
    await run('a');
    await write();
    await run('b');
    await run('a');
    await write();
    assert.equal(cluster.shadow(), 'a');
    assert.equal(words()[0], 'a');
  });

  test('the same revision as in the status is taken at once, and nothing is recorded again', async (t) => {
    const { cluster, entry, run, takeChanges } = setUp(t, {
      revisions: recorded('a'),
      kinds: usual,
    });
    const { state: persisted } = entry;
    await run('a');
    assert.equal(cluster.shadow(), 'a');
    assert.equal(entry.state, persisted);
    assert.equal(takeChanges(), 0);
  });

  test('the same revision without its places, or with others, is taken at once, and they are recorded', async (t) => {
    for (const places of [undefined, { file: 'old.yaml', positions: 'AAAA' }]) {
      const [{ places: current, ...bare } = assert.fail()] = recorded('a');
      const { cluster, entry, run, takeChanges } = setUp(t, {
        revisions: [{ ...bare, ...(places && { places }) }],
        kinds: usual,
      });
      await run('a');
      assert.equal(cluster.shadow(), 'a');
      assert.deepEqual(entry.state.revisions[0]?.places, current);
      assert.equal(takeChanges(), 1);
      await run('a');
      assert.equal(takeChanges(), 0);
    }
  });

  test('a kind that is not on record is recorded first, also for a revision that is', async (t) => {
    const { cluster, run, write } = setUp(t, { revisions: recorded('a') });
    await run('a');
    assert.equal(cluster.shadow(), undefined);
    await write();
    assert.equal(cluster.shadow(), 'a');
  });

  test('the accepted revision and two others are kept, the newest first', async (t) => {
    const { run, words } = setUp(t, { revisions: recorded('c', 'b', 'a'), kinds: usual });
    await run('d');
    assert.deepEqual(words(), ['d', 'c', 'b']);
  });

  test('an older revision that is accepted again comes first, and is kept once', async (t) => {
    const { run, words } = setUp(t, { revisions: recorded('c', 'b', 'a'), kinds: usual });
    await run('b');
    assert.deepEqual(words(), ['b', 'c', 'a']);
  });

  test('revisions that no resource has are dropped when the newest runs, and not before', async (t) => {
    const { run, write, facts, words } = setUp(t, { revisions: recorded('b', 'a'), kinds: usual });
    await run('c');
    facts();
    assert.deepEqual(words(), ['c', 'b', 'a']);
    await write();
    facts();
    assert.deepEqual(words(), ['c']);
  });

  test('the accepted revision is kept, whatever becomes of the definition', async (t) => {
    const { entry, record, words, run, write } = setUp(t, {
      revisions: recorded('b', 'a'),
      kinds: usual,
    });
    const rejection = { message: 'Wrong', diagnostics: [] };
    entry.factsFor(record, { kind: 'finalize', reason: 'Rejected', message: '', rejection });
    entry.factsFor(record, { kind: 'finalize', reason: 'Withdrawn', message: '' });
    assert.deepEqual(words(), ['b', 'a']);
    await run('b');
    await write();
    assert.deepEqual(words(), ['b']);
  });

  test('kinds of which nothing is left go from the record', async (t) => {
    const { clock, entry, run, takeChanges } = setUp(t, {
      revisions: recorded('a'),
      kinds: {
        resources: [kindOf('Secret'), kindOf('Service')],
        children: [kindOf('ConfigMap'), kindOf('Service')],
      },
    });
    await run('a');
    await clock.advance(5_000);
    assert.deepEqual(entry.state.kinds, usual);
    assert.ok(takeChanges() > 0);
  });

  test('a kind of which something is left stays on record', async (t) => {
    const kinds = { ...usual, resources: [kindOf('Secret'), kindOf('Service')] };
    const { cluster, clock, entry, run } = setUp(t, { revisions: recorded('a'), kinds });
    const finalizers = ['homeostat.dev/shadow'];
    const metadata = { name: 'web', namespace: 'default', finalizers };
    cluster.server.put({ apiVersion: 'v1', kind: 'Service', metadata });
    await run('a');
    await clock.advance(60_000);
    assert.deepEqual(entry.state.kinds, kinds);
    cluster.remove('Service', 'web');
    await cluster.calm();
    assert.deepEqual(entry.state.kinds, usual);
  });

  test('what another process has written meanwhile is followed, and what is on its way is not lost', async (t) => {
    const { entry, record, run, words } = setUp(t, { revisions: recorded('a'), kinds: usual });
    entry.syncState({ ...record, revisions: recorded('b', 'a') });
    assert.deepEqual(words(), ['b', 'a']);
    await run('c');
    entry.syncState({ ...record, revisions: recorded('a') });
    assert.deepEqual(words(), ['c', 'b', 'a']);
  });

  test('an object that is made again, without a status, takes nothing away', async (t) => {
    const { entry, record, words } = setUp(t, { revisions: recorded('a'), kinds: usual });
    entry.syncState({ ...record, ...nothing });
    assert.deepEqual(words(), ['a']);
  });
});

describe('runtime/definitions/definition-entry: what is said', () => {
  test('a roll-out is on record together with its revision', async (t) => {
    const { run, write, facts } = setUp(t);
    await run('a');
    assert.equal(facts().rollout, undefined);
    await write();
    await run('b');
    const { from, to, state } = facts().rollout ?? assert.fail('Expected a roll-out');
    assert.deepEqual([from, to, state], [revisionOf('a'), revisionOf('b'), 'rolling']);
    await write();
    assert.equal(facts().rollout, undefined);
  });

  test('an unfinished roll-out of the process before stays on record until the definition runs', async (t) => {
    const revisions = { from: revisionOf('a'), to: revisionOf('b') };
    const rollout = { ...revisions, state: 'stopped', failed: ['uid'] } as const;
    const { run, facts } = setUp(t, { revisions: recorded('b', 'a'), kinds: usual, rollout });
    const { from, to, state, failed } = facts().rollout ?? assert.fail('Expected a roll-out');
    assert.deepEqual({ from, to, state, failed }, rollout);
    await run('b', { rollout });
    // Its resources have the revision.
    assert.equal(facts().rollout, undefined);
  });

  test('so it is for a text that was changed while no process ran', async (t) => {
    const { run, facts } = setUp(t, { revisions: recorded('a'), kinds: usual });
    await run('b');
    const { from, to } = facts().rollout ?? assert.fail('Expected a roll-out');
    assert.deepEqual([from, to], [revisionOf('a'), revisionOf('b')]);
  });

  test('a roll-out that was given up is none', async (t) => {
    const { run, write, facts } = setUp(t);
    await run('a');
    await write();
    await run('b');
    await run('a');
    assert.equal(facts().rollout, undefined);
  });

  test('an error in the newest text comes before what the cluster has against the one that is wanted', async (t) => {
    const { run, facts } = setUp(t, { revisions: recorded('a'), kinds: usual });
    const rejection = { message: 'Wrong', diagnostics: ['a:1:1: Wrong'] };
    await run('a', { rejection });
    assert.deepEqual(facts().rejection, rejection);
  });

  test('a new view is one that was not reported yet', async (t) => {
    const { entry, run, write, facts } = setUp(t);
    await run('a');
    assert.ok(entry.hasNewView());
    facts();
    assert.ok(!entry.hasNewView());
    await write();
    assert.ok(entry.hasNewView());
    facts();
    assert.ok(!entry.hasNewView());
  });

  test('a status that may not be written is reported where the definition stands, until it may', async (t) => {
    const { entry, run, write } = setUp(t);
    const right = { verb: 'patch', group: 'homeostat.dev', resource: 'operatordefinitions/status' };
    await run('a');
    entry.setWriteError(new KubeError('forbidden', 'no', { status: 403, right }));
    const { state } = entry.view;
    assert.match(
      'message' in state ? state.message : '',
      /not allowed to patch operatordefinitions/,
    );
    await write();
    assert.deepEqual([entry.view.state.kind, entry.view.problems], ['running', []]);
    entry.setWriteError(new KubeError('rejected', 'too long', { status: 422 }));
    assert.deepEqual([entry.view.state.kind, entry.view.problems], ['running', ['too long']]);
  });
});
