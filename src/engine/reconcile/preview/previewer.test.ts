import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';
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

/** A harness in which a definition has been worked on, and another one has taken over that has done nothing so far. */
async function changedHarness(
  before: string,
  after: string,
  given: unknown = spec,
  beforeRestart: (cluster: OperatorHarness['cluster']) => void = () => {},
) {
  const harness = new OperatorHarness(planOfPodSet(before));
  await harness.start();
  harness.podSet('a', given);
  harness.cluster.deliver();
  await harness.settle();
  harness.formerKinds = ['ConfigMap', 'Secret'].map((kind) => gvkOf('v1', kind));
  beforeRestart(harness.cluster);
  await harness.restart(planOfPodSet(after));
  harness.cluster.takeWrites();
  harness.log.length = 0;
  harness.decisions.clear();
  return harness;
}

async function preview(harness: OperatorHarness, key = 'default/a'): Promise<Preview> {
  const previewer = harness.operator.startPreview();
  try {
    return await previewer.of(key, harness.signal);
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
      const harness = await changedHarness(before, after);
      const there = new Map(objectsOf(harness).map((each) => [nameOf(each), each.metadata.uid]));
      const reported = await preview(harness);
      assert.deepEqual(namesOf(reported), deletes);
      assert.equal(reported.isComplete, isComplete);
      for (const { ref, uid } of reported.deletes) {
        assert.equal(uid, there.get(`${ref.gvk.kind} ${ref.namespace}/${ref.name}`));
      }
      await harness.settle();
      const left = new Set(objectsOf(harness).map(nameOf));
      const gone = [...there.keys()].filter((name) => !left.has(name)).sort();
      assert.deepEqual(gone, isLater ? [] : deletes, 'what passes have deleted');
    });
  }

  test('it sends nothing, says nothing, and leaves nothing in the operator or on the watch', async () => {
    const harness = await changedHarness(
      `${needsSecret}${children(map('one'), map('two'), far('here'))}`,
      `${needsSecret}${children(map('one'), map('new', '${ reads.key.metadata.name }'), far('there'))}
  status: { shown: "\${ children.one.metadata.name }" }
  events: [{ when: "\${ true }", reason: Seen, message: seen }]
  patches: [{ id: mark, patch: { metadata: { annotations: { seen: "yes" } } } }]`,
    );
    const queued = [...harness.queued];
    const watched = harness.cluster.watched.length;
    const status = JSON.stringify(harness.status('a'));
    const metrics = await harness.metrics.expose();
    const reported = harness.cluster.reported.length;
    assert.deepEqual(namesOf(await preview(harness)), [...maps('two'), 'ConfigMap here/a-far']);
    assert.deepEqual(harness.cluster.requests, []);
    assert.equal(JSON.stringify(harness.status('a')), status);
    assert.equal(await harness.metrics.expose(), metrics);
    assert.equal(harness.cluster.reported.length, reported);
    assert.deepEqual(harness.log, []);
    assert.equal(harness.decisions.size, 0);
    assert.deepEqual([...harness.queued], queued);
    assert.equal(harness.cluster.watched.length, watched);
    assert.deepEqual(harness.operator.readiness(), { ready: 0, unready: 0, unknown: 1 });
  });

  test('its watches enqueue nothing', async () => {
    const harness = await changedHarness(
      needsSecret + children(map('one')),
      needsSecret + children(),
    );
    harness.queued.clear();
    const previewer = harness.operator.startPreview();
    await previewer.of('default/a', harness.signal);
    harness.cluster.server.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'key', namespace: 'default' },
    });
    harness.cluster.deliver();
    assert.deepEqual([...harness.queued], []);
    previewer.stop();
  });

  for (const [what, change] of [
    ['is paused', { annotations: { 'homeostat.dev/paused': 'true' } }],
    ['is being deleted', { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x/y'] }],
  ] as const) {
    test(`a resource that ${what} loses nothing`, async () => {
      const harness = await changedHarness(children(map('one')), children());
      const podSet = harness.get('apps.example.com/v1', 'PodSet', 'a');
      assert.ok(podSet);
      harness.edit(podSet, { metadata: { ...podSet.metadata, ...change } });
      harness.cluster.deliver();
      assert.deepEqual(await preview(harness), {
        deletes: [],
        creates: 0,
        applies: 0,
        isComplete: true,
      });
    });
  }

  test('a resource that is not there loses nothing', async () => {
    const harness = await changedHarness(children(map('one')), children());
    assert.deepEqual((await preview(harness, 'default/b')).deletes, []);
  });

  test("another user's object and a copy of ours do not count", async () => {
    const harness = await changedHarness(children(map('one')), children());
    const ours = harness.get('v1', 'ConfigMap', 'a-one');
    assert.ok(ours);
    const { labels } = ours.metadata;
    harness.cluster.server.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'copy', namespace: 'default', labels: labels ?? {} },
    });
    harness.cluster.deliver();
    assert.deepEqual(namesOf(await preview(harness)), maps('one'));
  });

  test('what is on its way out already does not count', async () => {
    const harness = await changedHarness(children(map('one'), map('two')), children());
    const ours = harness.get('v1', 'ConfigMap', 'a-one');
    assert.ok(ours);
    const held = { ...ours.metadata, finalizers: ['x/y'] };
    harness.remove(harness.edit(ours, { metadata: held }));
    harness.cluster.deliver();
    assert.deepEqual(namesOf(await preview(harness)), maps('two'));
  });

  test('a kind that cannot be listed is not known: the preview says so', async () => {
    const forbidden = new KubeError('forbidden', 'no', { status: 403 });
    const harness = await changedHarness(
      children(map('one')),
      children(map('two'), secret),
      spec,
      (cluster) => cluster.block('Secret', forbidden),
    );
    const { isComplete } = await preview(harness);
    assert.equal(isComplete, false);
  });

  test('it counts what is made and what is changed', async () => {
    const harness = await changedHarness(
      children(map('one'), map('two')),
      children(map('one').replace('spec.text', "spec.text & '!'"), map('two'), map('three')),
    );
    const { creates, applies } = await preview(harness);
    assert.deepEqual([creates, applies], [1, 1]);
  });

  const holding = (more: string) => map('one', 'one', more);
  const recreated = 'updateStrategy: { type: Recreate }';
  const losses: readonly (readonly [string, string, string, readonly string[]])[] = [
    ['declared and renamed', holding('holdsData: true'), map('one', 'two'), ['default/a-one']],
    ['declared and removed', holding('holdsData: true'), map('two'), ['default/a-one']],
    [
      'declared by the new definition alone',
      map('one'),
      map('one', 'two', 'holdsData: true'),
      ['default/a-one'],
    ],
    [
      'no longer declared, and said to hold none',
      holding('holdsData: true'),
      map('one', 'two', 'holdsData: false'),
      [],
    ],
    [
      'recreated with data',
      holding(`holdsData: true\n      ${recreated}`),
      holding(`holdsData: true\n      ${recreated}`).replace('spec.text', "spec.text & '!'"),
      ['default/a-one'],
    ],
    [
      'recreated without data',
      holding(recreated),
      holding(recreated).replace('spec.text', "spec.text & '!'"),
      [],
    ],
    [
      'declared and kept by its deletion policy',
      holding('holdsData: true\n      deletionPolicy: Orphan'),
      map('one', 'two'),
      [],
    ],
  ];
  for (const [what, before, after, lost] of losses) {
    test(`it finds the loss of data of an object that is ${what}`, async () => {
      const harness = await changedHarness(children(before), children(after));
      const { deletes } = await preview(harness);
      const titles = deletes.flatMap(({ dataTitle }) => dataTitle ?? []);
      assert.deepEqual(
        titles,
        lost.map((name) => `ConfigMap ${name}`),
      );
    });
  }

  test('the guard of the operator is not asked: what it would hold is shown', async () => {
    const held = holding(`holdsData: true\n      ${recreated}`);
    const harness = await changedHarness(
      children(held),
      children(held).replace('spec.text', "spec.text & '!'"),
    );
    const asked: string[] = [];
    harness.operator.guardDeletions({
      blockingReason: (key) => {
        asked.push(key);
        return 'it stays for now';
      },
      onConverged: () => undefined,
    });
    assert.deepEqual(namesOf(await preview(harness)), maps('one'));
    assert.deepEqual(asked, []);
  });

  test('versions beyond a lower "keep" count, and expressions read those that are stored', async () => {
    const keeping = (keep: number, when: string) => `
  reads:
    - { id: apps, apiVersion: v1, kind: Service, selector: all, history: { keep: ${keep} } }${children(map('one', 'one', when))}`;
    const harness = new OperatorHarness(planOfPodSet(keeping(5, '')));
    await harness.start();
    harness.podSet('a', spec);
    for (const a of ['1', '2', '3', '4']) {
      const metadata = { name: 'app', namespace: 'default' };
      harness.cluster.server.put({ apiVersion: 'v1', kind: 'Service', metadata, data: { a } });
      await harness.settle();
    }
    const stored = harness.names('apps/v1', 'ControllerRevision');
    assert.equal(stored.length, 4);
    await harness.restart(planOfPodSet(keeping(1, 'when: "${ $count(history) = 3 }"')));
    const reported = await preview(harness);
    assert.deepEqual(
      reported.deletes.map(({ ref }) => ref.name).sort(),
      stored.slice(0, 2),
      'the oldest two, and no child',
    );
    assert.equal(reported.isComplete, true);
    assert.deepEqual(harness.names('apps/v1', 'ControllerRevision'), stored);
  });

  test('an aborted one ends', async () => {
    const harness = await changedHarness(children(map('one')), children());
    const previewer = harness.operator.startPreview();
    const ended = AbortSignal.abort(new Error('enough'));
    await assert.rejects(previewer.of('default/a', ended), /enough/);
    previewer.stop();
  });

  test('an operator that has not started has no previews', () => {
    const harness = new OperatorHarness(planOfPodSet(children()));
    assert.throws(() => harness.operator.startPreview(), /started operator/);
  });
});

function objectsOf({ cluster }: OperatorHarness): readonly KubeObject[] {
  return ['ConfigMap', 'Secret']
    .flatMap((kind) => cluster.server.list(gvkOf('v1', kind)))
    .map(({ object }) => object);
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace}/${metadata.name}`;
}
