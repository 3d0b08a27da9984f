import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

const key = 'default/a';

function maps(fields: string): string {
  return `
  children:
    - id: maps
      forEach: \${ [0..spec.size - 1] }
      ready: \${ $child.status.phase = 'Running' }
      ${fields}
      template:
        apiVersion: v1
        kind: Pod
        metadata: { name: "map-\${ $item }" }
        spec: { containers: [{ name: main, image: "\${ spec.image }" }] }`;
}

interface Spec {
  readonly size: number;
  readonly image: string;
}

class Fleet {
  readonly harness: OperatorHarness;
  readonly #resource: KubeObject;

  constructor(harness: OperatorHarness, spec: Spec) {
    this.harness = harness;
    this.#resource = harness.podSet('a', spec);
  }

  static async with(fields: string, spec: Spec): Promise<Fleet> {
    const harness = new OperatorHarness(planOfPodSet(maps(fields)));
    await harness.start();
    const fleet = new Fleet(harness, spec);
    await harness.settle();
    return fleet;
  }

  async want(spec: Spec): Promise<void> {
    this.harness.edit(this.#resource, { spec });
    await this.harness.settle();
  }

  pod(index: number): KubeObject {
    const pod = this.harness.get('v1', 'Pod', `map-${index}`);
    assert.ok(pod, `map-${index} is not there`);
    return pod;
  }

  async ready(index: number, ready = true): Promise<void> {
    this.harness.edit(this.pod(index), { status: { phase: ready ? 'Running' : 'Pending' } });
    await this.harness.settle();
  }

  async allReady(size: number): Promise<void> {
    for (let index = 0; index < size; index++) await this.ready(index);
  }

  /** Images by index, as `one one two`; `-` where there is none, `!` where it is not ready. */
  get images(): string {
    const resource = this.harness.get('apps.example.com/v1', 'PodSet', 'a') ?? this.#resource;
    const { size } = resource.spec as Spec;
    return Array.from({ length: size }, (_, index) => this.#image(index)).join(' ');
  }

  #image(index: number): string {
    const pod = this.harness.get('v1', 'Pod', `map-${index}`);
    if (pod === undefined) return '-';
    const { containers } = pod.spec as { containers: { image: string }[] };
    const isReady = (pod.status as { phase?: string } | undefined)?.phase === 'Running';
    return `${containers[0]?.image}${isReady ? '' : '!'}`;
  }

  messageOf(index: number): string | undefined {
    const children = this.harness.status('a').children as { name: string; message: string }[];
    return children.find(({ name }) => name === `map-${index}`)?.message;
  }

  async atRest(): Promise<void> {
    this.harness.cluster.takeWrites();
    await this.harness.runOne(key);
    assert.deepEqual(this.harness.cluster.requests, []);
  }
}

describe('reconcile/child ordered', () => {
  test('an element is made when the one before it is ready, and the wait is reported', async () => {
    const fleet = await Fleet.with('ordered: true', { size: 3, image: 'one' });
    assert.equal(fleet.images, 'one! - -');
    assert.equal(fleet.messageOf(1), 'Waiting for Pod "map-0" to be ready');
    assert.equal(fleet.messageOf(2), 'Waiting for Pod "map-1" to be ready');
    await fleet.atRest();
    await fleet.ready(0);
    assert.equal(fleet.images, 'one one! -');
    await fleet.ready(1);
    await fleet.ready(2);
    assert.equal(fleet.images, 'one one one');
    assert.match(fleet.harness.ready('a'), /^True/);
    await fleet.atRest();
  });

  test('changes of elements that are there do not wait', async () => {
    const fleet = await Fleet.with('ordered: true', { size: 2, image: 'one' });
    await fleet.allReady(2);
    await fleet.ready(0, false);
    await fleet.want({ size: 3, image: 'two' });
    assert.equal(fleet.images, 'two! two two!');
  });

  test('elements that are not wanted any more go while others wait', async () => {
    const fleet = await Fleet.with('ordered: true', { size: 3, image: 'one' });
    await fleet.allReady(3);
    await fleet.ready(0, false);
    fleet.harness.remove(fleet.pod(1));
    await fleet.want({ size: 2, image: 'one' });
    assert.equal(fleet.images, 'one! -');
    assert.equal(fleet.harness.get('v1', 'Pod', 'map-2'), undefined);
  });
});

describe('reconcile/child ordered, after another child', () => {
  const first = `
  children:
    - id: first
      ready: \${ $child.data.ready = 'yes' }
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: first }
        data: { ready: "\${ spec.go ? 'yes' : 'no' }" }`;
  const body = maps('ordered: true\n      after: [first]').replace('\n  children:', first);

  test('an element that waits for both names both, and its child keeps its objects', async () => {
    const harness = new OperatorHarness(planOfPodSet(body));
    await harness.start();
    const resource = harness.podSet('a', { size: 3, image: 'one', go: true });
    const pod = (index: number) => harness.get('v1', 'Pod', `map-${index}`) ?? assert.fail();
    for (let index = 0; index < 3; index++) {
      await harness.settle();
      harness.edit(pod(index), { status: { phase: 'Running' } });
    }
    await harness.settle();
    harness.edit(pod(0), { status: { phase: 'Pending' } });
    harness.remove(pod(1));
    harness.edit(resource, { spec: { size: 2, image: 'one', go: false } });
    await harness.settle();
    const children = harness.status('a').children as readonly { name: string; message: string }[];
    assert.equal(
      children.find(({ name }) => name === 'map-1')?.message,
      'Waiting for Pod "map-0" to be ready, children.first to be ready',
    );
    assert.deepEqual(harness.names('v1', 'Pod'), ['map-0', 'map-2']);
    harness.edit(resource, { spec: { size: 2, image: 'one', go: true } });
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'Pod'), ['map-0'], 'it waits for its own elements only');
  });
});

describe('reconcile/child rollingUpdate', () => {
  const rolling = (more = '') => `updateStrategy: { rollingUpdate: { ${more} } }`;
  const recreate = 'updateStrategy: { type: Recreate, rollingUpdate: {} }';

  async function fleetOf(fields: string, size = 3): Promise<Fleet> {
    const fleet = await Fleet.with(fields, { size, image: 'one' });
    await fleet.allReady(size);
    return fleet;
  }

  test('all that is there continues one by one while it stays ready', async () => {
    const fleet = await fleetOf(rolling());
    await fleet.want({ size: 3, image: 'two' });
    assert.equal(fleet.images, 'two two two');
    await fleet.atRest();
  });

  test('created again, one at a time, each when the one before is ready', async () => {
    const fleet = await fleetOf(recreate);
    await fleet.want({ size: 3, image: 'two' });
    assert.equal(fleet.images, 'two! one one');
    assert.equal(
      fleet.messageOf(1),
      'Rolling update in progress: waiting for Pod "map-0" to be ready',
    );
    assert.match(fleet.harness.ready('a'), /^False Waiting/);
    await fleet.atRest();
    await fleet.ready(0);
    assert.equal(fleet.images, 'two two! one');
    await fleet.ready(1);
    await fleet.ready(2);
    assert.equal(fleet.images, 'two two two');
    assert.match(fleet.harness.ready('a'), /^True/);
    await fleet.atRest();
  });

  test('it stops at an element that does not become ready, also in a new process', async () => {
    const fleet = await fleetOf(recreate);
    await fleet.want({ size: 3, image: 'broken' });
    await fleet.harness.restart(planOfPodSet(maps(recreate)));
    await fleet.harness.settle();
    assert.equal(fleet.images, 'broken! one one');
    // A mended template reaches first what is broken anyway.
    await fleet.want({ size: 3, image: 'two' });
    assert.equal(fleet.images, 'two! one one');
    await fleet.allReady(3);
    assert.equal(fleet.images, 'two two two');
  });

  test('in place it stops too', async () => {
    const fleet = await fleetOf(rolling());
    // Not ready before anything changes: no more than that is lost.
    await fleet.ready(1, false);
    await fleet.want({ size: 3, image: 'two' });
    assert.equal(fleet.images, 'one two! one');
    await fleet.ready(1);
    assert.equal(fleet.images, 'two two two');
  });

  test('what a user changed is reverted at once, whatever child has the turn', async () => {
    const fleet = await fleetOf(recreate);
    await fleet.want({ size: 3, image: 'two' });
    const meddle = (index: number) => {
      const pod = fleet.pod(index);
      fleet.harness.edit(pod, { spec: { containers: [{ name: 'main', image: 'meddled' }] } });
    };
    meddle(0);
    meddle(2);
    await fleet.harness.settle();
    assert.equal(fleet.images, 'two! one one');
  });

  test('elements below the partition keep what they have, and are ready all the same', async () => {
    const fleet = await fleetOf(rolling('partition: 2'));
    await fleet.want({ size: 3, image: 'two' });
    assert.equal(fleet.images, 'one one two');
    assert.equal(fleet.messageOf(0), 'Not updated: its index is below the partition');
    assert.match(fleet.harness.ready('a'), /^True/);
    await fleet.atRest();
  });

  for (const [what, more, size, after] of [
    ['from the last', 'order: Descending', 3, 'one one two!'],
    ['two at a time', 'maxUnavailable: 2', 3, 'two! two! one'],
    ['a part at a time', 'maxUnavailable: "50%"', 3, 'two! two! one'],
    ['at least one at a time', 'maxUnavailable: "1%"', 2, 'two! one'],
  ] as const) {
    test(`is sent ${what} (${more})`, async () => {
      const fleet = await fleetOf(
        `updateStrategy: { type: Recreate, rollingUpdate: { ${more} } }`,
        size,
      );
      await fleet.want({ size, image: 'two' });
      assert.equal(fleet.images, after);
    });
  }

  test('of two that are not ready anyway, one is updated at a time', async () => {
    const fleet = await fleetOf(rolling());
    await fleet.ready(0, false);
    await fleet.ready(1, false);
    await fleet.want({ size: 3, image: 'two' });
    assert.equal(fleet.images, 'two! one! one');
    await fleet.ready(0);
    assert.equal(fleet.images, 'two two! one');
  });

  test('one that is not ready anyway waits while another one has been updated', async () => {
    const fleet = await fleetOf(recreate);
    await fleet.want({ size: 3, image: 'two' });
    await fleet.ready(1, false);
    assert.equal(fleet.images, 'two! one! one');
  });

  test('elements that are not wanted any more go while the others are updated', async () => {
    const fleet = await fleetOf(recreate);
    await fleet.want({ size: 2, image: 'two' });
    assert.equal(fleet.images, 'two! one');
    assert.equal(fleet.harness.get('v1', 'Pod', 'map-2'), undefined);
  });

  test('more elements are made at once, of the new template', async () => {
    const fleet = await fleetOf(recreate, 2);
    await fleet.want({ size: 4, image: 'two' });
    assert.equal(fleet.images, 'one one two! two!');
    await fleet.ready(2);
    await fleet.ready(3);
    assert.equal(fleet.images, 'two! one two two');
  });

  test('with `ordered`, what was deleted for it is made again in order', async () => {
    const fleet = await fleetOf(`ordered: true\n      ${recreate}`);
    await fleet.want({ size: 4, image: 'two' });
    assert.equal(fleet.images, 'one one one two!');
    await fleet.ready(3);
    for (let index = 0; index < 3; index++) await fleet.ready(index);
    assert.equal(fleet.images, 'two two two two');
  });

  /** Elements that wait for another child unless `spec.go`; it is true so far. */
  async function heldFleet(strategy: string, size = 3) {
    const held = `
  children:
    - id: first
      ready: \${ $child.data.ready = 'yes' }
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: first }
        data: { ready: "\${ spec.go ? 'yes' : 'no' }" }`;
    const body = maps(`after: [first]\n      ${strategy}`).replace('\n  children:', held);
    const harness = new OperatorHarness(planOfPodSet(body));
    await harness.start();
    const resource = harness.podSet('a', { size, image: 'one', go: true });
    await harness.settle();
    return { harness, resource };
  }

  test('a child that is held changes none of its elements', async () => {
    const { harness, resource } = await heldFleet(rolling(), 1);
    harness.edit(resource, { spec: { size: 1, image: 'two', go: false } });
    await harness.settle();
    assert.match(
      harness.ready('a'),
      /Waiting: maps "map-0": Waiting for children\.first to be ready/,
    );
    assert.deepEqual(harness.get('v1', 'Pod', 'map-0')?.spec, {
      containers: [{ name: 'main', image: 'one' }],
    });
  });

  test('every element of a child that is held names what the child waits for', async () => {
    const { harness, resource } = await heldFleet(rolling('partition: 1'));
    harness.edit(resource, { spec: { size: 3, image: 'two', go: false } });
    await harness.settle();
    const children = harness.status('a').children as readonly { id: string; message: string }[];
    assert.deepEqual(
      children.filter(({ id }) => id === 'maps').map(({ message }) => message),
      Array.from({ length: 3 }, () => 'Waiting for children.first to be ready'),
    );
  });

  test('drift of an element that is held and cannot be reverted is reported before the wait', async () => {
    const { harness, resource } = await heldFleet(rolling());
    harness.edit(resource, { spec: { size: 3, image: 'two', go: false } });
    await harness.settle();
    harness.cluster.fault = ({ verb, kind }) =>
      verb === 'apply' && kind === 'Pod'
        ? new KubeError('forbidden', 'no', { status: 403 })
        : undefined;
    const pod = harness.get('v1', 'Pod', 'map-0') ?? assert.fail();
    harness.edit(pod, { spec: { containers: [{ name: 'main', image: 'meddled' }] } });
    await harness.settle();
    assert.match(harness.ready('a'), /^False Forbidden: maps "map-0": /);
  });

  test('drift of an element that is held is reverted, also after a conflict', async () => {
    const { harness, resource } = await heldFleet(rolling());
    harness.edit(resource, { spec: { size: 3, image: 'two', go: false } });
    await harness.settle();
    let conflicts = 1;
    harness.cluster.fault = ({ verb, kind }) =>
      verb === 'apply' && kind === 'Pod' && conflicts-- > 0
        ? new KubeError('conflict', 'The object has been modified', { status: 409 })
        : undefined;
    const pod = harness.get('v1', 'Pod', 'map-0') ?? assert.fail();
    harness.edit(pod, { spec: { containers: [{ name: 'main', image: 'meddled' }] } });
    await harness.settle();
    assert.deepEqual(harness.get('v1', 'Pod', 'map-0')?.spec, pod.spec);
  });

  test('drift of an element whose intent has not changed is no wait', async () => {
    const { harness, resource } = await heldFleet(rolling(), 1);
    harness.edit(resource, { spec: { size: 1, image: 'one', go: false } });
    await harness.settle();
    const pod = harness.get('v1', 'Pod', 'map-0') ?? assert.fail();
    harness.edit(pod, { spec: { containers: [{ name: 'main', image: 'meddled' }] } });
    harness.deliver();
    await harness.runOne(key);
    assert.deepEqual(
      harness.decisions.get(key)?.children.map(({ verdict, state }) => `${verdict.kind} ${state}`),
      ['unchanged Progressing', 'applied Progressing'],
    );
  });
});
