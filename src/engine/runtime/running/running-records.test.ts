import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { LocatedDefinition } from '#definition';
import { createSystemRandom } from '#util/random.ts';
import { unlimitedTimeSlicer } from '#util/time-slicer.ts';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { ShadowCluster } from '../../../../test/support/fakes/shadow-cluster.ts';
import {
  locatedShadow,
  shadowObject,
  shadowSpec,
} from '../../../../test/support/fakes/shadow-definition.ts';
import { freshMetrics, silentLogger } from '../../../../test/support/silent-telemetry.ts';
import { type DefinitionRecord, recordOf } from '../definitions/record.ts';
import type { DesiredDefinition } from '../desired-definition.ts';
import type { RecordedKinds, RecordedRevision } from '../recorded-state.ts';
import { PlacesRecorder } from './places-recorder.ts';
import { RecordGate } from './record-gate.ts';
import { RunningDefinition } from './running-definition.ts';

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
  }: Partial<RunningDefinition['state'] & Pick<DefinitionRecord, 'rollout'>> = {},
) {
  const cluster = new ShadowCluster();
  const clock = new FakeClock();
  const stopper = new AbortController();
  const record = { ...recordOf(shadowObject(specs.a ?? {})), revisions, kinds, rollout };
  let changes = 0;
  let marks = 0;
  const listener = {
    awaited: () => {
      changes += 1;
    },
    changed: () => {
      marks += 1;
    },
    counted: () => {},
  };
  const gate = new RecordGate(record, () => listener.awaited());
  const entry = new RunningDefinition(
    {
      name: 'shadow',
      gate,
      listener,
      cluster,
      clock,
      random: createSystemRandom(),
      logger: silentLogger(),
      metrics: freshMetrics(),
      timeSlicer: unlimitedTimeSlicer,
    },
    stopper.signal,
  );
  t.after(async () => {
    stopper.abort(new Error('The test has ended'));
    await entry.stop();
    assert.deepEqual(cluster.watched, []);
    assert.equal(clock.pending, 0);
  });
  cluster.make('Secret');
  /** Changes the desired definition. */
  const run = (word: string, more: Partial<DesiredDefinition> = {}) => {
    const formerly = revisions.flatMap(
      ({ revision }) =>
        Object.values(located).find((each) => each.definition.revision === revision) ?? [],
    );
    const of = located[word] ?? assert.fail(word);
    entry.want({ kind: 'run', desired: { located: of, previous: formerly, ...more } });
    return cluster.calm();
  };
  const facts = () => entry.report();
  /** The status is written. */
  const write = () => {
    entry.recorded(facts());
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
  /** Whether the view has changed since the last call. */
  const isMarked = () => {
    const since = marks;
    marks = 0;
    return since > 0;
  };
  return { cluster, clock, entry, record, run, facts, write, words, takeChanges, isMarked };
}

describe('runtime/running/running-records: what is kept', () => {
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
    entry.recorded({ ...persisted, rollout: undefined });
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
    entry.recorded({ ...persisted, rollout: undefined });
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
    const { entry, words, run, write } = setUp(t, {
      revisions: recorded('b', 'a'),
      kinds: usual,
    });
    const rejection = { message: 'Wrong', diagnostics: [] };
    entry.want({ kind: 'finalize', reason: 'Rejected', message: '', rejection });
    entry.report();
    entry.want({ kind: 'finalize', reason: 'Withdrawn', message: '' });
    entry.report();
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
    entry.recorded({ ...record, revisions: recorded('b', 'a') });
    assert.deepEqual(words(), ['b', 'a']);
    await run('c');
    entry.recorded({ ...record, revisions: recorded('a') });
    assert.deepEqual(words(), ['c', 'b', 'a']);
  });

  test('an object that is made again, without a status, takes nothing away', async (t) => {
    const { entry, record, words } = setUp(t, { revisions: recorded('a'), kinds: usual });
    entry.recorded({ ...record, ...nothing });
    assert.deepEqual(words(), ['a']);
  });
});

describe('runtime/running/running-records: what is said', () => {
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
    await run('b');
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

  test('a changed view is reported when it changes, and not before', async (t) => {
    const { run, write, facts, isMarked } = setUp(t);
    await run('a');
    assert.ok(isMarked());
    facts();
    assert.ok(!isMarked());
    await write();
    assert.ok(isMarked());
    facts();
    assert.ok(!isMarked());
  });
});
