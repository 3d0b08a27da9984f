import assert from 'node:assert/strict';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { settle } from '../fake-clock.ts';
import { OperatorHarness } from '../fakes/operator-harness.ts';
import { planOfPodSet } from '../podset-text.ts';
import { SeededRandom } from './seeded-random.ts';

const steps = 40;
const names = ['a', 'b'];
const revisions = gvkOf('apps/v1', 'ControllerRevision');
const deleted = 'deleted';

/** Records every ConfigMap, and restores what is asked for. */
const plan = planOfPodSet(`
  reads:
    - { id: configs, apiVersion: v1, kind: ConfigMap, selector: all, history: { keep: 100 } }
  vars:
    wanted: \${ history[name = $$.spec.rollback.name and version = $$.spec.rollback.to] }
  patches:
    - id: rollback
      when: \${ $exists(vars.wanted) }
      once: \${ spec.rollback }
      create: true
      replace: true
      target: { apiVersion: v1, kind: ConfigMap, name: "\${ vars.wanted.name }" }
      patch: \${ vars.wanted.object }
  status: { versions: "\${ $count(history) }" }
`);

/** One random history of edits, deletions, restores and restarts, and what must be so of the versions. */
export class RecordingHistory {
  readonly log: string[] = [];
  readonly #random: SeededRandom;
  readonly #harness = new OperatorHarness(plan);
  readonly #running = new Map<string, Promise<unknown>>();
  /** All states of each ConfigMap, in order: `deleted`, or its value. */
  readonly #truth = new Map(names.map((name) => [name, [] as string[]]));
  #value = 0;
  /** Brings back the server's last backup. */
  #restoreBackup: (() => void) | undefined;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
    this.#observeRestores();
  }

  async run(): Promise<void> {
    this.#harness.podSet('one', {});
    await this.#harness.start();
    let fails = true;
    this.#harness.cluster.pace = async () => {
      for (let turns = this.#random.below(3); turns >= 0; turns--) await settle();
      if (!fails || this.#random.chance(0.95)) return;
      this.log.push('connection lost');
      throw new KubeError('connection-lost', 'socket hang up', { status: 0 });
    };
    for (let step = 0; step < steps; step++) {
      await this.#step();
      if (this.#random.chance(0.5)) await settle();
    }
    fails = false;
    await this.#rest();
    this.#check();
    await this.#harness.restart(plan);
    await this.#rest();
    this.#check();
    this.#harness.cluster.takeWrites();
    await this.#harness.restart(plan);
    await this.#rest();
    assert.deepEqual(this.#harness.cluster.takeWrites(), [], 'nothing is written at rest');
  }

  async #step(): Promise<void> {
    const action = this.#random.pick([
      () => this.#work(),
      () => this.#work(),
      () => void this.#harness.cluster.deliver(),
      () => void this.#harness.cluster.deliver(),
      () => this.#edit(),
      () => this.#edit(),
      () => this.#edit(),
      () => this.#remove(),
      () => this.#ask(),
      () => this.#harness.clock.advance(1_000),
      () => this.#restart(),
      () => this.#relist(),
      () => this.#backUp(),
    ]);
    await action?.();
  }

  #work(): void {
    const [key] = [...this.#harness.queued.keys()].filter((each) => !this.#running.has(each));
    if (key === undefined) return;
    this.log.push('pass');
    const pass = this.#harness.runOne(key).then((end) => {
      this.#running.delete(key);
      if (end.kind !== 'done') this.#harness.queued.set(key, 'normal');
      this.log.push(`end ${end.kind}`);
    });
    this.#running.set(key, pass);
  }

  async #restart(): Promise<void> {
    if (this.#running.size > 0 || this.#random.chance(0.5)) return;
    this.log.push('restart');
    this.#harness.operator.stop();
    // A request of a dead process reaches the server before the next process has listed.
    for (let turns = 0; turns < 20; turns++) await settle();
    await this.#harness.restart(plan);
  }

  /** The watches end with 410: what happened meanwhile is never reported. */
  #relist(): void {
    if (this.#random.chance(0.5)) return;
    this.log.push('relist');
    this.#harness.cluster.relist();
  }

  /** A backup of etcd, or its return: the server has the state of then, and the watches list it. */
  async #backUp(): Promise<void> {
    const { cluster } = this.#harness;
    if (this.#restoreBackup === undefined || this.#random.chance(0.5)) {
      this.log.push('back up');
      this.#restoreBackup = cluster.server.backUp();
      return;
    }
    await Promise.all(this.#running.values());
    // Events of an object are reported after the requests about it: what is under way ends before.
    while (cluster.inFlight > 0) await settle();
    this.log.push('restored from the backup');
    this.#restoreBackup();
    for (const [name, truth] of this.#truth) {
      const present = this.#harness.get('v1', 'ConfigMap', name);
      const value = present === undefined ? deleted : dataValue(present);
      if (truth.length > 0 && truth.at(-1) !== value) truth.push(value);
    }
    cluster.relist();
  }

  #edit(): void {
    const name = this.#random.pick(names) ?? '';
    const value = String(++this.#value);
    this.log.push(`edit ${name} ${value}`);
    const metadata = { name, namespace: 'default' };
    this.#harness.cluster.server.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { value },
    });
    this.#truth.get(name)?.push(value);
  }

  #remove(): void {
    const name = this.#random.pick(names) ?? '';
    const present = this.#harness.get('v1', 'ConfigMap', name);
    if (present === undefined) return;
    this.log.push(`remove ${name}`);
    this.#harness.remove(present);
    this.#truth.get(name)?.push(deleted);
  }

  #ask(): void {
    const resource = this.#harness.get('apps.example.com/v1', 'PodSet', 'one');
    assert.ok(resource);
    const rollback = { name: this.#random.pick(names), to: 1 + this.#random.below(4) };
    this.log.push(`ask ${JSON.stringify(rollback)}`);
    this.#harness.edit(resource, { spec: { rollback } });
  }

  /** Every write of the operator to a ConfigMap: what it overwrites must have been recorded. */
  #observeRestores(): void {
    const { server } = this.#harness.cluster;
    const replace = server.replace.bind(server);
    const apply = server.apply.bind(server);
    server.replace = (manifest, manager) => {
      const before = this.#harness.get('v1', 'ConfigMap', manifest.metadata.name);
      const answer = replace(manifest, manager);
      this.#restored(before, answer.object);
      return answer;
    };
    server.apply = (input) => {
      const answer = apply(input);
      if (input.manifest.kind === 'ConfigMap') this.#restored(undefined, answer.stored.object);
      return answer;
    };
  }

  #restored(before: KubeObject | undefined, after: KubeObject): void {
    const { name } = after.metadata;
    const value = dataValue(after);
    this.log.push(`restored ${name} ${value}`);
    if (before !== undefined)
      assert.ok(
        this.#versionsOf(name).includes(dataValue(before)),
        `${dataValue(before)} of ${name} was overwritten unrecorded`,
      );
    this.#truth.get(name)?.push(value);
  }

  async #rest(): Promise<void> {
    this.log.push('rest');
    for (let quiet = 0, rounds = 0; quiet < 4; rounds++) {
      assert.ok(rounds < 500, 'Expected the harness to settle');
      await settle();
      this.#work();
      await Promise.all(this.#running.values());
      const isBusy = this.#harness.cluster.deliver() || this.#harness.queued.size > 0;
      quiet = isBusy ? 0 : quiet + 1;
      if (!isBusy) await this.#harness.clock.advance(400_000);
    }
  }

  /** The versions are a part of the true history, in its order, and end with its last state. */
  #check(): void {
    for (const [name, truth] of this.#truth) {
      const versions = this.#versionsOf(name);
      let at = -1;
      for (const version of versions) {
        at = truth.indexOf(version, at + 1);
        assert.ok(at >= 0, `${name}: ${versions} is not in ${truth}`);
      }
      // An object that was deleted before the first pass of a process has left no trace.
      if (versions.length === 0 && truth.at(-1) === deleted) continue;
      assert.equal(versions.at(-1), truth.at(-1), `${name}: ${versions} does not end as ${truth}`);
    }
  }

  #versionsOf(name: string): readonly string[] {
    return this.#harness.cluster.server
      .list(revisions)
      .map(({ object }) => object)
      .filter((record) => (record.data as unknown as KubeObject).metadata.name === name)
      .sort((one, other) => Number(one.revision) - Number(other.revision))
      .flatMap((record) => {
        const isDeleted = record.metadata.annotations?.['homeostat.dev/deleted-at'] !== undefined;
        return [dataValue(record.data as unknown as KubeObject), ...(isDeleted ? [deleted] : [])];
      });
  }
}

function dataValue({ data }: KubeObject): string {
  return (data as { readonly value?: string } | undefined)?.value ?? '';
}
