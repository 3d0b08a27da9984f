import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RuntimeFakeCluster } from '../../../test/support/fakes/definition-world.ts';
import {
  first,
  nameOf,
  RevisionWorld,
  second,
  third,
} from '../../../test/support/fakes/revision-world.ts';
import type { LocatedDefinition } from '../../definition/index.ts';
import type { DefinitionOrigin } from '../wanted-definition.ts';
import type { RecordOwner } from './record-owner.ts';
import { revisionGvk } from './revision-object.ts';

const inCluster: DefinitionOrigin = { source: 'configmap', ref: 'homeostat-system/operators/a' };
const elsewhere: DefinitionOrigin = { source: 'configmap', ref: 'dev/operators/a' };

function reads(place: DefinitionOrigin): RecordOwner {
  const covers = ({ ref }: DefinitionOrigin) => ref === place.ref;
  return { covers, readsDirectories: false, ownsNamespace: false };
}

/** A process that reads that place alone. */
function startReader(place: DefinitionOrigin, cluster = new RuntimeFakeCluster()) {
  return new RevisionWorld(cluster, { owner: reads(place) }).start();
}

function namesKnown({ revisions }: RevisionWorld): readonly string[] {
  return (revisions.known().get('thing') ?? []).map(nameOf);
}

describe('runtime/revisions: what is known', () => {
  test('is what was accepted last, what is on record, and what was at the start', async () => {
    const before = await new RevisionWorld().start();
    await before.accept(first);
    await before.stop();
    const world = await new RevisionWorld(before.cluster).start();
    assert.deepEqual(namesKnown(world), [nameOf(first)]);
    await world.accept(second, third);
    assert.equal(world.objects.length, 2);
    assert.deepEqual(namesKnown(world), [third, second, first].map(nameOf));
    await world.stop();
  });

  test('is in memory where nothing may be recorded', async () => {
    const world = await startReader(inCluster);
    world.revisions.show({ definitions: [{ located: first, origin: elsewhere }] });
    await world.accept(first, second);
    assert.deepEqual(world.recorded, []);
    assert.deepEqual(namesKnown(world), [nameOf(second)]);
    await world.stop();
  });

  test('is forgotten with the definition', async () => {
    const world = await new RevisionWorld().start();
    world.revisions.show({ definitions: [{ located: first }] });
    await world.accept(first);
    world.revisions.show({ definitions: [] });
    assert.deepEqual(namesKnown(world), [nameOf(first)]);
    await world.clock.advance(600_000);
    await world.settle();
    assert.deepEqual(namesKnown(world), []);
    await world.stop();
  });
});

describe('runtime/revisions: the record', () => {
  test('keeps the data of a text that comes back with other metadata', async () => {
    const world = await new RevisionWorld().start();
    const annotations = { 'homeostat.dev/approve-deletions': first.definition.revision };
    const approved: LocatedDefinition = {
      ...first,
      document: { ...first.document, metadata: { name: 'thing', annotations } },
    };
    await world.accept(first, second);
    const [before] = world.objects;
    await world.accept(approved);
    assert.deepEqual(world.recorded, [`${nameOf(second)} 2`, `${nameOf(first)} 3`]);
    // A server refuses any change of it.
    assert.deepEqual(world.objects.at(-1)?.data, before?.data);
    await world.stop();
  });

  test('is made again when it is taken away, ten times a minute at most', async () => {
    const world = await new RevisionWorld().start();
    await world.accept(first, second);
    let writes = 0;
    const takeAway = async () => {
      const place = { namespace: 'homeostat-system', name: nameOf(second) };
      world.cluster.server.delete(revisionGvk, place);
      await world.settle();
      return world.cluster.takeWrites().length;
    };
    world.cluster.takeWrites();
    assert.equal(await takeAway(), 1);
    assert.deepEqual(world.recorded, [`${nameOf(first)} 1`, `${nameOf(second)} 2`]);
    for (let time = 0; time < 30; time++) writes += await takeAway();
    assert.equal(writes, 8);
    await world.clock.advance(60_000);
    await world.settle();
    assert.deepEqual(world.recorded, [`${nameOf(first)} 1`, `${nameOf(second)} 2`]);
    await world.stop();
  });

  test('is the newest again when that is of a time before', async () => {
    const world = await new RevisionWorld().start();
    await world.accept(first, second);
    const [older] = world.objects;
    assert.ok(older);
    world.cluster.server.put({ ...older, revision: 7 });
    await world.settle();
    assert.deepEqual(world.recorded, [`${nameOf(first)} 7`, `${nameOf(second)} 8`]);
    await world.stop();
  });

  test('says where the text stands, and follows it', async () => {
    const world = await new RevisionWorld().start();
    const said = () => {
      const [{ labels = {}, annotations = {} } = {}] = world.objects.map(
        ({ metadata }) => metadata,
      );
      return [labels['homeostat.dev/source'], annotations['homeostat.dev/source-ref']];
    };
    world.revisions.show({ definitions: [{ located: first, origin: inCluster }] });
    await world.accept(first);
    assert.deepEqual(said(), [inCluster.source, inCluster.ref]);
    world.revisions.show({ definitions: [{ located: first, origin: elsewhere }] });
    await world.settle();
    assert.deepEqual(said(), [elsewhere.source, elsewhere.ref]);
    assert.deepEqual(world.recorded, [`${nameOf(first)} 1`]);
    await world.stop();
  });

  test('of another runtime is left alone: not known, not replaced, not cleared up', async () => {
    const theirs = await startReader(inCluster);
    theirs.revisions.show({ definitions: [{ located: first, origin: inCluster }] });
    await theirs.accept(second, first);
    const recorded = [`${nameOf(second)} 1`, `${nameOf(first)} 2`];
    const ours = await startReader(elsewhere, theirs.cluster);
    ours.revisions.show({ definitions: [] });
    assert.deepEqual(namesKnown(ours), []);
    await ours.clock.advance(3_600_000);
    await ours.settle();
    assert.deepEqual(theirs.recorded, recorded);
    // The same text in both.
    ours.revisions.show({ definitions: [{ located: first, origin: elsewhere }] });
    await ours.accept(first);
    await ours.accept(third);
    const own = ours.objects.filter(({ metadata }) =>
      metadata.annotations?.['homeostat.dev/source-ref']?.startsWith('dev/'),
    );
    assert.equal(own.length, 2);
    assert.deepEqual(
      theirs.recorded.filter((each) => recorded.includes(each)),
      recorded,
    );
    await Promise.all([ours.stop(), theirs.stop()]);
    const next = await startReader(inCluster, theirs.cluster);
    assert.deepEqual(namesKnown(next), [first, second].map(nameOf));
    await next.stop();
  });
});
