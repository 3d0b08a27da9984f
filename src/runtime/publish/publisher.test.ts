import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { PublisherWorld } from '../../../test/support/fakes/publisher-world.ts';
import { bad, garbled, good, located } from '../../../test/support/fakes/thing-texts.ts';
import { KubeError } from '../../kube/roles.ts';
import { definitionGvk } from '../objects/index.ts';
import { controlsOf, type DefinitionControls } from './definition-controls.ts';

const ref = 'ops/defs/thing.yaml';
const revisionOf = (text: string) => located(text).definition.revision;
const noteOf = (world: PublisherWorld, key: string) =>
  world.object('thing')?.metadata.annotations?.[`homeostat.dev/${key}`];

async function started(t: TestContext, before?: PublisherWorld): Promise<PublisherWorld> {
  const world = new PublisherWorld(before);
  t.after(() => world.stop());
  await world.start();
  return world;
}

/** With a definition of a ConfigMap that is published. */
async function published(t: TestContext): Promise<PublisherWorld> {
  const world = await started(t);
  await world.say({ [ref]: good('thing') });
  world.cluster.takeWrites();
  return world;
}

/** The text with annotations, in YAML. */
const asking = (text: string, annotations: string) =>
  text.replace('name: thing', `name: thing, annotations: { ${annotations} }`);

/** The spec with another value in it. */
const edited = (version: number) => located(good('thing', version)).document.spec as object;

describe('runtime/publish/publisher', () => {
  test('a text becomes an object, is confirmed, and costs one write', async (t) => {
    const world = await started(t);
    await world.say({ [ref]: good('thing') });
    assert.deepEqual(world.cluster.takeWrites(), ['apply OperatorDefinition/thing']);
    assert.deepEqual(world.object('thing')?.spec, located(good('thing')).document.spec);
    assert.equal(noteOf(world, 'source-ref'), ref);
    assert.equal(world.revision('thing'), revisionOf(good('thing')));
    await world.wait(3_600_000);
    assert.deepEqual(world.cluster.takeWrites(), []);
  });

  test('a changed text is published, and confirmed with its own revision', async (t) => {
    const world = await published(t);
    await world.say({ [ref]: good('thing', 2) });
    assert.equal(world.revision('thing'), revisionOf(good('thing', 2)));
    assert.deepEqual(world.cluster.takeWrites(), ['apply OperatorDefinition/thing']);
  });

  test('an error stands on the object, whose spec stays and is confirmed no more; mended, it is deleted', async (t) => {
    const world = await published(t);
    await world.say({ [ref]: bad('thing') });
    assert.deepEqual(world.object('thing')?.spec, located(good('thing')).document.spec);
    assert.match(
      noteOf(world, 'rejected') ?? '',
      /^ops\/defs\/thing\.yaml:\d+:\d+: .*Did you mean "reads"\?/,
    );
    assert.equal(world.revision('thing'), undefined);
    await world.say({ [ref]: good('thing', 3) });
    assert.equal(noteOf(world, 'rejected'), undefined);
    assert.equal(world.revision('thing'), revisionOf(good('thing', 3)));
  });

  test('a definition that never was good has an object all the same, and is not confirmed', async (t) => {
    const world = await started(t);
    await world.say({ [ref]: bad('thing') });
    assert.deepEqual(world.object('thing')?.spec, {});
    assert.match(noteOf(world, 'rejected') ?? '', /reeds/);
    assert.equal(world.revision('thing'), undefined);
  });

  for (const [name, text] of [
    ['cannot be parsed', garbled],
    ['cannot be read', { text: '', unreadable: 'permission denied' }],
  ] as const)
    test(`a text that ${name} changes nothing`, async (t) => {
      const world = await published(t);
      await world.say({ [ref]: text });
      await world.wait(3_600_000);
      assert.deepEqual(world.cluster.takeWrites(), []);
      assert.equal(world.revision('thing'), revisionOf(good('thing')));
    });

  test('a source that cannot be read changes nothing', async (t) => {
    const world = await published(t);
    world.source.fail('forbidden');
    await world.wait(3_600_000);
    assert.deepEqual(world.cluster.takeWrites(), []);
  });

  test('an edit of the spec is not confirmed, and reverted with an Event', async (t) => {
    const world = await published(t);
    await world.replace('thing', edited(9));
    await world.wait(60_000);
    assert.deepEqual(world.object('thing')?.spec, located(good('thing')).document.spec);
    assert.deepEqual(world.events, ['PutBack thing']);
    assert.equal(world.revision('thing'), revisionOf(good('thing')));
  });

  test('a user who edits it again and again is answered ever more slowly', async (t) => {
    const world = await published(t);
    for (let edit = 0; edit < 60; edit++) {
      await world.replace('thing', edited(100 + edit));
      await world.wait(100);
    }
    assert.ok(world.cluster.takeWrites().length <= 12);
  });

  test('a user’s marks and labels stay', async (t) => {
    const world = await published(t);
    await world.edit('thing', 'kubectl', {
      metadata: {
        name: 'thing',
        annotations: { 'homeostat.dev/paused': 'true' },
        labels: { mine: 'yes' },
      },
    });
    await world.say({ [ref]: good('thing', 2) });
    assert.equal(noteOf(world, 'paused'), 'true');
    assert.equal(world.object('thing')?.metadata.labels?.mine, 'yes');
  });

  test('a text that vanishes withdraws its object at once, and ten minutes later it is deleted', async (t) => {
    const world = await published(t);
    await world.say({});
    assert.ok(noteOf(world, 'withdrawn'));
    assert.equal(world.revision('thing'), undefined);
    assert.deepEqual(world.events, ['Withdrawn thing']);
    await world.wait(590_000);
    assert.equal(world.object('thing')?.metadata.deletionTimestamp, undefined);
    await world.wait(15_000);
    await world.letGo('thing');
    await world.wait(3_600_000);
    assert.equal(world.object('thing'), undefined);
  });

  test('it stays as long across a restart', async (t) => {
    const world = await published(t);
    await world.say({});
    await world.wait(300_000);
    await world.stop();
    const next = await started(t, world);
    await next.say({});
    await next.wait(290_000);
    assert.equal(next.object('thing')?.metadata.deletionTimestamp, undefined);
    await next.wait(15_000);
    await next.letGo('thing');
    assert.equal(next.object('thing'), undefined);
  });

  test('a text that comes back in time has the same object', async (t) => {
    const world = await published(t);
    const { uid } = world.object('thing')?.metadata ?? {};
    await world.say({});
    await world.wait(300_000);
    await world.say({ [ref]: good('thing') });
    assert.equal(noteOf(world, 'withdrawn'), undefined);
    assert.equal(world.revision('thing'), revisionOf(good('thing')));
    await world.wait(3_600_000);
    assert.equal(world.object('thing')?.metadata.uid, uid);
  });

  test('an error beside it keeps a name that is not found any more', async (t) => {
    const world = await published(t);
    await world.say({ [ref]: bad('thnig') });
    await world.wait(3_600_000);
    assert.equal(noteOf(world, 'withdrawn'), undefined);
    assert.equal(world.revision('thing'), revisionOf(good('thing')));
  });

  test('an object that is deleted is made again, once it is gone', async (t) => {
    const world = await published(t);
    const { uid } = world.object('thing')?.metadata ?? {};
    world.cluster.server.delete(definitionGvk, { namespace: undefined, name: 'thing' });
    await world.wait(60_000);
    assert.deepEqual(world.cluster.takeWrites(), []);
    await world.letGo('thing');
    assert.ok(world.object('thing'));
    assert.notEqual(world.object('thing')?.metadata.uid, uid);
    assert.equal(world.revision('thing'), revisionOf(good('thing')));
  });

  test('of two texts with one name the first keeps it, and the other takes over when it is deleted', async (t) => {
    const world = await published(t);
    const other = 'ops/more/thing.yaml';
    await world.say({ [ref]: good('thing'), [other]: good('thing', 2) });
    assert.deepEqual(world.lost.get('thing'), [`${other} manifest`]);
    assert.equal(world.revision('thing'), revisionOf(good('thing')));
    await world.say({ [other]: good('thing', 2) });
    assert.deepEqual(world.lost.get('thing'), []);
    assert.equal(noteOf(world, 'source-ref'), other);
    assert.equal(world.revision('thing'), revisionOf(good('thing', 2)));
  });

  test('an object of a user is never touched', async (t) => {
    const world = await started(t);
    await world.edit('thing', 'kubectl', { spec: { children: [] } });
    await world.say({ [ref]: good('thing') });
    await world.wait(3_600_000);
    assert.deepEqual(world.cluster.takeWrites(), []);
    assert.deepEqual(world.lost.get('thing'), [`${ref} user`]);
  });

  test('two runtimes with one name: the second leaves the object of the first alone', async (t) => {
    const world = await published(t);
    const second = new PublisherWorld(world, 'there');
    t.after(() => second.stop());
    await second.start();
    await second.say({ [ref]: good('thing', 2) });
    await second.wait(3_600_000);
    assert.deepEqual(world.cluster.takeWrites(), []);
    assert.deepEqual(second.lost.get('thing'), [`${ref} runtime`]);
  });

  test('an object that a user applied to is the user’s when the text goes', async (t) => {
    const world = await published(t);
    await world.edit('thing', 'kubectl', { spec: located(good('thing')).document.spec });
    await world.say({});
    await world.wait(3_600_000);
    const { labels, annotations } = world.object('thing')?.metadata ?? {};
    assert.equal(labels?.['homeostat.dev/source'], undefined);
    assert.equal(annotations?.['homeostat.dev/withdrawn'], undefined);
    assert.deepEqual(world.events, ['HandedOver thing']);
  });

  test('a text that the server does not take is an error', async (t) => {
    const world = await published(t);
    world.cluster.fault = ({ verb, manifest }) =>
      verb === 'apply' && manifest?.spec !== undefined
        ? new KubeError('rejected', 'spec.x: no', { status: 422 })
        : undefined;
    await world.say({ [ref]: good('thing', 2) });
    assert.match(noteOf(world, 'rejected') ?? '', /Rejected by the API server: spec\.x: no/);
    assert.equal(world.revision('thing'), undefined);
    assert.deepEqual(world.object('thing')?.spec, located(good('thing')).document.spec);
  });

  test('what a text asks for stands on its object beside what users ask for, and ends with it', async (t) => {
    const world = await started(t);
    const asks = "'homeostat.dev/paused': 'true', 'homeostat.dev/approve-deletions': r1";
    await world.say({ [ref]: asking(good('thing'), asks) });
    assert.deepEqual(marksOfThing(world), { isPaused: true, approvedDeletions: 'r1' });
    assert.equal(noteOf(world, 'paused'), undefined);
    assert.equal(noteOf(world, 'approve-deletions'), undefined);
    await world.say({ [ref]: good('thing') });
    assert.deepEqual(marksOfThing(world), { isPaused: false, approvedDeletions: undefined });
    world.cluster.takeWrites();
    await world.wait(60_000);
    assert.deepEqual(world.cluster.takeWrites(), []);
  });

  test('a pause in a text with errors is one all the same, and ends with the errors', async (t) => {
    const world = await published(t);
    await world.say({ [ref]: asking(bad('thing'), "'homeostat.dev/paused': 'true'") });
    assert.equal(marksOfThing(world).isPaused, true);
    await world.say({ [ref]: good('thing') });
    assert.equal(marksOfThing(world).isPaused, false);
  });

  test('a pause outlives a text that cannot be read any more, and one that is gone', async (t) => {
    const world = await started(t);
    const paused = asking(good('thing'), "'homeostat.dev/paused': 'true'");
    await world.say({ [ref]: paused });
    await world.say({ [ref]: '{{{' });
    assert.equal(marksOfThing(world).isPaused, true);
    await world.say({});
    assert.match(noteOf(world, 'withdrawn') ?? '', /^\d{4}-/);
    assert.equal(marksOfThing(world).isPaused, true);
  });

  test('of two texts with one name that one is asked whose object it is', async (t) => {
    const world = await published(t);
    const other = 'ops/a/thing.yaml';
    const paused = asking(good('thing'), "'homeostat.dev/paused': 'true'");
    await world.say({ [other]: paused, [ref]: good('thing') });
    assert.equal(noteOf(world, 'source-ref'), ref);
    assert.equal(marksOfThing(world).isPaused, false);
  });
});

/** What is asked for on the object. */
function marksOfThing(world: PublisherWorld): DefinitionControls {
  return controlsOf(world.object('thing')?.metadata ?? { name: 'thing' });
}
