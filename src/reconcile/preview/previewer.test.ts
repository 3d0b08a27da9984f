import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { planOfPodSet } from '../../../test/support/podset-text.ts';
import { KubeError } from '../../kube/roles.ts';
import { gvkOf } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { Preview } from './preview.ts';

/** A ConfigMap child in one line; `name` comes after the name of the resource. */
function map(id: string, name = id, more = ''): string {
  return `
    - id: ${id}
      ${more}
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-${name}" }, data: { text: "\${ spec.text }" } }`;
}

const list = (more = '') =>
  map('list', `\${ $item }`, `forEach: "\${ spec.items }"${more === '' ? '' : `\n      ${more}`}`);
const far = (namespace: string) => `
    - id: far
      crossNamespace: true
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-far", namespace: ${namespace} }, data: { text: "\${ spec.text }" } }`;
const secret = `
    - id: one
      template: { apiVersion: v1, kind: Secret, metadata: { name: "\${ metadata.name }-one" } }`;
const needsSecret = `
  reads:
    - { id: key, apiVersion: v1, kind: Secret, name: key }`;

const children = (...texts: readonly string[]) => `
  children:${texts.join('')}${texts.length === 0 ? ' []' : ''}`;

const spec = { text: 'one', items: ['x', 'y', 'z'], few: ['x'], on: true };

/** A world in which a definition has been worked on, and another one has taken over that has done nothing so far. */
async function changedWorld(
  before: string,
  after: string,
  given: unknown = spec,
  beforeRestart: (cluster: OperatorWorld['cluster']) => void = () => {},
) {
  const world = new OperatorWorld(planOfPodSet(before));
  await world.start();
  world.podSet('a', given);
  world.cluster.deliver();
  await world.settle();
  world.formerKinds = ['ConfigMap', 'Secret'].map((kind) => gvkOf('v1', kind));
  beforeRestart(world.cluster);
  await world.restart(planOfPodSet(after));
  world.cluster.takeWrites();
  world.log.length = 0;
  world.decisions.clear();
  return world;
}

async function preview(world: OperatorWorld, key = 'default/a'): Promise<Preview> {
  const previewer = world.operator.startPreview();
  try {
    return await previewer.of(key, world.signal);
  } finally {
    previewer.stop();
  }
}

const namesOf = ({ deletes }: Preview) =>
  deletes.map(({ ref }) => `${ref.gvk.kind} ${ref.namespace}/${ref.name}`).sort();

const maps = (...names: readonly string[]) => names.map((name) => `ConfigMap default/a-${name}`);

describe('reconcile/preview/previewer', () => {
  const changes: readonly {
    readonly change: string;
    readonly before: string;
    readonly after: string;
    readonly deletes: readonly string[];
    readonly isComplete?: false;
    /** The passes of the new definition do not come so far by themselves. */
    readonly isLater?: true;
  }[] = [
    {
      change: 'a text',
      before: children(map('one')),
      after: children(map('one')).replace('spec.text', "spec.text & '!'"),
      deletes: [],
    },
    {
      change: 'a child that is dropped',
      before: children(map('one'), map('two')),
      after: children(map('one')),
      deletes: maps('two'),
    },
    {
      change: 'all children dropped',
      before: children(map('one'), list()),
      after: children(),
      deletes: maps('one', 'x', 'y', 'z'),
    },
    {
      change: 'another id for the same name',
      before: children(map('one')),
      after: children(map('other', 'one')),
      deletes: [],
    },
    {
      change: 'another name',
      before: children(map('one')),
      after: children(map('one', 'other')),
      deletes: maps('one'),
    },
    {
      change: 'another kind',
      before: children(map('one')),
      after: children(secret),
      deletes: maps('one'),
    },
    {
      change: 'a `when` that is false',
      before: children(map('one')),
      after: children(map('one', 'one', 'when: "${ $not(spec.on) }"')),
      deletes: maps('one'),
    },
    {
      change: 'fewer elements',
      before: children(list()),
      after: children(list()).replace('spec.items', 'spec.few'),
      deletes: maps('y', 'z'),
    },
    {
      change: 'fewer elements, going one by one',
      before: children(list('ordered: true')),
      after: children(list('ordered: true')).replace('spec.items', 'spec.few'),
      deletes: maps('y', 'z'),
    },
    {
      change: 'another namespace',
      before: children(far('here')),
      after: children(far('there')),
      deletes: ['ConfigMap here/a-far'],
    },
    {
      change: 'a Recreate whose intent is another one',
      before: children(map('one', 'one', 'updateStrategy: { type: Recreate }')),
      after: children(map('one', 'one', 'updateStrategy: { type: Recreate }')).replace(
        'spec.text',
        "spec.text & '!'",
      ),
      deletes: [],
    },
    {
      change: 'a child that stays without us',
      before: children(map('one', 'one', 'deletionPolicy: Orphan')),
      after: children(),
      deletes: [],
    },
    {
      change: 'a child that may not go yet',
      before: children(map('one', 'one', 'deleteWhen: "${ $child.data.text = \'two\' }"')),
      after: children(
        map(
          'one',
          'one',
          'when: "${ false }"\n      deleteWhen: "${ $child.data.text = \'two\' }"',
        ),
      ),
      deletes: maps('one'),
      isLater: true,
    },
    {
      change: 'a child that comes with one that waits for ever, beside one that is dropped',
      before: children(map('one')),
      after: children(
        map('first', 'first', 'ready: "${ false }"'),
        map('second', 'second', 'after: [first]'),
      ),
      deletes: maps('one'),
      isLater: true,
    },
    {
      change: 'fewer elements of a child that waits for another one',
      before: children(list()),
      after: children(
        map('first', 'first', 'ready: "${ false }"'),
        list('after: [first]').replace('spec.text', "spec.text & '!'"),
      ).replace('spec.items', 'spec.few'),
      deletes: maps('y', 'z'),
      isLater: true,
    },
    {
      change: 'a child that waits for what it reads',
      before: children(list()),
      after: `${needsSecret}${children(list()).replace('spec.text', 'reads.key.data.text')}`,
      deletes: [],
      isComplete: false,
    },
    {
      change: 'a list that waits for what it reads, beside a child that is dropped',
      before: children(list(), map('one')),
      after: `${needsSecret}${children(list()).replace('spec.items', '$append(spec.few, reads.key.metadata.name)')}`,
      deletes: maps('one'),
      isComplete: false,
      isLater: true,
    },
    {
      change: 'a template that fails',
      before: children(list(), map('one')),
      after: children(list()).replace('spec.text', "$error('no')"),
      deletes: maps('one'),
      isComplete: false,
      isLater: true,
    },
    {
      change: 'a child that is made of one that is to be made',
      before: children(map('one')),
      after: children(
        map('fresh'),
        map('list', `of-\${ $item }`, 'forEach: "${ [children.fresh.data.text] }"'),
      ),
      deletes: maps('one'),
    },
  ];
  for (const { change, before, after, deletes, isComplete = true, isLater = false } of changes) {
    test(`${change}: ${deletes.length} deletions`, async () => {
      const world = await changedWorld(before, after);
      const there = new Map(objectsOf(world).map((each) => [nameOf(each), each.metadata.uid]));
      const told = await preview(world);
      assert.deepEqual(namesOf(told), deletes);
      assert.equal(told.isComplete, isComplete);
      for (const { ref, uid } of told.deletes) {
        assert.equal(uid, there.get(`${ref.gvk.kind} ${ref.namespace}/${ref.name}`));
      }
      await world.settle();
      const left = new Set(objectsOf(world).map(nameOf));
      const gone = [...there.keys()].filter((name) => !left.has(name)).sort();
      assert.deepEqual(gone, isLater ? [] : deletes, 'what passes have deleted');
    });
  }

  test('it sends nothing, says nothing, and leaves nothing in the operator or on the watch', async () => {
    const world = await changedWorld(
      `${needsSecret}${children(map('one'), map('two'), far('here'))}`,
      `${needsSecret}${children(map('one'), map('new', '${ reads.key.metadata.name }'), far('there'))}
  status: { shown: "\${ children.one.metadata.name }" }
  events: [{ when: "\${ true }", reason: Seen, message: seen }]
  patches: [{ id: mark, patch: { metadata: { annotations: { seen: "yes" } } } }]`,
    );
    const queued = [...world.queued];
    const watched = world.cluster.watched.length;
    const status = JSON.stringify(world.status('a'));
    const metrics = await world.metrics.expose();
    const told = world.cluster.told.length;
    assert.deepEqual(namesOf(await preview(world)), [...maps('two'), 'ConfigMap here/a-far']);
    assert.deepEqual(world.cluster.requests, []);
    assert.equal(JSON.stringify(world.status('a')), status);
    assert.equal(await world.metrics.expose(), metrics);
    assert.equal(world.cluster.told.length, told);
    assert.deepEqual(world.log, []);
    assert.equal(world.decisions.size, 0);
    assert.deepEqual([...world.queued], queued);
    assert.equal(world.cluster.watched.length, watched);
    assert.deepEqual(world.operator.readiness(), { ready: 0, unready: 0, unknown: 1 });
  });

  test('its watches enqueue nothing', async () => {
    const world = await changedWorld(needsSecret + children(map('one')), needsSecret + children());
    world.queued.clear();
    const previewer = world.operator.startPreview();
    await previewer.of('default/a', world.signal);
    world.cluster.server.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'key', namespace: 'default' },
    });
    world.cluster.deliver();
    assert.deepEqual([...world.queued], []);
    previewer.stop();
  });

  for (const [what, change] of [
    ['is paused', { annotations: { 'homeostat.dev/paused': 'true' } }],
    ['is being deleted', { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x/y'] }],
  ] as const) {
    test(`a resource that ${what} loses nothing`, async () => {
      const world = await changedWorld(children(map('one')), children());
      const podSet = world.get('apps.example.com/v1', 'PodSet', 'a');
      assert.ok(podSet);
      world.edit(podSet, { metadata: { ...podSet.metadata, ...change } });
      world.cluster.deliver();
      assert.deepEqual(await preview(world), {
        deletes: [],
        creates: 0,
        applies: 0,
        isComplete: true,
      });
    });
  }

  test('a resource that is not there loses nothing', async () => {
    const world = await changedWorld(children(map('one')), children());
    assert.deepEqual((await preview(world, 'default/b')).deletes, []);
  });

  test("another user's object and a copy of ours do not count", async () => {
    const world = await changedWorld(children(map('one')), children());
    const ours = world.get('v1', 'ConfigMap', 'a-one');
    assert.ok(ours);
    const { labels } = ours.metadata;
    world.cluster.server.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'copy', namespace: 'default', labels: labels ?? {} },
    });
    world.cluster.deliver();
    assert.deepEqual(namesOf(await preview(world)), maps('one'));
  });

  test('what is on its way out already does not count', async () => {
    const world = await changedWorld(children(map('one'), map('two')), children());
    const ours = world.get('v1', 'ConfigMap', 'a-one');
    assert.ok(ours);
    const held = { ...ours.metadata, finalizers: ['x/y'] };
    world.remove(world.edit(ours, { metadata: held }));
    world.cluster.deliver();
    assert.deepEqual(namesOf(await preview(world)), maps('two'));
  });

  test('a kind that cannot be listed is not known: the preview says so', async () => {
    const forbidden = new KubeError('forbidden', 'no', { status: 403 });
    const world = await changedWorld(
      children(map('one')),
      children(map('two'), secret),
      spec,
      (cluster) => cluster.block('Secret', forbidden),
    );
    const { isComplete } = await preview(world);
    assert.equal(isComplete, false);
  });

  test('it counts what is made and what is changed', async () => {
    const world = await changedWorld(
      children(map('one'), map('two')),
      children(map('one').replace('spec.text', "spec.text & '!'"), map('two'), map('three')),
    );
    const { creates, applies } = await preview(world);
    assert.deepEqual([creates, applies], [1, 1]);
  });

  test('an aborted one ends', async () => {
    const world = await changedWorld(children(map('one')), children());
    const previewer = world.operator.startPreview();
    const ended = AbortSignal.abort(new Error('enough'));
    await assert.rejects(previewer.of('default/a', ended), /enough/);
    previewer.stop();
  });

  test('an operator that has not started has no previews', () => {
    const world = new OperatorWorld(planOfPodSet(children()));
    assert.throws(() => world.operator.startPreview(), /started operator/);
  });
});

function objectsOf({ cluster }: OperatorWorld): readonly KubeObject[] {
  return ['ConfigMap', 'Secret']
    .flatMap((kind) => cluster.server.list(gvkOf('v1', kind)))
    .map(({ object }) => object);
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace}/${metadata.name}`;
}
