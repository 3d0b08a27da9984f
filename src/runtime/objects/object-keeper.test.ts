import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  DefinitionWorld,
  locatedThing,
  runningView,
} from '../../../test/support/fakes/definition-world.ts';
import { KubeError } from '../../kube/roles.ts';
import type { DefinitionOrigin, RefusedText, WantedSet } from '../wanted-definition.ts';
import { definitionGvk } from './names.ts';

const here: DefinitionOrigin = { source: 'configmap', ref: 'homeostat-system/ops/thing.yaml' };
const thing = locatedThing('thing');
const changed = locatedThing('thing', '  status: { size: "${ 1 }" }\n');

function wanted(origin: DefinitionOrigin = here): WantedSet {
  return { definitions: [{ located: thing, origin }] };
}

async function running(origin = here): Promise<DefinitionWorld> {
  const world = new DefinitionWorld();
  world.configMap('ops');
  await world.start();
  await world.show(wanted(origin), [runningView(thing)]);
  world.cluster.takeWrites();
  return world;
}

/** The kind of definitions is not served, and may not be installed. */
function withoutKind({ cluster }: DefinitionWorld): void {
  const forbidden = new KubeError('forbidden', 'no', { status: 403 });
  cluster.fault = ({ kind }) => (kind === 'CustomResourceDefinition' ? forbidden : undefined);
  cluster.lookUp = async () => undefined;
  cluster.block('OperatorDefinition', new KubeError('kind-missing', 'no', { status: 404 }));
}

const refusal = { message: 'It has mistakes', diagnostics: ['thing.yaml:3:5: Unknown field "x"'] };

/** The text as it stands now has a mistake. */
const broken: RefusedText = {
  origin: here,
  name: 'thing',
  document: { ...changed.document, spec: { x: 1 } },
  refusal,
};

describe('runtime/objects', () => {
  test('a definition of a ConfigMap gets an object with its text, where it stands, and a status', async () => {
    const world = await running();
    const object = world.object('thing');
    assert.deepEqual(object?.spec, thing.document.spec);
    assert.equal(object?.metadata.labels?.['homeostat.dev/source'], 'configmap');
    assert.equal(object?.metadata.annotations?.['homeostat.dev/source-ref'], here.ref);
    assert.equal(object?.metadata.ownerReferences, undefined);
    assert.equal(object?.metadata.finalizers, undefined);
    assert.equal(world.condition('thing', 'Ready'), 'True Running: ');
    assert.equal(world.condition('thing', 'Accepted'), `True Accepted: From configmap ${here.ref}`);
    await world.stop();
  });

  test('nothing is written while nothing changes, at whatever is looked', async () => {
    const world = await running();
    await world.show(wanted(), [runningView(thing)]);
    await world.see([runningView(thing)]);
    await world.clock.advance(3_600_000);
    assert.deepEqual(world.cluster.takeWrites(), []);
    await world.stop();
    assert.equal(world.clock.pending, 0);
  });

  test('what somebody changes in the text of a mirror is put back; his marks stay, and are known', async () => {
    const world = await running();
    const object = world.object('thing');
    assert.ok(object);
    const annotations = {
      ...object.metadata.annotations,
      'homeostat.dev/approve-deletions': 'abc',
      'homeostat.dev/paused': 'true',
    };
    world.cluster.server.put({
      ...object,
      metadata: { ...object.metadata, annotations },
      spec: { crd: { ...(object.spec as { crd: object }).crd, scope: 'Cluster' } },
    });
    world.takeEvents();
    await world.settle();
    const [told] = world.cluster.told;
    assert.match(told?.note ?? '', /edit key thing.yaml of .*kubectl edit configmap ops -n homeo/i);
    assert.deepEqual(world.takeEvents(), ['OperatorDefinition/thing PutBack']);
    assert.deepEqual(world.object('thing')?.spec, thing.document.spec);
    assert.equal(world.object('thing')?.metadata.annotations?.['homeostat.dev/paused'], 'true');
    assert.deepEqual(world.objects.known().get('thing'), {
      name: 'thing',
      origin: here,
      approvedDeletions: 'abc',
      isPaused: true,
    });
    await world.stop();
  });

  test('marks in a text are not shown on its mirror: they would take back those of users', async () => {
    const world = await running();
    const annotations = {
      half: 'a character that servers refuse: \ud83d',
      'homeostat.dev/approve-deletions': 'old',
      'homeostat.dev/paused': 'true',
      note: 'x',
    };
    const document = { ...thing.document, metadata: { name: 'thing', annotations } };
    const located = { ...thing, document } as typeof thing;
    await world.show({ definitions: [{ located, origin: here }] }, [runningView(thing)]);
    const shown = world.object('thing')?.metadata.annotations ?? {};
    assert.deepEqual(
      Object.keys(annotations).map((key) => shown[key]),
      [undefined, undefined, undefined, 'x'],
    );
    await world.stop();
  });

  test('a mirror that is deleted by hand comes back', async () => {
    const world = await running();
    world.cluster.server.delete(definitionGvk, { namespace: undefined, name: 'thing' });
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), [
      'apply OperatorDefinition/thing',
      'status OperatorDefinition/thing',
    ]);
    await world.stop();
  });

  test('it goes with its text, and nothing else does; the ConfigMap is told', async () => {
    const world = await running();
    world.takeEvents();
    await world.show({ definitions: [] });
    assert.deepEqual(world.cluster.takeWrites(), ['delete OperatorDefinition/thing']);
    assert.deepEqual(world.takeEvents(), ['ConfigMap/ops Removed']);
    await world.stop();
  });

  test('a mirror of a text that is not read here stays, whoever made it', async () => {
    const world = new DefinitionWorld({ covers: () => false });
    await world.start();
    await world.show(wanted(), [runningView(thing)]);
    await world.show({ definitions: [] });
    assert.ok(world.object('thing'));
    await world.stop();
  });

  test('a mirror of another runtime is left as it is, and that is told once', async () => {
    const theirs = { source: 'configmap', ref: 'elsewhere/ops/thing.yaml' } as const;
    const first = await running(theirs);
    const world = new DefinitionWorld({
      cluster: first.cluster,
      covers: ({ ref }) => ref.startsWith('operators/'),
    });
    await world.start();
    const mine: DefinitionOrigin = { source: 'directory', ref: 'operators/thing.yaml' };
    await world.show(wanted(mine), [runningView(thing, { instances: 3 })]);
    await world.show(wanted(mine), [runningView(thing, { instances: 4 })]);
    assert.deepEqual(first.cluster.takeWrites(), []);
    assert.match(world.objects.warning ?? '', /shows a text of configmap elsewhere/);
    assert.equal(world.log.length, 1);
    await first.stop();
    await world.stop();
  });

  test('what somebody keeps changing is put back now and then only; a new text is shown at once', async () => {
    const world = await running();
    const meddle = async () => {
      const object = world.object('thing');
      assert.ok(object);
      const crd = (object.spec as { crd: object }).crd;
      world.cluster.server.put({ ...object, spec: { crd: { ...crd, scope: 'Cluster' } } });
      await world.settle();
    };
    for (let times = 0; times < 30; times++) await meddle();
    const applies = world.cluster.takeWrites().filter((write) => write.startsWith('apply'));
    assert.ok(applies.length <= 10, String(applies.length));
    await world.clock.advance(60_000);
    await world.settle();
    assert.deepEqual(world.object('thing')?.spec, thing.document.spec);
    for (let times = 0; times < 30; times++) await meddle();
    const next = { definitions: [{ located: changed, origin: here }] };
    await world.show(next, [runningView(changed)]);
    assert.deepEqual(world.object('thing')?.spec, changed.document.spec);
    await world.stop();
  });

  test('a copy of a mirror that a user has applied is not removed: he is told', async () => {
    const world = new DefinitionWorld();
    const metadata = {
      name: 'thing',
      labels: { 'homeostat.dev/source': 'configmap' },
      annotations: { 'homeostat.dev/source-ref': here.ref },
    };
    world.cluster.server.put({ ...thing.document, metadata } as never);
    await world.start();
    await world.show({ definitions: [] });
    assert.ok(world.object('thing'));
    assert.match(world.objects.warning ?? '', /no mirror of ours/);
    await world.stop();
  });

  test('a text that moves to another ConfigMap keeps its object', async () => {
    const world = await running();
    const uid = world.object('thing')?.metadata.uid;
    const there: DefinitionOrigin = { ...here, ref: 'homeostat-system/other/thing.yaml' };
    await world.show(wanted(there), [runningView(thing)]);
    assert.equal(world.object('thing')?.metadata.uid, uid);
    assert.equal(
      world.object('thing')?.metadata.annotations?.['homeostat.dev/source-ref'],
      there.ref,
    );
    await world.stop();
  });

  test('an object that is its own source is never taken: only its status is written', async () => {
    const world = new DefinitionWorld();
    world.cluster.server.put({ ...thing.document, spec: { own: true } } as never);
    await world.start();
    const refused = { origin: { source: 'object', ref: 'thing' }, name: 'thing', refusal } as const;
    await world.show({ ...wanted(), refusedTexts: [refused] }, [runningView(thing)]);
    assert.deepEqual(world.object('thing')?.spec, { own: true });
    assert.equal(world.condition('thing', 'Accepted'), `False Refused: ${refusal.diagnostics[0]}`);
    await world.stop();
  });

  test('an object that no source reads is left as it is', async () => {
    const world = new DefinitionWorld();
    world.cluster.server.put(thing.document as never);
    await world.start();
    await world.show({ definitions: [] });
    assert.equal(world.object('thing')?.status, undefined);
    await world.stop();
  });

  test('a newest text with mistakes is shown as it was written; the old revision goes on', async () => {
    const world = await running();
    world.takeEvents();
    const set = {
      definitions: [{ located: thing, origin: here, refusal }],
      refusedTexts: [broken],
    };
    await world.show(set, [runningView(thing, { refusal })]);
    assert.deepEqual(world.object('thing')?.spec, { x: 1 });
    assert.equal(world.condition('thing', 'Accepted'), `False Refused: ${refusal.diagnostics[0]}`);
    assert.equal(world.condition('thing', 'Running').slice(0, 12), 'True Running');
    assert.match(
      world.condition('thing', 'Ready'),
      /^False Refused: Revision \w{10} goes on\nthing.yaml:3:5: Unknown field "x"$/,
    );
    assert.deepEqual(world.takeEvents(), [
      'ConfigMap/ops Refused',
      'OperatorDefinition/thing Refused',
    ]);
    await world.stop();
  });

  test('where the server does not take that text, its object shows what runs', async () => {
    const world = await running();
    world.cluster.fault = ({ verb, manifest }) =>
      verb === 'apply' && (manifest?.spec as { x?: number } | undefined)?.x === 1
        ? new KubeError('rejected', 'no', { status: 422 })
        : undefined;
    const set = {
      definitions: [{ located: thing, origin: here, refusal }],
      refusedTexts: [broken],
    };
    await world.show(set, [runningView(thing, { refusal })]);
    assert.deepEqual(world.object('thing')?.spec, thing.document.spec);
    world.cluster.takeWrites();
    await world.show(set, [runningView(thing, { refusal })]);
    assert.deepEqual(world.cluster.takeWrites(), [], 'it is not tried again');
    world.takeEvents();
    const { cluster } = world;
    const next = new DefinitionWorld({ cluster });
    await next.start();
    await next.show(set, [runningView(thing, { refusal })]);
    assert.deepEqual(next.takeEvents(), [], 'nobody has edited anything');
    await next.stop();
    await world.stop();
  });

  test('a definition that never had a good text has an object as well, an empty one where it must be', async () => {
    const world = new DefinitionWorld();
    await world.start();
    world.cluster.fault = ({ verb, manifest }) =>
      verb === 'apply' && (manifest?.spec as { x?: number } | undefined)?.x === 1
        ? new KubeError('rejected', 'no', { status: 422 })
        : undefined;
    await world.show({ definitions: [], refusedTexts: [broken] });
    assert.deepEqual(world.object('thing')?.spec, {});
    assert.equal(world.condition('thing', 'Ready'), `False Refused: ${refusal.diagnostics[0]}`);
    await world.stop();
  });

  test('a text without a name is told of on its ConfigMap, once', async () => {
    const world = await running();
    world.takeEvents();
    const nameless = { origin: here, refusal };
    await world.show({ ...wanted(), refusedTexts: [nameless] }, [runningView(thing)]);
    await world.show({ ...wanted(), refusedTexts: [{ ...nameless }] }, [runningView(thing)]);
    assert.deepEqual(world.takeEvents(), ['ConfigMap/ops Refused']);
    await world.stop();
  });

  test('two documents without a name in one text are told once each', async () => {
    const world = await running();
    world.takeEvents();
    const at = (line: number): RefusedText => ({
      origin: here,
      refusal: { ...refusal, diagnostics: [`thing.yaml:${line}:1: Expected a name`] },
    });
    const set = { ...wanted(), refusedTexts: [at(1), at(9)] };
    await world.show(set, [runningView(thing)]);
    await world.show(set, [runningView(thing)]);
    await world.show(set, [runningView(thing)]);
    assert.deepEqual(world.takeEvents(), ['ConfigMap/ops Refused', 'ConfigMap/ops Refused']);
    await world.stop();
  });

  test('what was accepted before is not told again by a new process', async () => {
    const world = await running();
    assert.deepEqual(world.takeEvents(), [
      'ConfigMap/ops Accepted',
      'OperatorDefinition/thing Accepted',
    ]);
    await world.stop();
    const next = new DefinitionWorld({ cluster: world.cluster });
    await next.start();
    await next.show(wanted(), [runningView(thing)]);
    await world.settle();
    assert.deepEqual(world.takeEvents(), []);
    await next.stop();
  });

  test('counts are written once a second at most, and the last one is', async () => {
    const world = await running();
    for (let count = 1; count <= 20; count++)
      await world.see([runningView(thing, { instances: count })]);
    await world.clock.advance(1_000);
    await world.settle();
    const status = world.object('thing')?.status as { instances: number };
    assert.equal(status.instances, 20);
    const writes = world.cluster.takeWrites().length;
    assert.ok(writes <= 6, `${writes} writes in 5 s`);
    await world.stop();
  });

  test('without the right to the CRD there are no objects: told once, and everything else goes on', async () => {
    const world = new DefinitionWorld();
    world.configMap('ops');
    withoutKind(world);
    await world.start();
    await world.show(wanted(), [runningView(thing)]);
    await world.show(wanted(), [runningView(thing)]);
    assert.match(world.objects.warning ?? '', /apply deploy\/crds\/operatordefinitions/);
    assert.deepEqual(
      world.log.map(({ msg }) => msg),
      ['Definitions are not shown in the cluster'],
    );
    assert.deepEqual(world.cluster.takeWrites(), []);
    assert.deepEqual(world.takeEvents(), ['ConfigMap/ops Accepted']);
    await world.stop();
  });
});
