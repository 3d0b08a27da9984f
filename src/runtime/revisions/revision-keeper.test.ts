import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { thingDefinition } from '../../../test/support/definitions.ts';
import { locatedThing, RuntimeFakeCluster } from '../../../test/support/fakes/definition-world.ts';
import {
  bodies,
  first,
  nameOf,
  RevisionWorld,
  second,
  third,
} from '../../../test/support/fakes/revision-world.ts';
import { silentLogger } from '../../../test/support/silent-telemetry.ts';
import { KubeError } from '../../kube/roles.ts';
import { createTextCheck } from '../check-text.ts';
import { Registry } from '../registry/index.ts';
import { createTextSource } from '../sources/index.ts';
import type { WantedSet } from '../wanted-definition.ts';
import { withRevisions } from './with-revisions.ts';

describe('runtime/revisions', () => {
  test('what is accepted goes on record as it was written; the last two stay', async () => {
    const world = await new RevisionWorld().start();
    await world.accept(first, second, third);
    assert.deepEqual(world.recorded, [`${nameOf(second)} 2`, `${nameOf(third)} 3`]);
    const { spec, metadata, kind } = third.document;
    assert.deepEqual(world.objects.at(-1)?.data, {
      apiVersion: 'homeostat.dev/v1alpha1',
      kind,
      metadata,
      spec,
    });
    await world.stop();
  });

  test('what is on record already is not written again, by a new process neither', async () => {
    const world = await new RevisionWorld().start();
    await world.accept(first);
    world.cluster.takeWrites();
    await world.accept(first);
    await world.stop();
    const next = await new RevisionWorld(world.cluster).start();
    await next.accept(first);
    assert.deepEqual(world.cluster.takeWrites(), []);
    await next.stop();
  });

  test('the way back to the older text only counts up', async () => {
    const world = await new RevisionWorld().start();
    await world.accept(first, second, first);
    assert.deepEqual(world.recorded, [`${nameOf(second)} 2`, `${nameOf(first)} 3`]);
    await world.stop();
  });

  test('a new process knows them, the newest first', async () => {
    const world = await new RevisionWorld().start();
    await world.accept(first, second);
    await world.stop();
    const next = await new RevisionWorld(world.cluster).start();
    await next.revisions.whenKnown(new AbortController().signal);
    const known = next.revisions.known().get('thing') ?? [];
    assert.deepEqual(
      known.map(({ definition }) => definition),
      [second.definition, first.definition],
    );
    await next.stop();
  });

  test('one that this version cannot read is left out, and told', async () => {
    const world = await new RevisionWorld().start();
    await world.accept(first, second);
    await world.stop();
    const [, newest] = world.objects;
    assert.ok(newest);
    world.cluster.server.put({
      ...newest,
      data: { ...(newest.data as object), spec: { later: 1 } },
    });
    const next = await new RevisionWorld(world.cluster).start();
    const known = next.revisions.known().get('thing') ?? [];
    assert.deepEqual(known.map(nameOf), [nameOf(first)]);
    assert.deepEqual(next.log, ['Revision on record cannot be used any more']);
    await next.stop();
  });

  test('the record of a definition stays while its text is gone for a moment, and goes ten minutes later', async () => {
    const world = await new RevisionWorld().start();
    const wanted = { definitions: [{ located: first }] };
    world.revisions.show(wanted);
    await world.accept(first);
    world.revisions.show({ definitions: [] });
    await world.clock.advance(599_999);
    assert.equal(world.recorded.length, 1);
    world.revisions.show(wanted);
    await world.clock.advance(600_000);
    assert.equal(world.recorded.length, 1);
    world.revisions.show({ definitions: [] });
    await world.clock.advance(600_000);
    await world.settle();
    assert.deepEqual(world.recorded, []);
    await world.stop();
    assert.equal(world.clock.pending, 0);
  });

  test('a text that is there and refused keeps its record', async () => {
    const world = await new RevisionWorld().start();
    await world.accept(first);
    const refusal = { message: 'no', diagnostics: [] };
    const origin = { source: 'directory', ref: 'thing.yaml' } as const;
    world.revisions.show({ definitions: [], refusedTexts: [{ origin, name: 'thing', refusal }] });
    await world.clock.advance(3_600_000);
    assert.equal(world.recorded.length, 1);
    await world.stop();
  });

  test('while there is a text of which nobody can tell the names nobody counts as gone', async () => {
    const world = await new RevisionWorld().start();
    await world.accept(first);
    await world.stop();
    const next = await new RevisionWorld(world.cluster).start();
    const refusal = { message: 'It has a syntax error', diagnostics: [] };
    const origin = { source: 'directory', ref: 'thing.yaml' } as const;
    next.revisions.show({ definitions: [], refusedTexts: [{ origin, refusal }] });
    await next.clock.advance(3_600_000);
    await next.settle();
    assert.equal(next.recorded.length, 1);
    next.revisions.show({ definitions: [] });
    await next.clock.advance(600_000);
    await next.settle();
    assert.deepEqual(next.recorded, []);
    await next.stop();
  });

  test('while a source cannot be read nobody counts as gone', async () => {
    let isRead = false;
    const world = await new RevisionWorld(new RuntimeFakeCluster(), {
      areSourcesRead: () => isRead,
    }).start();
    await world.accept(first);
    await world.stop();
    const next = await new RevisionWorld(world.cluster, { areSourcesRead: () => isRead }).start();
    next.revisions.show({ definitions: [] });
    await next.clock.advance(3_600_000);
    assert.equal(next.recorded.length, 1);
    isRead = true;
    await next.clock.advance(600_000);
    await next.settle();
    assert.deepEqual(next.recorded, []);
    await next.stop();
  });

  test('where no server answers at the start it is read when one does; nobody waits for that', async () => {
    const world = await new RevisionWorld().start();
    await world.accept(first);
    await world.stop();
    world.cluster.block('ControllerRevision', new KubeError('unavailable', 'no', { status: 0 }));
    const next = new RevisionWorld(world.cluster);
    let told = 0;
    next.revisions.onKnown(() => told++);
    await next.start();
    await next.revisions.whenKnown(new AbortController().signal);
    assert.equal(next.revisions.known().size, 0);
    assert.deepEqual([next.revisions.isAnswered, told], [false, 0]);
    const reasons: string[] = [];
    next.revisions.onSilence(({ message }) => reasons.push(message));
    assert.deepEqual(reasons, ['no'], 'who comes late is told the last');
    world.cluster.unblock('ControllerRevision');
    await next.settle();
    assert.deepEqual([next.revisions.isAnswered, told], [true, 1]);
    next.revisions.onSilence(({ message }) => reasons.push(message));
    assert.deepEqual(reasons, ['no'], 'that is over');
    assert.deepEqual(next.revisions.known().get('thing')?.map(nameOf), [nameOf(first)]);
    await next.accept(second);
    assert.equal(next.recorded.length, 2);
    await next.stop();
  });

  test('what is read late is wanted as well', async () => {
    const world = await new RevisionWorld().start();
    await world.accept(first);
    await world.stop();
    world.cluster.block('ControllerRevision', new KubeError('unavailable', 'no', { status: 0 }));
    const next = new RevisionWorld(world.cluster);
    const stopper = new AbortController();
    const sets: WantedSet[] = [];
    const formerly = () => sets.at(-1)?.definitions[0]?.formerly ?? [];
    const registry = new Registry({
      sources: [
        createTextSource({ file: 'thing.yaml', text: thingDefinition('thing', bodies[1] ?? '') }),
      ],
      clock: next.clock,
      logger: silentLogger(),
      check: createTextCheck(undefined),
      known: () => withRevisions(new Map(), next.revisions.known()),
      whenKnown: (signal) => next.revisions.whenKnown(signal),
      onWanted: (set) => void sets.push(set),
    });
    next.revisions.onKnown(() => registry.refresh());
    const ended = registry.run(stopper.signal);
    await next.start();
    await next.clock.advance(100);
    await next.settle();
    assert.deepEqual([sets.length, formerly()], [1, []]);
    world.cluster.unblock('ControllerRevision');
    await next.settle();
    await next.clock.advance(100);
    await next.settle();
    assert.deepEqual(formerly().map(nameOf), [nameOf(first)]);
    stopper.abort();
    await Promise.all([ended, next.stop()]);
  });

  test('a refusal is an answer: nobody waits any longer', async () => {
    const cluster = new RuntimeFakeCluster();
    cluster.block('ControllerRevision', new KubeError('forbidden', 'may not', { status: 403 }));
    const world = new RevisionWorld(cluster);
    let told = 0;
    world.revisions.onKnown(() => told++);
    await world.start();
    assert.deepEqual([world.revisions.isAnswered, told], [true, 1]);
    await world.stop();
  });

  test('who may not see them does without, and looks again ten minutes later', async () => {
    const cluster = new RuntimeFakeCluster();
    cluster.block('ControllerRevision', new KubeError('forbidden', 'may not', { status: 403 }));
    const world = await new RevisionWorld(cluster).start();
    await world.accept(first);
    assert.deepEqual(cluster.watched, []);
    assert.deepEqual(cluster.takeWrites(), []);
    cluster.unblock('ControllerRevision');
    await world.clock.advance(600_000);
    await world.settle();
    assert.deepEqual(world.recorded, [`${nameOf(first)} 1`]);
    await world.stop();
  });

  test('without the right it is told once, and everything else goes on', async () => {
    const world = new RevisionWorld();
    const forbidden = new KubeError('forbidden', 'may not', { status: 403 });
    world.cluster.fault = ({ verb }) => (verb === 'apply' ? forbidden : undefined);
    await world.start();
    await world.accept(first, second, locatedThing('other'));
    assert.deepEqual(world.log, ['Revisions of definitions are not kept']);
    assert.equal(world.revisions.warning, 'may not');
    await world.stop();
  });
});
