import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import {
  DefinitionsWorld,
  type DefinitionsWorldOptions,
} from '../../../test/support/fakes/definitions-world.ts';
import {
  brokenSpec,
  locatedShadow,
  type ShadowOptions,
  shadowObject,
  shadowSpec,
} from '../../../test/support/fakes/shadow-definition.ts';
import { KubeError } from '../../kube/roles.ts';

/** Its Secrets have our finalizer. */
const held: ShadowOptions = { isOrphaned: true };
const [a, b] = [shadowSpec('a', held), shadowSpec('b', held)];
const finalizer = 'homeostat.dev/shadow';
const ours = 'homeostat.dev/definition';
const runtimeLabel = 'homeostat.dev/runtime';

async function started(
  t: TestContext,
  options: DefinitionsWorldOptions = {},
): Promise<DefinitionsWorld> {
  const world = new DefinitionsWorld(options);
  let isOver = false;
  const { stop } = world;
  world.stop = async () => {
    if (isOver) return;
    isOver = true;
    await stop.call(world);
  };
  t.after(() => world.stop());
  await world.start();
  return world;
}

/** With a definition of a user that runs, and a Secret that it works on. */
async function running(
  t: TestContext,
  options: DefinitionsWorldOptions = {},
): Promise<DefinitionsWorld> {
  const world = await started(t, options);
  world.cluster.make('Secret');
  await world.edit(a);
  assert.equal(world.cluster.shadow(), 'a', world.condition('Ready'));
  world.cluster.takeWrites();
  return world;
}

/** With a definition of a text that runs. */
async function publishing(t: TestContext): Promise<DefinitionsWorld> {
  const world = await started(t);
  world.cluster.make('Secret');
  await world.publish(a);
  assert.equal(world.cluster.shadow(), 'a', world.condition('Ready'));
  world.cluster.takeWrites();
  return world;
}

/** A process that starts after the one of `before` has ended; the texts are there as before. */
async function restarted(
  t: TestContext,
  before: DefinitionsWorld,
  options: DefinitionsWorldOptions = {},
): Promise<DefinitionsWorld> {
  await before.stop();
  const world = new DefinitionsWorld({ before, ...options });
  for (const name of before.texts) world.texts.add(name);
  t.after(() => world.stop());
  await world.start();
  return world;
}

/** Does it still look after what it has made? */
async function repairs(world: DefinitionsWorld): Promise<boolean> {
  world.cluster.remove('ConfigMap', 'one-shadow');
  await world.wait(1_000);
  return world.cluster.shadow() !== undefined;
}

const writesTo = (world: DefinitionsWorld, kind = 'OperatorDefinition') =>
  world.cluster.takeWrites().filter((write) => write.includes(` ${kind}/`));

describe('runtime/definitions/controller: objects of users', () => {
  test('one is claimed in one write, and its revision and kinds are on record before a resource takes it', async (t) => {
    const world = await started(t);
    world.cluster.make('Secret');
    const seen: unknown[] = [];
    world.cluster.fault = ({ kind }) => {
      if (kind === 'ConfigMap' || kind === 'Secret') {
        const { kinds } = world.status<{ kinds: unknown }>();
        seen.push({ accepted: world.accepted(), kinds });
      }
      return undefined;
    };
    await world.edit(a);
    const [first, ...others] = writesTo(world);
    assert.equal(first, 'edit OperatorDefinition/shadow');
    assert.ok(
      others.every((write) => write === 'status OperatorDefinition/shadow'),
      others.join(),
    );
    const { labels, finalizers } = world.object()?.metadata ?? {};
    assert.deepEqual([labels, finalizers], [{ [runtimeLabel]: 'here' }, [ours]]);
    const kinds = { resources: ['Secret'], children: ['ConfigMap'] };
    assert.ok(seen.length > 0);
    for (const each of seen) assert.deepEqual(each, { accepted: ['a'], kinds });
    assert.equal(world.cluster.shadow(), 'a');
    const { revision } = locatedShadow(a).definition;
    assert.equal(world.condition('Running'), `True Running: Revision ${revision}`);
    assert.deepEqual(world.events, ['Accepted shadow']);
  });

  test('when nothing changes, nothing is written', async (t) => {
    const world = await running(t);
    await world.wait(3_600_000);
    assert.deepEqual(writesTo(world), []);
  });

  test('labels and finalizers of others stay', async (t) => {
    const world = await started(t);
    await world.edit(a, { labels: { mine: 'yes' }, finalizers: ['example.com/theirs'] });
    const { labels, finalizers } = world.object()?.metadata ?? {};
    assert.equal(labels?.mine, 'yes');
    assert.deepEqual(finalizers, ['example.com/theirs', ours]);
  });

  test('an edit is recorded, and then taken', async (t) => {
    const world = await running(t);
    await world.edit(b);
    assert.equal(world.cluster.shadow(), 'b');
    assert.equal(world.accepted()[0], 'b');
    await world.wait(60_000);
    assert.deepEqual(world.accepted(), ['b']);
    const told = ['Accepted', 'RolloutStarted', 'Accepted', 'RolloutFinished'];
    assert.deepEqual(
      world.events,
      told.map((reason) => `${reason} shadow`),
    );
  });

  test('a spec with errors keeps the accepted one running, and says so', async (t) => {
    const world = await running(t);
    await world.edit(brokenSpec);
    assert.match(
      world.condition('Accepted'),
      /^False Refused: operatordefinition shadow: spec\.childern: .*Did you mean "children"\?$/,
    );
    assert.match(world.condition('Ready'), /^False Refused: Revision [0-9a-f]+ keeps running\n/);
    assert.deepEqual(world.accepted(), ['a']);
    assert.ok(await repairs(world));
    assert.deepEqual(world.events, ['Accepted shadow', 'Refused shadow']);
  });

  test('so does a new process, with nothing but the status', async (t) => {
    const before = await running(t);
    await before.edit(brokenSpec);
    const world = await restarted(t, before);
    assert.match(world.condition('Accepted'), /^False Refused: .*childern/);
    assert.deepEqual(world.accepted(), ['a']);
    assert.ok(await repairs(world));
    await world.edit(b);
    assert.equal(world.cluster.shadow(), 'b');
    assert.match(world.condition('Accepted'), /^True /);
  });

  test('a new process takes up what is there without a write', async (t) => {
    const before = await running(t);
    const world = await restarted(t, before);
    assert.equal(world.view()?.state.kind, 'running');
    assert.deepEqual(
      world.cluster.takeWrites().filter((write) => !write.startsWith('status ')),
      [],
    );
  });

  test('one that never was good runs nothing, and is shown all the same', async (t) => {
    const world = await started(t);
    world.cluster.make('Secret');
    await world.edit(brokenSpec);
    assert.match(world.condition('Ready'), /^False Refused: .*childern/);
    assert.equal(world.cluster.shadow(), undefined);
    assert.deepEqual(
      world.cluster.watched.map(({ gvk }) => gvk.kind),
      ['OperatorDefinition'],
    );
    await world.edit(a);
    assert.equal(world.cluster.shadow(), 'a');
  });

  test('one of another runtime is never written, and nothing of it is run', async (t) => {
    const world = await started(t);
    world.cluster.make('Secret');
    await world.edit(a, { labels: { [runtimeLabel]: 'there' } });
    await world.edit(b);
    await world.delete();
    await world.wait(60_000);
    assert.deepEqual(world.cluster.takeWrites(), []);
    assert.deepEqual(world.controller.views, []);
  });

  test('where objects are not read it says so, and leaves it to another runtime', async (t) => {
    const world = await started(t, { readsObjects: false });
    world.cluster.make('Secret');
    await world.edit(a);
    assert.match(world.condition('Accepted'), /^False NotRead: .*--sources/);
    assert.deepEqual(world.object()?.metadata.finalizers, undefined);
    assert.deepEqual(world.object()?.metadata.labels, undefined);
    assert.equal(world.cluster.shadow(), undefined);
  });

  test('a pause counts from the object, and ends with it', async (t) => {
    const world = await running(t);
    await world.annotate({ 'homeostat.dev/paused': 'true' });
    assert.match(world.condition('Ready'), /^False Paused: /);
    assert.equal(await repairs(world), false);
    await world.annotate({ 'homeostat.dev/paused': undefined });
    assert.equal(world.cluster.shadow(), 'a');
    assert.match(world.condition('Ready'), /^True Running/);
  });

  test('a pause holds its deletion, and what waits for it', async (t) => {
    const world = await running(t);
    await world.annotate({ 'homeostat.dev/paused': 'true' });
    world.cluster.remove('Secret');
    await world.delete();
    await world.wait(60_000);
    assert.notEqual(world.cluster.object('Secret'), undefined);
    assert.match(world.condition('Ready'), /^False Terminating: Paused/);
    await world.annotate({ 'homeostat.dev/paused': undefined });
    await world.wait(2_000);
    assert.equal(world.cluster.object('Secret'), undefined);
    assert.equal(world.object(), undefined);
  });

  test('another kind under the same name: what is left of the one before comes to its end', async (t) => {
    const world = await running(t);
    world.cluster.make('Service', 'web');
    await world.edit(shadowSpec('s', { kind: 'Service' }));
    assert.equal(world.cluster.shadow('web'), 's');
    const { kinds } = world.status<{ kinds: { resources: readonly string[] } }>();
    assert.deepEqual(kinds?.resources, ['Secret', 'Service']);
    world.cluster.remove('Secret');
    await world.wait(1_000);
    assert.equal(world.cluster.object('Secret'), undefined);
    await world.wait(1_000);
    assert.deepEqual(world.status<{ kinds: object }>().kinds, {
      resources: ['Service'],
      children: ['ConfigMap'],
    });
  });

  test('a status that may not be written holds the start back, and says why; with the right it continues at once', async (t) => {
    const world = await started(t);
    world.cluster.make('Secret');
    const right = { verb: 'patch', group: 'homeostat.dev', resource: 'operatordefinitions/status' };
    world.cluster.fault = ({ verb }) =>
      verb === 'status' ? new KubeError('forbidden', 'no', { status: 403, right }) : undefined;
    await world.edit(a);
    assert.equal(world.cluster.shadow(), undefined);
    const state = world.view()?.state;
    assert.match(state && 'message' in state ? state.message : '', /not allowed to patch/);
    world.cluster.fault = () => undefined;
    world.cluster.rights.grant();
    await world.wait(1_000);
    assert.equal(world.cluster.shadow(), 'a');
  });

  test('what the server fails to take is tried again', async (t) => {
    const world = await started(t);
    world.cluster.make('Secret');
    world.cluster.fault = ({ kind }) =>
      kind === 'OperatorDefinition'
        ? new KubeError('server-error', 'no', { status: 500 })
        : undefined;
    await world.edit(a);
    assert.equal(world.cluster.shadow(), undefined);
    world.cluster.fault = () => undefined;
    await world.wait(60_000);
    assert.equal(world.cluster.shadow(), 'a');
  });
});

describe('runtime/definitions/controller: two definitions of one kind', () => {
  const writer = (text: string, isOrphaned = false) =>
    shadowSpec(text, { kind: 'Service', isOrphaned, more: { status: { loadBalancer: {} } } });
  const second = { name: 'second', creationTimestamp: '2026-02-01T00:00:00Z' };

  test('the status of a kind is written by the older one; the other is reported whose it is, until that is gone', async (t) => {
    const world = await started(t);
    await world.edit(writer('a'));
    await world.edit(writer('b'), second);
    assert.match(world.condition('Accepted'), /^True/);
    assert.match(
      world.condition('Accepted', 'second'),
      /^False Refused: The status of kind "v1\/Service" belongs to the definition "shadow"$/,
    );
    await world.delete();
    await world.wait(1_000);
    assert.equal(world.object(), undefined);
    assert.match(world.condition('Accepted', 'second'), /^True/);
  });

  test('one that is being deleted gives it up at once, whatever waits for it', async (t) => {
    const world = await started(t);
    world.cluster.make('Service', 'web');
    await world.edit(writer('a', true));
    await world.edit(writer('b'), second);
    await world.delete();
    assert.match(world.condition('Ready'), /^False Terminating: One resource has its finalizer/);
    assert.match(world.condition('Accepted', 'second'), /^True/);
  });

  test('one whose text is gone gives it up when it stops', async (t) => {
    const world = await started(t);
    await world.publish(writer('a'));
    await world.edit(writer('b'), second);
    assert.match(world.condition('Accepted', 'second'), /^False Refused: /);
    await world.withdraw();
    await world.wait(20_000);
    assert.match(world.condition('Accepted', 'second'), /^False Refused: /);
    await world.wait(20_000);
    assert.match(world.condition('Accepted', 'second'), /^True/);
  });

  test('one that is not read any more has it no more', async (t) => {
    const before = await started(t);
    await before.edit(writer('a'), second);
    const world = await restarted(t, before, { readsObjects: false });
    await world.publish(writer('b'));
    assert.match(world.condition('Accepted', 'second'), /^False NotRead: /);
    assert.match(world.condition('Accepted'), /^True/);
  });

  test('who claims it with an edit keeps the revision that was accepted', async (t) => {
    const world = await started(t);
    world.cluster.make('Secret');
    await world.edit(writer('a'), second);
    await world.edit(a);
    await world.edit(writer('b'));
    assert.match(world.condition('Accepted'), /^False Refused: .*"second"$/);
    assert.equal(world.cluster.shadow(), 'a');
    assert.ok(await repairs(world));
  });
});

describe('runtime/definitions/controller: published objects', () => {
  test('one runs when its text is confirmed, and not before', async (t) => {
    const world = await started(t);
    world.cluster.make('Secret');
    world.texts.add('shadow');
    const labels = { 'homeostat.dev/source': 'configmap', [runtimeLabel]: 'here' };
    const annotations = { 'homeostat.dev/source-ref': 'ops/defs/shadow.yaml' };
    await world.edit(a, { labels, annotations });
    await world.wait(60_000);
    assert.equal(world.cluster.shadow(), undefined);
    assert.match(world.condition('Accepted'), /^Unknown Checking: Publishing/);
    await world.publish(a);
    assert.equal(world.cluster.shadow(), 'a');
    assert.match(
      world.condition('Accepted'),
      /^True Accepted: From configmap ops\/defs\/shadow\.yaml$/,
    );
  });

  test('an edited spec never runs; the accepted one does, also for a new process', async (t) => {
    const before = await publishing(t);
    await before.edit(b);
    await before.wait(60_000);
    assert.equal(before.cluster.shadow(), 'a');
    assert.match(before.condition('Accepted'), /^True/);
    const world = await restarted(t, before);
    await world.wait(60_000);
    assert.equal(world.cluster.shadow(), 'a');
    assert.deepEqual(world.accepted(), ['a']);
    assert.ok(await repairs(world));
  });

  test('the label of a source does not make a text of an object', async (t) => {
    const world = await running(t);
    const labels = { 'homeostat.dev/source': 'configmap', [runtimeLabel]: 'here' };
    await world.edit(b, { labels, annotations: { 'homeostat.dev/source-ref': 'ops/x/y.yaml' } });
    await world.wait(60_000);
    assert.equal(world.cluster.shadow(), 'a');
  });

  test('errors of the newest text are reported, and the accepted one runs on', async (t) => {
    const world = await publishing(t);
    await world.reject('a.yaml:1:1: One', 'a.yaml:2:2: Two');
    assert.equal(world.condition('Accepted'), 'False Refused: a.yaml:1:1: One\na.yaml:2:2: Two');
    assert.ok(await repairs(world));
    assert.deepEqual(world.events, ['Accepted shadow', 'Refused shadow']);
    await world.publish(b);
    assert.equal(world.cluster.shadow(), 'b');
    assert.match(world.condition('Accepted'), /^True/);
  });

  test('so it is for a new process', async (t) => {
    const before = await publishing(t);
    await before.reject('a.yaml:1:1: One');
    const world = await restarted(t, before);
    assert.equal(world.condition('Accepted'), 'False Refused: a.yaml:1:1: One');
    assert.ok(await repairs(world));
  });

  for (const [what, place, condition, isRun] of [
    ['are not read yet', undefined, /^Unknown Checking: Reading its manifest/, false],
    ['cannot be read', 'unknown', /^False Refused: Its manifest cannot be read/, true],
    ['are not read by this runtime', 'elsewhere', /^False NotRead: /, false],
  ] as const)
    test(`at a start where its texts ${what} the accepted revision ${isRun ? 'runs' : 'rests'}`, async (t) => {
      const before = await publishing(t);
      await before.stop();
      const world = new DefinitionsWorld({ before });
      world.place = place;
      t.after(() => world.stop());
      await world.start();
      await world.wait(5_000);
      assert.match(world.condition('Accepted'), condition);
      assert.equal(await repairs(world), isRun);
      assert.deepEqual(world.accepted(), ['a']);
    });

  test('a pause counts from the text, and is reported as one', async (t) => {
    const world = await started(t);
    world.cluster.make('Secret');
    await world.publish(a, { 'homeostat.dev/paused-in-text': 'true' });
    assert.equal(world.cluster.shadow(), undefined);
    assert.match(world.condition('Ready'), /^False Paused: /);
    await world.publish(a);
    assert.equal(world.cluster.shadow(), 'a');
  });
});

describe('runtime/definitions/controller: a text that is gone', () => {
  test('runs 30 s more, and then its deletions come to their end', async (t) => {
    const world = await publishing(t);
    await world.withdraw();
    await world.wait(20_000);
    assert.ok(await repairs(world));
    await world.wait(15_000);
    assert.match(world.condition('Accepted'), /^False Withdrawn: /);
    assert.equal(await repairs(world), false);
    assert.deepEqual(world.cluster.finalizers('Secret'), [finalizer]);
    world.cluster.remove('Secret');
    await world.wait(1_000);
    assert.equal(world.cluster.object('Secret'), undefined);
    assert.deepEqual(world.accepted(), ['a']);
  });

  test('one that comes back in time has never stopped', async (t) => {
    const world = await publishing(t);
    await world.withdraw();
    await world.wait(20_000);
    await world.publish(b);
    await world.wait(60_000);
    assert.equal(world.cluster.shadow(), 'b');
    assert.equal(world.log.filter(({ msg }) => msg === 'Definition running').length, 1);
  });

  test('one that comes back later runs again', async (t) => {
    const world = await publishing(t);
    await world.withdraw();
    await world.wait(60_000);
    await world.publish(b);
    assert.equal(world.cluster.shadow(), 'b');
    assert.match(world.condition('Accepted'), /^True/);
  });

  for (const [what, withdraws] of [
    ['and its object says so', true],
    ['and its object does not say so yet', false],
  ] as const)
    test(`before the start ${what}: nothing but deletions is done from the start`, async (t) => {
      const before = await publishing(t);
      if (withdraws) await before.withdraw();
      before.texts.delete('shadow');
      const world = await restarted(t, before);
      assert.match(world.condition('Accepted'), /^False Withdrawn: /);
      assert.equal(await repairs(world), false);
      world.cluster.remove('Secret');
      await world.wait(1_000);
      assert.equal(world.cluster.object('Secret'), undefined);
    });
});

describe('runtime/definitions/controller: objects that are deleted', () => {
  test('with its text there it is released at once, nothing stops, and its object is made again', async (t) => {
    const world = await publishing(t);
    await world.delete();
    assert.equal(world.object(), undefined);
    assert.deepEqual(world.cluster.finalizers('Secret'), [finalizer]);
    assert.ok(await repairs(world));
    await world.publish(a);
    assert.deepEqual(world.accepted(), ['a']);
    assert.match(world.condition('Ready'), /^True Running/);
    assert.ok(await repairs(world));
    assert.equal(world.log.filter(({ msg }) => msg === 'Definition running').length, 1);
  });

  test('so it is while others hold the object back', async (t) => {
    const world = await publishing(t);
    await world.edit(a, { finalizers: [ours, 'example.com/theirs'] });
    await world.delete();
    assert.deepEqual(world.object()?.metadata.finalizers, ['example.com/theirs']);
    await world.annotate({ any: 'edit' });
    assert.ok(await repairs(world));
  });

  test('a user’s waits while a resource has its finalizer, and says what to do', async (t) => {
    const world = await running(t);
    world.cluster.make('Secret', 'two');
    await world.wait(1_000);
    await world.delete();
    assert.match(
      world.condition('Ready'),
      /^False Terminating: 2 resources have its finalizer: delete them, or annotate the definition with homeostat\.dev\/abandon/,
    );
    assert.equal(await repairs(world), false);
    world.cluster.remove('Secret');
    await world.wait(1_000);
    assert.match(world.condition('Ready'), /^False Terminating: One resource has its finalizer/);
    world.cluster.remove('Secret', 'two');
    await world.wait(1_000);
    assert.equal(world.object(), undefined);
    assert.deepEqual(world.controller.views, []);
    assert.deepEqual(
      world.cluster.watched.map(({ gvk }) => gvk.kind),
      ['OperatorDefinition'],
    );
  });

  test('so it is for a new process, of which nothing is known but the status', async (t) => {
    const before = await running(t);
    await before.delete();
    const world = await restarted(t, before);
    assert.match(world.condition('Ready'), /^False Terminating: One resource has its finalizer/);
    assert.equal(world.cluster.shadow(), 'a');
    world.cluster.remove('Secret');
    await world.wait(1_000);
    assert.equal(world.object(), undefined);
  });

  test('one of which no resource has a finalizer goes at once, and what it has made stays', async (t) => {
    const world = await started(t);
    world.cluster.make('Secret');
    await world.edit(shadowSpec('a'));
    assert.deepEqual(world.cluster.finalizers('Secret'), []);
    await world.delete();
    assert.equal(world.object(), undefined);
    assert.equal(world.cluster.shadow(), 'a');
  });

  test('one that never was good goes at once', async (t) => {
    const world = await started(t);
    await world.edit(brokenSpec);
    await world.delete();
    assert.equal(world.object(), undefined);
  });

  test('a published one without a text waits like a user’s', async (t) => {
    const world = await publishing(t);
    await world.withdraw();
    await world.wait(60_000);
    await world.delete();
    assert.match(world.condition('Ready'), /^False Terminating: One resource has its finalizer/);
    world.cluster.remove('Secret');
    await world.wait(1_000);
    assert.equal(world.object(), undefined);
  });

  test('one that is abandoned goes at once; its resources and their children stay as they are', async (t) => {
    const world = await running(t);
    await world.delete();
    assert.ok(world.object());
    await world.annotate({ 'homeostat.dev/abandon': 'true' });
    await world.wait(1_000);
    assert.equal(world.object(), undefined);
    assert.ok(world.cluster.object('Secret'));
    assert.deepEqual(world.cluster.finalizers('Secret'), []);
    assert.equal(world.cluster.shadow(), 'a');
  });

  test('the annotation alone, without a deletion, changes nothing', async (t) => {
    const world = await running(t);
    await world.annotate({ 'homeostat.dev/abandon': 'true' });
    assert.deepEqual(world.cluster.finalizers('Secret'), [finalizer]);
    assert.ok(await repairs(world));
  });

  test('a paused one finalizes nothing: what is to be done by hand can be done', async (t) => {
    const world = await running(t);
    await world.annotate({ 'homeostat.dev/paused': 'true' });
    world.cluster.remove('Secret');
    await world.wait(1_000);
    assert.deepEqual(world.cluster.finalizers('Secret'), [finalizer]);
  });

  test('the same name again, while the one before has just gone, begins with nothing', async (t) => {
    const world = await started(t);
    world.cluster.make('Secret');
    await world.edit(shadowSpec('a'));
    const { finalizers: _, ...metadata } = world.object()?.metadata ?? { name: 'shadow' };
    // Both at once, as with `kubectl replace --force` against a controller that is slow.
    world.cluster.server.put({ ...shadowObject(a), metadata: { ...metadata, finalizers: [] } });
    world.cluster.server.delete(
      { group: 'homeostat.dev', version: 'v1alpha1', kind: 'OperatorDefinition' },
      { namespace: undefined, name: 'shadow' },
    );
    await world.edit(brokenSpec);
    assert.match(world.condition('Ready'), /^False Refused: operatordefinition shadow: /);
    assert.deepEqual(world.accepted(), []);
    assert.equal(await repairs(world), false);
  });
});

describe('runtime/definitions/controller: an uninstall', () => {
  const removing = shadowSpec('a', { ...held, more: { removalPolicy: 'Delete' } });
  const going = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.com/hold'] };

  /** With the kind of definitions as a server has it, and a definition that takes what it has made with it. */
  async function removable(t: TestContext, crd: object = {}): Promise<DefinitionsWorld> {
    const world = await started(t);
    world.cluster.server.put({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        name: 'operatordefinitions.homeostat.dev',
        creationTimestamp: '2025-01-01T00:00:00Z',
        ...crd,
      },
    });
    world.cluster.make('Secret');
    // An orphan is one of a resource, not of a definition.
    await world.edit({ ...removing, children: shadowSpec('a').children ?? [] });
    assert.equal(world.cluster.shadow(), 'a');
    return world;
  }

  test('takes the children; the resources stay, and the object is deleted last', async (t) => {
    const world = await removable(t);
    const order: string[] = [];
    world.cluster.fault = ({ verb, kind }) => {
      if (verb === 'delete' || (verb === 'edit' && kind === 'OperatorDefinition'))
        order.push(`${verb} ${kind}`);
      return undefined;
    };
    await world.delete();
    await world.wait(10_000);
    assert.equal(world.cluster.shadow(), undefined);
    assert.equal(world.object(), undefined);
    assert.deepEqual(order, ['delete ConfigMap', 'edit OperatorDefinition']);
    assert.ok(world.cluster.object('Secret'));
    assert.deepEqual(world.cluster.finalizers('Secret'), []);
  });

  test('continues where another process has ended', async (t) => {
    const before = await removable(t);
    before.cluster.fault = ({ verb }) =>
      verb === 'delete' ? new KubeError('unavailable', 'no', { status: 503 }) : undefined;
    await before.delete();
    assert.match(before.condition('Ready'), /^False Terminating: /);
    before.cluster.fault = () => undefined;
    const world = await restarted(t, before);
    await world.wait(60_000);
    assert.deepEqual([world.cluster.shadow(), world.object()], [undefined, undefined]);
  });

  test('takes nothing where the kind of definitions is being deleted', async (t) => {
    const world = await removable(t, going);
    await world.delete();
    await world.wait(60_000);
    assert.equal(world.cluster.shadow(), 'a');
  });

  test('takes nothing while it is paused, and says so', async (t) => {
    const world = await removable(t);
    await world.annotate({ 'homeostat.dev/paused': 'true' });
    await world.delete();
    await world.wait(60_000);
    assert.equal(world.cluster.shadow(), 'a');
    assert.match(world.condition('Ready'), /^False Terminating: Paused/);
    await world.annotate({ 'homeostat.dev/paused': undefined });
    await world.wait(10_000);
    assert.deepEqual([world.cluster.shadow(), world.object()], [undefined, undefined]);
  });

  test('takes nothing of one that is abandoned in the middle of it', async (t) => {
    const world = await removable(t);
    world.cluster.fault = ({ verb }) =>
      verb === 'delete' ? new KubeError('unavailable', 'no', { status: 503 }) : undefined;
    await world.delete();
    await world.annotate({ 'homeostat.dev/abandon': 'true' });
    world.cluster.fault = () => undefined;
    await world.wait(60_000);
    assert.equal(world.cluster.shadow(), 'a');
    assert.equal(world.object(), undefined);
  });

  test('of a published object there is none', async (t) => {
    const world = await removable(t);
    await world.edit(removing, {
      labels: { 'homeostat.dev/source': 'configmap', [runtimeLabel]: 'here' },
    });
    await world.delete();
    await world.wait(60_000);
    assert.equal(world.cluster.shadow(), 'a');
  });
});

describe('runtime/definitions/controller: a hand-over between runtimes', () => {
  test('who gets an object waits 30 s, in which the other may still be at work', async (t) => {
    const world = await started(t);
    world.cluster.make('Secret');
    await world.edit(a, { labels: { [runtimeLabel]: 'there' }, finalizers: [ours] });
    await world.edit(a, { labels: { [runtimeLabel]: 'here' } });
    await world.wait(25_000);
    assert.deepEqual(world.cluster.takeWrites(), []);
    await world.wait(6_000);
    assert.equal(world.cluster.shadow(), 'a');
    assert.match(world.condition('Ready'), /^True/);
  });

  test('so it does when the label is taken off', async (t) => {
    const world = await started(t);
    world.cluster.make('Secret');
    await world.edit(a, { labels: { [runtimeLabel]: 'there' } });
    await world.edit(a, { labels: {} });
    await world.wait(25_000);
    assert.deepEqual(world.cluster.takeWrites(), []);
    await world.wait(6_000);
    assert.equal(world.cluster.shadow(), 'a');
    assert.equal(world.object()?.metadata.labels?.[runtimeLabel], 'here');
  });

  test('an object of a name that another runtime had before is not waited for', async (t) => {
    const world = await started(t);
    world.cluster.make('Secret');
    await world.edit(a, { labels: { [runtimeLabel]: 'there' } });
    await world.delete();
    assert.equal(world.object(), undefined);
    await world.edit(a);
    assert.equal(world.cluster.shadow(), 'a');
  });

  test('the objects of a runtime that is gone are taken over, and waited for', async (t) => {
    const world = await started(t, { takeOverFrom: 'there' });
    world.cluster.make('Secret');
    await world.edit(a, { labels: { [runtimeLabel]: 'there' }, finalizers: [ours] });
    await world.wait(1_000);
    assert.equal(world.object()?.metadata.labels?.[runtimeLabel], 'here');
    assert.equal(world.cluster.shadow(), undefined);
    await world.wait(25_000);
    assert.equal(world.cluster.shadow(), undefined);
    await world.wait(6_000);
    assert.equal(world.cluster.shadow(), 'a');
    await world.edit(a, { labels: { [runtimeLabel]: 'elsewhere' } });
    await world.wait(60_000);
    assert.equal(world.object()?.metadata.labels?.[runtimeLabel], 'elsewhere');
    assert.deepEqual(world.controller.views, []);
  });

  test('who gives an object away stops, and leaves all of it as it is', async (t) => {
    const world = await running(t);
    await world.edit(a, { labels: { [runtimeLabel]: 'there' } });
    world.cluster.takeWrites();
    assert.equal(await repairs(world), false);
    world.cluster.remove('Secret');
    await world.wait(60_000);
    assert.deepEqual(world.cluster.takeWrites(), []);
    assert.deepEqual(world.controller.views, []);
    assert.deepEqual(world.object()?.metadata.finalizers, [ours]);
  });

  test('two runtimes that see a new object at the same time: one of them has it', async (t) => {
    const one = await started(t);
    const two = await started(t, { before: one, runtime: 'there' });
    one.cluster.make('Secret');
    await one.edit(a);
    // The cluster takes what either writes for its own, of which nobody is woken.
    await one.annotate({ any: 'edit' });
    const owner = one.object()?.metadata.labels?.[runtimeLabel];
    const [winner, loser] = owner === 'here' ? [one, two] : [two, one];
    assert.equal(winner.view()?.state.kind, 'running');
    assert.deepEqual(loser.controller.views, []);
  });
});
