import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

// Elements that go one by one are gone when all they have made is: the garbage collector says so.
const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

const pods = (fields: string) => `  children:
    - id: pods
      forEach: \${ [0..spec.size - 1] }
      ${fields}
      template:
        apiVersion: v1
        kind: Pod
        metadata: { name: "db-\${ $item }" }
        spec: { containers: [{ name: db, image: "\${ spec.image }" }] }
`;
const definitions = {
  'ordered.yaml': thingDefinition('ordered', pods('ordered: true')),
  'rolling.yaml': thingDefinition(
    'rolling',
    pods('updateStrategy: { type: Recreate, rollingUpdate: { order: Descending } }'),
  ),
  'surging.yaml': thingDefinition(
    'surging',
    pods('updateStrategy: { rollingUpdate: { maxSurge: 1 } }').replace(
      'name: "db-',
      'name: "${ spec.image }-',
    ),
  ),
  'parted.yaml': thingDefinition(
    'parted',
    pods('updateStrategy: { rollingUpdate: { partition: 2 } }'),
  ),
};

interface Pod extends KubeObject {
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
  readonly status?: { readonly phase?: string };
}

const podsPath = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`;

class Fleet {
  readonly #definition: string;
  readonly #namespace: string;

  constructor(definition: string, namespace: string) {
    this.#definition = definition;
    this.#namespace = namespace;
  }

  want(size: number, image: string): Promise<KubeObject> {
    return shared.client().apply(thing(this.#definition, this.#namespace, { size, image }));
  }

  /** Waits until the Pods are these, as `db-0=one db-1=two`. */
  async untilPods(expected: string): Promise<void> {
    await shared
      .client()
      .untilList<Pod>(podsPath(this.#namespace), (items) => describePods(items) === expected);
  }

  async pods(): Promise<string> {
    return describePods(await shared.client().list<Pod>(podsPath(this.#namespace)));
  }

  /** What a kubelet would do. */
  async run(...indexes: readonly number[]): Promise<void> {
    await this.runAll(...indexes.map((index) => `db-${index}`));
  }

  async runAll(...names: readonly string[]): Promise<void> {
    for (const name of names) await this.#phase(name, 'True');
  }

  async stop(index: number): Promise<void> {
    await this.#phase(`db-${index}`, 'False');
  }

  async #phase(name: string, status: string): Promise<void> {
    const conditions = [{ type: 'Ready', status }];
    const path = `${podsPath(this.#namespace)}/${name}/status`;
    await shared.client().patch(path, { status: { phase: 'Running', conditions } });
  }

  untilMessage(index: number, message: string | undefined): Promise<void> {
    return this.untilMessageOf(`db-${index}`, message);
  }

  async untilMessageOf(pod: string, message: string | undefined): Promise<void> {
    await shared.client().untilObject(this.#path, (object) => {
      const children = statusOf(object).children ?? [];
      return children.find(({ name }) => name === pod)?.message === message;
    });
  }

  async delete(): Promise<void> {
    await shared.client().delete(this.#path);
  }

  async untilReady(): Promise<void> {
    await shared
      .client()
      .untilObject(
        this.#path,
        (object) =>
          conditionOf(object)?.status === 'True' &&
          statusOf(object).observedGeneration === object?.metadata.generation,
      );
  }

  get #path(): string {
    return thingPath(this.#definition, this.#namespace);
  }
}

function describePods(items: readonly Pod[]): string {
  return items
    .map(({ metadata, spec }) => `${metadata.name}=${spec.containers[0]?.image}`)
    .sort()
    .join(' ');
}

/** The operator has nothing more to do, and does nothing. */
async function atRest(): Promise<void> {
  await shared.audit.quiet(1_500);
}

shared.describe('integration/ordered', () => {
  let homeostat: HomeostatRuntime;

  before(async () => {
    homeostat = await startHomeostat(definitions);
  });

  async function fleetOf(definition: string): Promise<Fleet> {
    return new Fleet(definition, await shared.namespace());
  }

  /** Three Pods of image "one" that are ready. */
  async function threeOf(definition: string): Promise<Fleet> {
    const fleet = await fleetOf(definition);
    await fleet.want(3, 'one');
    await fleet.untilPods('db-0=one db-1=one db-2=one');
    await fleet.run(0, 1, 2);
    await fleet.untilReady();
    return fleet;
  }

  test('ordered: up one by one, each when the one before is ready, and down from the last', async () => {
    const fleet = await fleetOf('ordered');
    await fleet.want(3, 'one');
    await fleet.untilMessage(1, 'Waiting for Pod "db-0" to be ready');
    await fleet.untilMessage(2, 'Waiting for Pod "db-1" to be ready');
    await atRest();
    assert.equal(await fleet.pods(), 'db-0=one');
    await fleet.run(0);
    await fleet.untilPods('db-0=one db-1=one');
    await atRest();
    assert.equal(await fleet.pods(), 'db-0=one db-1=one');
    await fleet.run(1);
    await fleet.untilPods('db-0=one db-1=one db-2=one');
    await fleet.run(2);
    await fleet.untilReady();
    await fleet.want(1, 'one');
    await fleet.untilPods('db-0=one');
    await fleet.untilReady();
    await atRest();
  });

  test('rollingUpdate: one after the other, from the last, each when the one before is ready', async () => {
    const fleet = await threeOf('rolling');
    await fleet.want(3, 'two');
    await fleet.untilPods('db-0=one db-1=one db-2=two');
    await fleet.untilMessage(1, 'Rolling update in progress: waiting for Pod "db-2" to be ready');
    await atRest();
    assert.equal(await fleet.pods(), 'db-0=one db-1=one db-2=two');
    await fleet.run(2);
    await fleet.untilPods('db-0=one db-1=two db-2=two');
    await fleet.run(1);
    await fleet.untilPods('db-0=two db-1=two db-2=two');
    await fleet.run(0);
    await fleet.untilReady();
    await atRest();
  });

  test('rollingUpdate: stops at an element that does not become ready, also after a restart; a better template continues', async () => {
    const fleet = await threeOf('rolling');
    await fleet.want(3, 'broken');
    await fleet.untilPods('db-0=one db-1=one db-2=broken');
    await fleet.stop(2);
    await atRest();
    await homeostat.stop('SIGKILL');
    homeostat = await startHomeostat(definitions);
    await atRest();
    assert.equal(await fleet.pods(), 'db-0=one db-1=one db-2=broken');
    await fleet.want(3, 'two');
    await fleet.untilPods('db-0=one db-1=one db-2=two');
    await atRest();
    await fleet.run(2);
    await fleet.untilPods('db-0=one db-1=two db-2=two');
    await fleet.run(1);
    await fleet.untilPods('db-0=two db-1=two db-2=two');
    await fleet.run(0);
    await fleet.untilReady();
  });

  test('maxSurge: an earlier Pod is deleted when its successor is ready, over restarts, reverts and deletions', async () => {
    const fleet = await fleetOf('surging');
    await fleet.want(2, 'one');
    await fleet.untilPods('one-0=one one-1=one');
    await fleet.runAll('one-0', 'one-1');
    await fleet.untilReady();
    await fleet.want(2, 'two');
    await fleet.untilPods('one-0=one one-1=one two-0=two');
    await fleet.untilMessageOf('two-1', 'Waiting for Pod "one-0" to be deleted');
    await atRest();
    await homeostat.stop('SIGKILL');
    homeostat = await startHomeostat(definitions);
    await atRest();
    assert.equal(await fleet.pods(), 'one-0=one one-1=one two-0=two');
    await fleet.runAll('two-0');
    await fleet.untilPods('one-1=one two-0=two two-1=two');
    await fleet.want(2, 'one');
    // The Pod that is not ready makes room.
    await fleet.untilPods('one-0=one one-1=one two-0=two');
    await fleet.runAll('one-0');
    await fleet.untilPods('one-0=one one-1=one');
    await fleet.untilReady();
    await fleet.want(2, 'three');
    await fleet.untilPods('one-0=one one-1=one three-0=three');
    await fleet.delete();
    await fleet.untilPods('');
  });

  test('rollingUpdate: elements below the partition keep what they have', async () => {
    const fleet = await threeOf('parted');
    await fleet.want(3, 'two');
    await fleet.untilPods('db-0=one db-1=one db-2=two');
    await fleet.untilMessage(0, 'Not updated: its index is below the partition');
    await fleet.untilReady();
    await atRest();
    assert.equal(await fleet.pods(), 'db-0=one db-1=one db-2=two');
  });
});
