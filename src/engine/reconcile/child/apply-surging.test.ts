import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

const key = 'default/a';

function pods(rollingUpdate: string, fields = ''): string {
  return `
  children:
    - id: pods
      forEach: \${ [0..spec.size - 1] }
      ready: \${ $child.status.phase = 'Running' }
      updateStrategy: { rollingUpdate: { ${rollingUpdate} } }
      ${fields}
      template:
        apiVersion: v1
        kind: Pod
        metadata: { name: "\${ spec.revision }-\${ $item }", labels: { note: "\${ spec.note ?? 'none' }" } }
        spec: { containers: [{ name: main, image: nginx }] }`;
}

/** Two children of which each element has the name of its group, behind a prefix. */
const groups = `
  children:${['', 'w-']
    .map(
      (prefix) => `
    - id: ${prefix === '' ? 'pods' : 'workers'}
      forEach: \${ [[0..spec.size - 1].($$.spec.revision & '-' & $string($))] }
      after: [${prefix === '' ? '' : '{ child: pods, element: same }'}]
      ready: \${ $child.status.phase = 'Running' }
      updateStrategy: { rollingUpdate: { maxSurge: 1 } }
      template:
        apiVersion: v1
        kind: Pod
        metadata: { name: "${prefix}\${ $item }" }
        spec: { containers: [{ name: main, image: nginx }] }`,
    )
    .join('')}`;

interface Spec {
  readonly size: number;
  readonly revision: string;
  readonly note?: string;
  /** The elements without a name. */
  readonly bad?: readonly number[];
}

/** Pods with the revision in their names, of a resource that several revisions replace. */
class Fleet {
  readonly harness: OperatorHarness;
  readonly #resource: KubeObject;

  constructor(harness: OperatorHarness, spec: Spec) {
    this.harness = harness;
    this.#resource = harness.podSet('a', spec);
  }

  static async with(body: string, spec: Spec): Promise<Fleet> {
    const harness = new OperatorHarness(planOfPodSet(body));
    await harness.start();
    const fleet = new Fleet(harness, spec);
    await harness.settle();
    for (const name of harness.names('v1', 'Pod')) await fleet.ready(name);
    return fleet;
  }

  async want(spec: Spec): Promise<void> {
    this.harness.edit(this.#resource, { spec });
    await this.harness.settle();
  }

  async ready(name: string, ready = true): Promise<void> {
    const pod = this.pod(name);
    this.harness.edit(pod, { status: { phase: ready ? 'Running' : 'Pending' } });
    await this.harness.settle();
  }

  /** Somebody else deletes a Pod. */
  async lose(name: string): Promise<void> {
    this.harness.remove(this.pod(name));
    await this.harness.settle();
  }

  pod(name: string): KubeObject {
    const pod = this.harness.get('v1', 'Pod', name);
    assert.ok(pod, `${name} is not there`);
    return pod;
  }

  /** As `a-0 b-0!`: `!` is not ready. */
  get pods(): string {
    return this.harness
      .names('v1', 'Pod')
      .map((name) => `${name}${this.isReady(name) ? '' : '!'}`)
      .join(' ');
  }

  isReady(name: string): boolean {
    const { status } = this.pod(name);
    return (status as { phase?: string } | undefined)?.phase === 'Running';
  }

  messageOf(name: string): string | undefined {
    const children = this.harness.status('a').children as { name: string; message: string }[];
    return children.find((each) => each.name === name)?.message;
  }

  async atRest(): Promise<void> {
    this.harness.cluster.takeWrites();
    await this.harness.runOne(key);
    assert.deepEqual(this.harness.cluster.requests, []);
  }
}

describe('reconcile/child maxSurge', () => {
  const a = { size: 3, revision: 'a' };
  const b = { size: 3, revision: 'b' };

  test('all of a new resource, and more elements, are created at once', async () => {
    const fleet = await Fleet.with(pods('maxSurge: 1'), a);
    assert.equal(fleet.pods, 'a-0 a-1 a-2');
    await fleet.want({ size: 5, revision: 'a' });
    assert.equal(fleet.pods, 'a-0 a-1 a-2 a-3! a-4!');
    await fleet.atRest();
  });

  test('an earlier object is deleted when a new one is ready, one after the other', async () => {
    const fleet = await Fleet.with(pods('maxSurge: 1'), a);
    await fleet.want(b);
    assert.equal(fleet.pods, 'a-0 a-1 a-2 b-0!');
    assert.equal(fleet.messageOf('b-1'), 'Waiting for Pod "a-0" to be deleted');
    assert.equal(
      fleet.messageOf('a-0'),
      'No longer desired; kept until its successor is ready: waiting for children.pods to be ready',
    );
    assert.match(fleet.harness.ready('a'), /^False/);
    await fleet.atRest();
    await fleet.ready('b-0');
    assert.equal(fleet.pods, 'a-1 a-2 b-0 b-1!');
    await fleet.ready('b-1');
    assert.equal(fleet.pods, 'a-2 b-0 b-1 b-2!');
    await fleet.ready('b-2');
    assert.equal(fleet.pods, 'b-0 b-1 b-2');
    assert.match(fleet.harness.ready('a'), /^True/);
    await fleet.atRest();
  });

  for (const [what, update, size, after] of [
    ['from the last', 'maxSurge: 1, order: Descending', 3, 'a-0 a-1 a-2 b-2!'],
    ['two beyond the number', 'maxSurge: 2', 3, 'a-0 a-1 a-2 b-0! b-1!'],
    ['a part beyond it, rounded up', 'maxSurge: 34%', 3, 'a-0 a-1 a-2 b-0! b-1!'],
    ['while one less may be ready', 'maxSurge: 1, maxUnavailable: 1', 3, 'a-1 a-2 b-0! b-1!'],
    ['of one element', 'maxSurge: 1', 1, 'a-0 b-0!'],
  ] as const) {
    test(`new ones are created ${what} (${update}, ${size})`, async () => {
      const fleet = await Fleet.with(pods(update), { size, revision: 'a' });
      await fleet.want({ size, revision: 'b' });
      assert.equal(fleet.pods, after);
      await fleet.atRest();
    });
  }

  test('one that does not become ready stops it, also in a new process; the next revision replaces it first', async () => {
    const fleet = await Fleet.with(pods('maxSurge: 1'), a);
    await fleet.want(b);
    await fleet.harness.restart(planOfPodSet(pods('maxSurge: 1')));
    await fleet.harness.settle();
    assert.equal(fleet.pods, 'a-0 a-1 a-2 b-0!');
    await fleet.want({ size: 3, revision: 'c' });
    assert.equal(fleet.pods, 'a-0 a-1 a-2 c-0!');
  });

  test('the way back uses what still exists', async () => {
    const fleet = await Fleet.with(pods('maxSurge: 1'), a);
    await fleet.want(b);
    await fleet.ready('b-0');
    await fleet.want(a);
    assert.equal(fleet.pods, 'a-0! a-1 a-2 b-0');
    await fleet.ready('a-0');
    assert.equal(fleet.pods, 'a-0 a-1 a-2');
  });

  test('another definition with other names is rolled out the same way', async () => {
    const fleet = await Fleet.with(pods('maxSurge: 1'), a);
    const renamed = pods('maxSurge: 1').replace('name: "', 'name: "v2-');
    await fleet.harness.restart(planOfPodSet(renamed));
    await fleet.harness.settle();
    assert.equal(fleet.pods, 'a-0 a-1 a-2 v2-a-0!');
  });

  test('fewer elements: what is too many is deleted while enough are ready', async () => {
    const fleet = await Fleet.with(pods('maxSurge: 1'), a);
    await fleet.ready('a-0', false);
    await fleet.want({ size: 2, revision: 'a' });
    assert.equal(fleet.pods, 'a-0! a-1 a-2');
    await fleet.ready('a-0');
    assert.equal(fleet.pods, 'a-0 a-1');
    await fleet.want({ size: 0, revision: 'b' });
    assert.equal(fleet.pods, '');
  });

  test('what others delete makes room, and is not created again if it is an earlier one', async () => {
    const fleet = await Fleet.with(pods('maxSurge: 1'), a);
    await fleet.want(b);
    await fleet.lose('a-1');
    assert.equal(fleet.pods, 'a-0 a-2 b-0! b-1!');
    await fleet.ready('b-0');
    assert.equal(fleet.pods, 'a-0 a-2 b-0 b-1!');
  });

  test('objects that are being deleted count until they are gone', async () => {
    const fleet = await Fleet.with(pods('maxSurge: 1'), a);
    const held = fleet.harness.get('v1', 'Pod', 'a-0')!;
    const metadata = { ...held.metadata, finalizers: ['example.com/drain'] };
    fleet.harness.edit(held, { metadata });
    await fleet.want(b);
    await fleet.ready('b-0');
    assert.equal(fleet.pods, 'a-0 a-1 a-2 b-0');
    assert.equal(fleet.messageOf('b-1'), 'Waiting for Pod "a-0" to be deleted');
    const leaving = fleet.harness.get('v1', 'Pod', 'a-0')!;
    fleet.harness.edit(leaving, { metadata: { ...leaving.metadata, finalizers: [] } });
    await fleet.harness.settle();
    if (fleet.harness.get('v1', 'Pod', 'a-0')) await fleet.lose('a-0');
    assert.equal(fleet.pods, 'a-1 a-2 b-0 b-1!');
  });

  test('elements below the partition keep their objects, and are ready all the same', async () => {
    const fleet = await Fleet.with(pods('maxSurge: 1, partition: 2'), a);
    await fleet.want(b);
    assert.equal(fleet.pods, 'a-0 a-1 a-2 b-2!');
    await fleet.ready('b-2');
    assert.equal(fleet.pods, 'a-0 a-1 b-2');
    assert.equal(fleet.messageOf('a-0'), 'Not updated: its index is below the partition');
    assert.match(fleet.harness.ready('a'), /^True/);
    await fleet.atRest();
    // What is lost is created, as what it was is not known any more.
    await fleet.lose('a-0');
    assert.equal(fleet.pods, 'a-1 b-1! b-2');
    await fleet.harness.restart(planOfPodSet(pods('maxSurge: 1')));
    await fleet.harness.settle();
    assert.equal(fleet.pods, 'a-1 b-0! b-1! b-2');
  });

  test('with `ordered`, each new one waits for the one before, and each deletion for the last one', async () => {
    const fleet = await Fleet.with(pods('maxSurge: 2', 'ordered: true'), { ...a, size: 1 });
    await fleet.want(a);
    await fleet.ready('a-1');
    await fleet.ready('a-2');
    await fleet.want(b);
    assert.equal(fleet.pods, 'a-0 a-1 a-2 b-0!');
    assert.equal(fleet.messageOf('b-1'), 'Waiting for Pod "b-0" to be ready');
    for (const name of ['b-0', 'b-1', 'b-2']) await fleet.ready(name);
    assert.equal(fleet.pods, 'b-0 b-1 b-2');
  });

  test('groups: the second child replaces an element while others wait for theirs (`element: same`)', async () => {
    const fleet = await Fleet.with(groups, { size: 2, revision: 'a' });
    for (const name of ['w-a-0', 'w-a-1']) await fleet.ready(name);
    await fleet.want({ size: 2, revision: 'b' });
    assert.equal(fleet.pods, 'a-0 a-1 b-0! w-a-0 w-a-1');
    await fleet.ready('b-0');
    assert.equal(fleet.pods, 'a-1 b-0 b-1! w-a-0 w-a-1 w-b-0!');
    await fleet.ready('w-b-0');
    assert.equal(fleet.pods, 'a-1 b-0 b-1! w-a-1 w-b-0');
    await fleet.ready('b-1');
    await fleet.ready('w-b-1');
    assert.equal(fleet.pods, 'b-0 b-1 w-b-0 w-b-1');
    await fleet.atRest();
  });

  test('elements that keep their names are updated in place, one at a time', async () => {
    const fleet = await Fleet.with(pods('maxSurge: 1'), a);
    await fleet.ready('a-1', false);
    await fleet.want({ ...a, note: 'new' });
    const notes = ['a-0', 'a-1', 'a-2'].map(
      (name) => fleet.harness.get('v1', 'Pod', name)?.metadata.labels?.note,
    );
    assert.deepEqual(notes, ['none', 'new', 'none']);
  });

  test('elements whose objects have finished and are gone count as ready', async () => {
    const body = pods('maxSurge: 1', 'runs: Once').replace(
      "phase = 'Running'",
      "phase in ['Running', 'Succeeded']",
    );
    const fleet = await Fleet.with(body, a);
    const finish = async (name: string) => {
      fleet.harness.edit(fleet.pod(name), { status: { phase: 'Succeeded' } });
      await fleet.harness.settle();
      await fleet.lose(name);
    };
    await fleet.want(b);
    await finish('b-0');
    assert.equal(fleet.pods, 'a-1 a-2 b-1!');
    await finish('b-1');
    assert.equal(fleet.pods, 'a-2 b-2!');
    await finish('b-2');
    assert.equal(fleet.pods, '');
    assert.match(fleet.harness.ready('a'), /^True/);
  });

  test('while elements wait for another child, objects of a dropped child are kept', async () => {
    const database = (id: string) => `
    - id: ${id}
      ready: \${ $child.status.phase = 'Running' }
      template:
        apiVersion: v1
        kind: Pod
        metadata: { name: ${id} }
        spec: { containers: [{ name: main, image: nginx }] }`;
    const fleet = await Fleet.with(pods('maxSurge: 1', 'after: [old]') + database('old'), a);
    for (const name of ['a-0', 'a-1', 'a-2']) await fleet.ready(name);
    const renamed = pods('maxSurge: 1', 'after: [fresh]').replace('name: "', 'name: "v2-');
    await fleet.harness.restart(planOfPodSet(renamed + database('fresh')));
    await fleet.harness.settle();
    assert.equal(fleet.pods, 'a-0 a-1 a-2 fresh! old');
    await fleet.ready('fresh');
    assert.equal(fleet.pods, 'a-0 a-1 a-2 fresh v2-a-0!');
  });

  test('an element without a name deletes nothing, and takes the place of one object only', async () => {
    const body = pods('maxSurge: 1').replace(
      '"${ spec.revision }-${ $item }"',
      '"${ $item in spec.bad ? spec.none : spec.revision & \'-\' & $string($item) }"',
    );
    const fleet = await Fleet.with(body, { ...a, bad: [] });
    await fleet.want({ revision: 'a', size: 4, bad: [0, 1] });
    assert.equal(fleet.pods, 'a-0 a-1 a-2 a-3!');
    await fleet.ready('a-3');
    await fleet.want({ revision: 'b', size: 4, bad: [0, 1] });
    assert.equal(fleet.pods, 'a-0 a-1 a-2 a-3 b-2!');
    await fleet.ready('b-2');
    assert.equal(fleet.pods, 'a-0 a-1 a-2 a-3 b-2');
    await fleet.atRest();
  });

  test('earlier objects are in the order of the numbers in their names', async () => {
    const size = 11;
    const fleet = await Fleet.with(pods('maxSurge: 1, partition: 9'), { size, revision: 'a' });
    await fleet.want({ size, revision: 'b' });
    for (const name of ['b-9', 'b-10']) await fleet.ready(name);
    const kept = 'a-0 a-1 a-2 a-3 a-4 a-5 a-6 a-7 a-8';
    assert.equal(fleet.pods, `${kept} b-10 b-9`);
  });

  test('an object of somebody else with a new name stops the update and is kept', async () => {
    const fleet = await Fleet.with(pods('maxSurge: 1'), a);
    const metadata = { name: 'b-0', namespace: 'default' };
    fleet.harness.cluster.server.put({ apiVersion: 'v1', kind: 'Pod', metadata });
    await fleet.want(b);
    await fleet.ready('b-0');
    assert.equal(fleet.pods, 'a-0 a-1 a-2 b-0');
    await fleet.atRest();
  });

  test('an earlier object that `deleteWhen` keeps does not hold up the others', async () => {
    const drained = "deleteWhen: ${ $child.metadata.annotations.drained = 'yes' }";
    const fleet = await Fleet.with(pods('maxSurge: 1', drained), a);
    await fleet.want(b);
    await fleet.ready('b-0');
    assert.equal(fleet.pods, 'a-0 a-1 a-2 b-0');
    await fleet.atRest();
    const pod = fleet.pod('a-1');
    const annotations = { ...pod.metadata.annotations, drained: 'yes' };
    fleet.harness.edit(pod, { metadata: { ...pod.metadata, annotations } });
    await fleet.harness.settle();
    assert.equal(fleet.pods, 'a-0 a-2 b-0 b-1!');
  });

  test('earlier objects that are released (`deletionPolicy: Orphan`) are not waited for', async () => {
    const fleet = await Fleet.with(pods('maxSurge: 1', 'deletionPolicy: Orphan'), a);
    await fleet.want(b);
    assert.equal(fleet.pods, 'a-0 a-1 a-2 b-0! b-1! b-2!');
    await fleet.atRest();
  });

  test('an element that cannot be created stops the update', async () => {
    const fleet = await Fleet.with(pods('maxSurge: 1, maxUnavailable: 1'), a);
    const denied = new KubeError('forbidden', 'exceeded quota', { status: 403 });
    fleet.harness.cluster.fault = ({ verb, manifest }) =>
      verb === 'apply' && manifest?.metadata.name.startsWith('b-') === true ? denied : undefined;
    await fleet.want(b);
    assert.equal(fleet.pods, 'a-0 a-1 a-2');
  });

  test('objects of the kind before are earlier ones, too', async () => {
    const plan = planOfPodSet(`
  children:
    - id: entries
      forEach: \${ [0..2] }
      kinds: [v1/ConfigMap, v1/Secret]
      prune: Immediately
      ready: \${ $child.metadata.annotations.ready = 'yes' }
      updateStrategy: { rollingUpdate: { maxSurge: 1 } }
      template:
        apiVersion: v1
        kind: \${ spec.kind }
        metadata: { name: "entry-\${ $item }" }`);
    const harness = new OperatorHarness(plan);
    await harness.start();
    const resource = harness.podSet('a', { kind: 'ConfigMap' });
    await harness.settle();
    const ready = async (kind: string, index: number) => {
      const object = harness.get('v1', kind, `entry-${index}`);
      assert.ok(object);
      const annotations = { ...object.metadata.annotations, ready: 'yes' };
      harness.edit(object, { metadata: { ...object.metadata, annotations } });
      await harness.settle();
    };
    const found = () => [harness.names('v1', 'ConfigMap'), harness.names('v1', 'Secret')];
    for (const index of [0, 1, 2]) await ready('ConfigMap', index);
    harness.edit(resource, { spec: { kind: 'Secret' } });
    await harness.settle();
    assert.deepEqual(found(), [['entry-0', 'entry-1', 'entry-2'], ['entry-0']]);
    await ready('Secret', 0);
    assert.deepEqual(found(), [
      ['entry-1', 'entry-2'],
      ['entry-0', 'entry-1'],
    ]);
    for (const index of [1, 2]) await ready('Secret', index);
    assert.deepEqual(found(), [[], ['entry-0', 'entry-1', 'entry-2']]);
  });

  test('a child whose `when` is false keeps nothing', async () => {
    const fleet = await Fleet.with(pods('maxSurge: 1'), a);
    await fleet.want(b);
    await fleet.harness.restart(planOfPodSet(pods('maxSurge: 1', 'when: false')));
    await fleet.harness.settle();
    assert.equal(fleet.pods, '');
  });

  test('in random histories there are never too many, nor too few that are ready', async () => {
    for (let seed = 1; seed <= 20; seed++) await randomHistory(seed);
  });
});

/** Pods become ready and are lost only by what the operator does, so that its own limits can be seen. */
async function randomHistory(seed: number): Promise<void> {
  const next = randomFrom(seed);
  const size = 1 + next(5);
  const maxSurge = 1 + next(3);
  const maxUnavailable = next(3);
  const body = pods(`maxSurge: ${maxSurge}, maxUnavailable: ${maxUnavailable}`);
  const fleet = await Fleet.with(body, { size, revision: 'r0' });
  const check = () => {
    const names = fleet.harness.names('v1', 'Pod');
    const ready = names.filter((name) => fleet.isReady(name));
    const what = `seed ${seed}: ${fleet.pods}, size ${size}, ${maxSurge} ${maxUnavailable}`;
    assert.ok(names.length <= size + maxSurge, what);
    assert.ok(ready.length >= size - maxUnavailable, what);
  };
  let revision = 0;
  for (let step = 0; step < 15; step++) {
    const names = fleet.harness.names('v1', 'Pod');
    const unready = names.filter((name) => !fleet.isReady(name));
    const action = next(4);
    if (action === 0) {
      revision += 1;
      await fleet.want({ size, revision: `r${revision}` });
    } else if (action === 1) {
      await fleet.harness.restart(planOfPodSet(body));
      await fleet.harness.settle();
    } else if (unready.length > 0) await fleet.ready(unready[next(unready.length)] ?? '');
    check();
  }
  for (let left = 0; left < 50 && fleet.pods.includes('!'); left++) {
    const [name = ''] = fleet.harness.names('v1', 'Pod').filter((each) => !fleet.isReady(each));
    await fleet.ready(name);
    check();
  }
  const all = Array.from({ length: size }, (_, index) => `r${revision}-${index}`);
  assert.equal(fleet.pods, all.join(' '), `seed ${seed}`);
  await fleet.atRest();
}

/** Integers below a bound, the same for each seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
