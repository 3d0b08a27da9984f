import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definitionParser } from '../../../test/support/definition-parser.ts';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { QuietCluster } from '../../../test/support/fakes/quiet-cluster.ts';
import { freshMetrics } from '../../../test/support/silent-telemetry.ts';
import { bundledSchemas } from '../../compile/index.ts';
import type { LocatedDefinition } from '../../definition/index.ts';
import { type KindSchema, KubeError, type ResourceType } from '../../kube/roles.ts';
import { createLogger } from '../../telemetry/index.ts';
import { type Gvk, gvkOf } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { createSystemRandom } from '../../util/random.ts';
import { createManager } from '../manager.ts';
import type { WantedDefinition } from '../wanted-definition.ts';

const some = { namespaced: true, hasStatus: false, verbs: [] };
const types: readonly ResourceType[] = [
  { gvk: gvkOf('v1', 'Secret'), plural: 'secrets', ...some },
  { gvk: gvkOf('v1', 'ConfigMap'), plural: 'configmaps', ...some },
  { gvk: gvkOf('v1', 'Service'), plural: 'services', ...some },
];

/** A cluster whose answers about schemas the test gives. */
class AskedCluster extends QuietCluster {
  answer: (gvk: Gvk) => Promise<KindSchema | undefined> = async (gvk) =>
    bundledSchemas().schemaFor(gvk);

  override fetchKindSchema(gvk: Gvk): Promise<KindSchema | undefined> {
    return this.answer(gvk);
  }
}

/** A ConfigMap with this text for every Secret. */
function textOf(
  value: string,
  field = 'data',
  { kind = 'Secret', more = '' }: { readonly kind?: string; readonly more?: string } = {},
): LocatedDefinition {
  const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: shadow }
spec:
  for: { apiVersion: v1, kind: ${kind} }
  children:
    - id: shadow
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-shadow" }
        ${field}: { text: "${value}" }
${more}  controller: { rollout: { perSecond: 0 } }
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

async function setUp(first: WantedDefinition) {
  const clock = new FakeClock();
  const cluster = new AskedCluster(types);
  const log: { readonly level: string; readonly msg: string }[] = [];
  const accepted: string[] = [];
  const manager = createManager({
    cluster,
    clock,
    random: createSystemRandom(),
    logger: createLogger({
      level: 'debug',
      destination: { write: (line: string) => log.push(JSON.parse(line)) },
    }),
    metrics: freshMetrics(),
    onAccepted: ({ definition }) => accepted.push(definition.revision),
  });
  cluster.server.put(secret);
  const stopper = new AbortController();
  const want = (wanted: WantedDefinition) => manager.replace({ definitions: [wanted] });
  const wantNothing = () => manager.replace({ definitions: [] });
  /** Lets all go on that needs no time. */
  const calm = async () => {
    for (let rounds = 0; rounds < 40; rounds++) {
      cluster.deliver();
      await settle();
    }
  };
  want(first);
  const ended = manager.run(stopper.signal);
  await calm();
  const view = () => {
    const [found] = manager.view().definitions;
    assert.ok(found);
    return found;
  };
  const made = () => {
    const object = cluster.server.get(gvkOf('v1', 'ConfigMap'), 'default', 'one-shadow');
    return (object?.object.data as { readonly text?: string } | undefined)?.text;
  };
  const stop = async () => {
    stopper.abort();
    await ended;
    assert.deepEqual(cluster.watched, []);
    assert.equal(clock.pending, 0);
  };
  const told = (message: string) => log.filter(({ msg }) => msg === message).length;
  return { clock, cluster, accepted, want, wantNothing, view, made, calm, stop, told };
}

const a = textOf('a');
const b = textOf('b');
const c = textOf('c');
/** Compiles without schemas only. */
const wrong = textOf('x', 'dada');
const revisionOf = ({ definition }: LocatedDefinition) => definition.revision;

describe('runtime/runner/definition-texts', () => {
  test('a changed text is taken up beside what runs, and what runs never stops', async () => {
    const { view, made, want, calm, stop, accepted, told } = await setUp({ located: a });
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
    assert.equal(told('Definition running'), 1);
    assert.equal(told('Definition changed'), 1);
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

  test('a text that the cluster refuses leaves what runs, is told once and tried again', async () => {
    const { clock, cluster, view, made, want, calm, stop, told } = await setUp({ located: a });
    want({ located: wrong });
    await calm();
    const { refusal, state, revision } = view();
    assert.equal(state.kind, 'running');
    assert.equal(revision, revisionOf(a));
    assert.equal(refusal?.revision, revisionOf(wrong));
    assert.match(refusal?.diagnostics.join() ?? '', /shadow\.yaml:\d+:\d+: .*dada/);
    await clock.advance(60_000);
    assert.equal(told('Change refused, what runs goes on'), 1);
    // What runs looks after its objects.
    cluster.server.delete(gvkOf('v1', 'ConfigMap'), { namespace: 'default', name: 'one-shadow' });
    await calm();
    assert.equal(made(), 'a');
    // The server knows the field from now on.
    cluster.answer = async () => undefined;
    await clock.advance(60_000);
    await calm();
    assert.equal(view().revision, revisionOf(wrong));
    assert.equal(view().refusal, undefined);
    await stop();
  });

  test('the old text again after one that was refused is no change', async () => {
    const { view, want, calm, stop, told } = await setUp({ located: a });
    want({ located: wrong });
    await calm();
    assert.ok(view().refusal);
    want({ located: a });
    await calm();
    assert.equal(view().refusal, undefined);
    assert.equal(view().next, undefined);
    assert.equal(told('Definition changed'), 0);
    await stop();
  });

  test('without a server a text waits, and says for what', async () => {
    const { clock, cluster, view, made, want, calm, stop } = await setUp({ located: a });
    const silence = new KubeError('unavailable', 'no answer', { status: 0 });
    cluster.answer = () => Promise.reject(silence);
    want({ located: b });
    await calm();
    assert.equal(view().refusal, undefined);
    assert.match(view().next?.message ?? '', /no answer/);
    assert.equal(made(), 'a');
    cluster.answer = async (gvk) => bundledSchemas().schemaFor(gvk);
    await clock.advance(10_000);
    await calm();
    assert.equal(made(), 'b');
    await stop();
  });

  test('a right that is missing is told, and when it comes the text is taken up', async () => {
    const { cluster, view, made, want, calm, stop } = await setUp({ located: a });
    const right = { verb: 'get', group: '', resource: 'schemas' };
    cluster.answer = () => Promise.reject(new KubeError('forbidden', 'no', { status: 403, right }));
    want({ located: b });
    await calm();
    assert.match(view().refusal?.message ?? '', /may not get schemas/);
    cluster.answer = async (gvk) => bundledSchemas().schemaFor(gvk);
    cluster.rights.grant();
    await calm();
    assert.equal(made(), 'b');
    assert.equal(view().refusal, undefined);
    await stop();
  });

  test('a text that the cluster refuses at the start leaves the place to the one before', async () => {
    const { view, made, stop, accepted } = await setUp({ located: wrong, formerly: [b, a] });
    assert.equal(made(), 'b');
    assert.equal(view().revision, revisionOf(b));
    assert.equal(view().refusal?.revision, revisionOf(wrong));
    assert.deepEqual(accepted, []);
    await stop();
  });

  test('what the registry refuses is told beside what runs', async () => {
    const refusal = { message: 'Unknown field', diagnostics: ['a.yaml:1:1: Unknown field'] };
    const { view, want, calm, stop } = await setUp({ located: a });
    want({ located: a, refusal });
    await calm();
    assert.deepEqual(view().refusal, refusal);
    assert.equal(view().next, undefined);
    await stop();
  });

  test('another kind under the same name is another definition: what was made for the one before stays', async () => {
    const { cluster, view, made, want, calm, stop } = await setUp({ located: a });
    want({ located: textOf('b', 'data', { kind: 'Service' }) });
    await calm();
    assert.equal(view().kind, 'Service');
    assert.equal(view().state.kind, 'running');
    assert.equal(made(), 'a');
    assert.ok(!cluster.watched.some(({ gvk }) => gvk.kind === 'Secret'));
    await stop();
  });

  test('what of an earlier kind has our finalizer is let go when it is deleted', async () => {
    const finalizing = textOf('a', 'data', { more: '      deletionPolicy: Orphan\n' });
    const { cluster, want, calm, stop } = await setUp({ located: finalizing });
    const secrets = gvkOf('v1', 'Secret');
    const found = () => cluster.server.get(secrets, 'default', 'one')?.object;
    assert.deepEqual(found()?.metadata.finalizers, ['homeostat.dev/shadow']);
    want({ located: textOf('b', 'data', { kind: 'Service' }) });
    await calm();
    cluster.server.delete(secrets, { namespace: 'default', name: 'one' });
    await calm();
    assert.equal(found(), undefined);
    // The kind of before is back.
    want({ located: finalizing });
    cluster.server.put(secret);
    await calm();
    assert.deepEqual(found()?.metadata.finalizers, ['homeostat.dev/shadow']);
    await stop();
  });

  test('a definition that goes and comes back at once goes on', async () => {
    const { view, made, want, wantNothing, calm, stop } = await setUp({ located: a });
    wantNothing();
    want({ located: b });
    wantNothing();
    want({ located: c });
    await calm();
    assert.equal(made(), 'c');
    assert.equal(view().state.kind, 'running');
    await stop();
  });

  test('a paused definition does nothing, and goes on', async () => {
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
