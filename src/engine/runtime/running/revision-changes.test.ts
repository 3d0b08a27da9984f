import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bundledSchemas } from '#compile';
import type { LocatedDefinition } from '#definition';
import { type KindSchema, KubeError, type ResourceType } from '#kube/roles.ts';
import { createLogger } from '#telemetry';
import { type Gvk, gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { createSystemRandom } from '#util/random.ts';
import { unlimitedTimeSlicer } from '#util/time-slicer.ts';
import { definitionParser } from '../../../../test/support/definition-parser.ts';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { QuietCluster } from '../../../../test/support/fakes/quiet-cluster.ts';
import { recordingGate } from '../../../../test/support/fakes/recording-gate.ts';
import { freshMetrics } from '../../../../test/support/silent-telemetry.ts';
import type { DesiredDefinition } from '../desired-definition.ts';
import { RunningDefinition } from './running-definition.ts';

const some = { namespaced: true, hasStatus: false, verbs: [] };
const types: readonly ResourceType[] = [
  { gvk: gvkOf('v1', 'Secret'), plural: 'secrets', ...some },
  { gvk: gvkOf('v1', 'ConfigMap'), plural: 'configmaps', ...some },
];

/** A cluster whose answers about schemas the test gives. */
class AskedCluster extends QuietCluster {
  answer: (gvk: Gvk) => Promise<KindSchema | undefined> = async (gvk) =>
    bundledSchemas().schemaFor(gvk);

  /** Kinds that it does not serve. */
  readonly missing = new Set<string>();

  override fetchKindSchema(gvk: Gvk): Promise<KindSchema | undefined> {
    return this.answer(gvk);
  }

  override resourceFor(gvk: Gvk): ResourceType | undefined {
    return this.missing.has(gvk.kind) ? undefined : super.resourceFor(gvk);
  }
}

/** A ConfigMap with this text for every Secret. */
function textOf(value: string, field = 'data'): LocatedDefinition {
  const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: shadow }
spec:
  for: { apiVersion: v1, kind: Secret }
  children:
    - id: shadow
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-shadow" }
        ${field}: { text: "${value}" }
  controller: { rollout: { perSecond: 0 } }
`;
  const { definitions, diagnostics } = definitionParser.parse(text, 'shadow.yaml');
  assert.deepEqual(diagnostics, []);
  const [located] = definitions;
  assert.ok(located);
  return located;
}

const secret: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'one', namespace: 'default' },
};

async function setUp(first: DesiredDefinition, missing: readonly string[] = []) {
  const clock = new FakeClock();
  const cluster = new AskedCluster(types);
  for (const kind of missing) cluster.missing.add(kind);
  const log: { readonly level: string; readonly msg: string }[] = [];
  const accepted: string[] = [];
  /** Awaited before a revision is on record. */
  const disk = { pace: () => Promise.resolve() };
  const metrics = freshMetrics();
  const stopper = new AbortController();
  const running = new RunningDefinition(
    {
      name: 'shadow',
      listener: { awaited: () => {}, changed: () => {}, counted: () => {} },
      cluster,
      clock,
      random: createSystemRandom(),
      timeSlicer: unlimitedTimeSlicer,
      logger: createLogger({
        level: 'debug',
        destination: { write: (line: string) => log.push(JSON.parse(line)) },
      }),
      metrics,
      gate: recordingGate({
        pace: () => disk.pace(),
        onRecorded: (revision) => void accepted.push(revision),
      }),
    },
    stopper.signal,
  );
  cluster.server.put(secret);
  const want = (desired: DesiredDefinition) => running.want({ kind: 'run', desired });
  /** Lets all go on that needs no time. */
  const calm = async () => {
    for (let rounds = 0; rounds < 40; rounds++) {
      cluster.deliver();
      await settle();
    }
  };
  want(first);
  await calm();
  const view = () => running.view;
  const made = () => {
    const object = cluster.server.get(gvkOf('v1', 'ConfigMap'), 'default', 'one-shadow');
    return (object?.object.data as { readonly text?: string } | undefined)?.text;
  };
  const stop = async () => {
    stopper.abort();
    await running.stop();
    assert.deepEqual(cluster.watched, []);
    assert.equal(clock.pending, 0);
  };
  const reported = (message: string) => log.filter(({ msg }) => msg === message).length;
  return { clock, cluster, disk, log, accepted, want, view, made, calm, stop, reported };
}

const a = textOf('a');
const b = textOf('b');
const c = textOf('c');
/** Compiles without schemas only. */
const wrong = textOf('x', 'dada');
const revisionOf = ({ definition }: LocatedDefinition) => definition.revision;

describe('runtime/running/revision-changes', () => {
  test('a changed text is taken up beside what runs, and what runs never stops', async () => {
    const { view, made, want, calm, stop, accepted, reported } = await setUp({ located: a });
    assert.equal(made(), 'a');
    want({ located: b });
    assert.equal(view().revision, revisionOf(a));
    assert.equal(view().next?.revision, revisionOf(b));
    assert.equal(view().state.kind, 'running');
    await calm();
    assert.equal(made(), 'b');
    assert.equal(view().revision, revisionOf(b));
    assert.equal(view().next, undefined);
    assert.deepEqual(accepted, [revisionOf(a), revisionOf(b)]);
    assert.equal(reported('Definition running'), 1);
    assert.equal(reported('Definition changed'), 1);
    await stop();
  });

  test('of several texts in a row only the last is worked on', async () => {
    const { cluster, made, want, calm, stop, accepted } = await setUp({ located: a });
    const gate = Promise.withResolvers<void>();
    cluster.answer = async (gvk) => {
      await gate.promise;
      return bundledSchemas().schemaFor(gvk);
    };
    want({ located: b });
    await calm();
    want({ located: c });
    await calm();
    gate.resolve();
    await calm();
    assert.equal(made(), 'c');
    assert.deepEqual(accepted, [revisionOf(a), revisionOf(c)]);
    await stop();
  });

  test('a text that the cluster rejects leaves what runs, is reported once and tried again', async () => {
    const { clock, cluster, view, made, want, calm, stop, reported } = await setUp({ located: a });
    want({ located: wrong });
    await calm();
    const { rejection, state, revision } = view();
    assert.equal(state.kind, 'running');
    assert.equal(revision, revisionOf(a));
    assert.equal(rejection?.revision, revisionOf(wrong));
    assert.match(rejection?.diagnostics.join() ?? '', /shadow\.yaml:\d+:\d+: .*dada/);
    await clock.advance(60_000);
    assert.equal(reported('Change rejected, the active revision keeps running'), 1);
    // What runs looks after its objects.
    cluster.server.delete(gvkOf('v1', 'ConfigMap'), { namespace: 'default', name: 'one-shadow' });
    await calm();
    assert.equal(made(), 'a');
    // The server knows the field from now on.
    cluster.answer = async () => undefined;
    await clock.advance(60_000);
    await calm();
    assert.equal(view().revision, revisionOf(wrong));
    assert.equal(view().rejection, undefined);
    await stop();
  });

  test('the old text again after one that was rejected is no change', async () => {
    const { view, want, calm, stop, reported } = await setUp({ located: a });
    want({ located: wrong });
    await calm();
    assert.ok(view().rejection);
    want({ located: a });
    await calm();
    assert.equal(view().rejection, undefined);
    assert.equal(view().next, undefined);
    assert.equal(reported('Definition changed'), 0);
    await stop();
  });

  test('without a server a text waits, and says for what', async () => {
    const { clock, cluster, view, made, want, calm, stop } = await setUp({ located: a });
    const silence = new KubeError('unavailable', 'no answer', { status: 0 });
    cluster.answer = () => Promise.reject(silence);
    want({ located: b });
    await calm();
    assert.equal(view().rejection, undefined);
    assert.match(view().next?.message ?? '', /no answer/);
    assert.equal(made(), 'a');
    cluster.answer = async (gvk) => bundledSchemas().schemaFor(gvk);
    await clock.advance(10_000);
    await calm();
    assert.equal(made(), 'b');
    await stop();
  });

  test('a right that is missing is reported, and when it comes the text is taken up', async () => {
    const { cluster, view, made, want, calm, stop } = await setUp({ located: a });
    const right = { verb: 'get', group: '', resource: 'schemas' };
    cluster.answer = () => Promise.reject(new KubeError('forbidden', 'no', { status: 403, right }));
    want({ located: b });
    await calm();
    assert.match(view().rejection?.message ?? '', /not allowed to get schemas/);
    cluster.answer = async (gvk) => bundledSchemas().schemaFor(gvk);
    cluster.rights.grant();
    await calm();
    assert.equal(made(), 'b');
    assert.equal(view().rejection, undefined);
    await stop();
  });

  test('a text that the cluster rejects at the start leaves the place to the one before', async () => {
    const { view, made, stop, accepted } = await setUp({ located: wrong, previous: [b, a] });
    assert.equal(made(), 'b');
    assert.equal(view().revision, revisionOf(b));
    assert.equal(view().rejection?.revision, revisionOf(wrong));
    assert.deepEqual(accepted, []);
    await stop();
  });

  test('the first failure after a run is logged as a warning, and tried again after the shortest delay', async () => {
    const { clock, cluster, log, view, calm, stop } = await setUp({ located: a });
    cluster.lose(
      'Secret',
      new KubeError('kind-missing', 'The kind is not served', { status: 404 }),
    );
    await calm();
    assert.equal(view().state.kind, 'failing');
    cluster.answer = () => Promise.reject(new KubeError('forbidden', 'no', { status: 403 }));
    cluster.unblock('Secret');
    await clock.advance(2_000);
    await calm();
    const failures = log.filter(({ msg }) => msg === 'Definition cannot start, will retry');
    assert.deepEqual(
      failures.map(({ level }) => level),
      ['warn', 'debug'],
    );
    await stop();
  });

  test('a definition that restarts because a kind is served now is not shown as running meanwhile', async () => {
    const { clock, cluster, view, calm, stop, reported } = await setUp({ located: a }, [
      'ConfigMap',
    ]);
    assert.equal(view().state.kind, 'running');
    cluster.missing.clear();
    await clock.advance(5_000);
    assert.equal(view().state.kind, 'starting');
    await clock.advance(1_000);
    await calm();
    assert.equal(view().state.kind, 'running');
    assert.equal(reported('Definition running'), 2);
    await stop();
  });

  test('errors of the newest text are reported beside what runs', async () => {
    const rejection = { message: 'Unknown field', diagnostics: ['a.yaml:1:1: Unknown field'] };
    const { view, want, calm, stop } = await setUp({ located: a });
    want({ located: a, rejection });
    await calm();
    assert.deepEqual(view().rejection, rejection);
    assert.equal(view().next, undefined);
    await stop();
  });

  test('no resource takes a revision before it is on record', async () => {
    const { view, made, want, calm, stop, disk, accepted } = await setUp({ located: a });
    const gate = Promise.withResolvers<void>();
    disk.pace = () => gate.promise;
    want({ located: b });
    await calm();
    assert.equal(made(), 'a');
    assert.equal(view().revision, revisionOf(a));
    assert.deepEqual(view().next, {
      revision: revisionOf(b),
      message: 'Recording the accepted revision',
    });
    gate.resolve();
    await calm();
    assert.equal(made(), 'b');
    assert.deepEqual(accepted, [revisionOf(a), revisionOf(b)]);
    await stop();
  });

  test('a revision that is superseded while it waits for its record is never taken', async () => {
    const { made, want, calm, stop, disk, accepted } = await setUp({ located: a });
    disk.pace = () => new Promise(() => {});
    want({ located: b });
    await calm();
    disk.pace = () => Promise.resolve();
    want({ located: c });
    await calm();
    assert.equal(made(), 'c');
    assert.deepEqual(accepted, [revisionOf(a), revisionOf(c)]);
    await stop();
  });

  test('a paused definition does nothing, and continues', async () => {
    const { cluster, view, made, want, calm, stop } = await setUp({ located: a, isPaused: true });
    assert.equal(view().isPaused, true);
    assert.equal(made(), undefined);
    want({ located: a });
    await calm();
    assert.equal(made(), 'a');
    want({ located: a, isPaused: true });
    cluster.server.delete(gvkOf('v1', 'ConfigMap'), { namespace: 'default', name: 'one-shadow' });
    await calm();
    assert.equal(made(), undefined);
    want({ located: b });
    await calm();
    assert.equal(made(), 'b');
    await stop();
  });
});
