import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MemberHarness, placedPlan } from '../../../../test/support/fakes/member-harness.ts';

const plan = placedPlan(`
  reads:
    - { id: clusters, apiVersion: homeostat.dev/v1alpha1, kind: Cluster, selector: { matchLabels: { web: "true" } } }
  children:
    - id: web
      forEach: \${ reads.clusters.metadata.name }
      cluster: \${ $item }
      crossCluster: { selector: all }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: web }, data: { text: "\${ spec.text }" } }
    - id: one
      cluster: \${ spec.cluster }
      crossCluster: { selector: all }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: one }, data: { text: "\${ spec.text }" } }
`);
const names = ['berlin', 'paris'];
const web = { web: 'true' };

/** A process that is killed at one of its requests: before the server acts, or before the response arrives. */
class KilledProcess {
  readonly harness = new MemberHarness(plan);
  isKilled = false;
  readonly #at: number;
  #requests = 0;
  #process = 0;
  #kill: () => void = () => undefined;

  constructor(at: number) {
    this.#at = at;
    for (const name of names) this.harness.addMember(name, web);
    const clusters = [
      this.harness.cluster,
      ...names.map((name) => this.harness.member(name).cluster),
    ];
    for (const cluster of clusters) cluster.pace = () => this.#pace();
  }

  /** Runs until nothing is left to do; after the kill with a new process. */
  async settle(): Promise<void> {
    const killed = new Promise<'killed'>((resolve) => {
      this.#kill = () => resolve('killed');
    });
    const end = await Promise.race([this.harness.settle(), killed]);
    if (end !== 'killed') return;
    this.#process += 1;
    await this.harness.restart(plan);
    await this.harness.settle();
  }

  #pace(): Promise<void> {
    this.#requests += 1;
    if (this.#requests === this.#at) {
      this.isKilled = true;
      this.#kill();
    }
    // Requests of a killed process never end.
    const isDead = this.isKilled && this.#process === 0;
    return isDead ? new Promise(() => undefined) : Promise.resolve();
  }
}

/** The life of placed objects: created, changed, moved, pruned by label, deleted with their resource. */
async function live(at: number): Promise<boolean> {
  const process = new KilledProcess(at);
  const { harness } = process;
  await harness.start();
  const edit = async (spec: object) => {
    const now = harness.get('apps.example.com/v1', 'PodSet', 'a');
    assert.ok(now);
    harness.edit(now, { spec: spec as Record<string, unknown> });
    await process.settle();
  };
  const texts = (name: string) =>
    harness
      .member(name)
      .names('v1', 'ConfigMap')
      .map((each) => [each, harness.member(name).get('v1', 'ConfigMap', each)?.data]);
  harness.podSet('a', { text: '1', cluster: 'paris' });
  await process.settle();
  await edit({ text: '2', cluster: 'paris' });
  const second = { text: '2' };
  assert.deepEqual(texts('berlin'), [['web', second]]);
  assert.deepEqual(texts('paris'), [
    ['one', second],
    ['web', second],
  ]);
  await edit({ text: '2', cluster: 'berlin' });
  harness.label('paris', {});
  await process.settle();
  assert.deepEqual(texts('paris'), []);
  assert.deepEqual(texts('berlin'), [
    ['one', second],
    ['web', second],
  ]);
  const resource = harness.get('apps.example.com/v1', 'PodSet', 'a');
  assert.ok(resource);
  harness.remove(resource);
  await process.settle();
  assert.equal(harness.get('apps.example.com/v1', 'PodSet', 'a'), undefined);
  for (const name of names) assert.deepEqual(texts(name), []);
  return process.isKilled;
}

describe('reconcile/members: a process that is killed', () => {
  test('at any request in the life of placed objects leaves nothing behind and nothing out', async () => {
    let at = 1;
    while (await live(at)) at += 1;
    assert.ok(at > 20, `${at} requests`);
  });
});
