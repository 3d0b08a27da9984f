import assert from 'node:assert/strict';
import { KubeError } from '#kube/roles.ts';
import { settle } from '../fake-clock.ts';
import { OperatorHarness } from '../fakes/operator-harness.ts';
import { planOfPodSet } from '../podset-text.ts';
import { SeededRandom } from './seeded-random.ts';

const steps = 40;
const owners = ['a', 'b'];
const texts = ['one', 'two', 'three'];

/** Every resource notes its text in itself, on a board that all share, and on a card that it makes. */
const plan = planOfPodSet(`
  status: { text: "\${ spec.text }" }
  conditions:
    - { type: Long, status: "\${ $length(status.text) > 3 }", message: "\${ status.text }" }
  patches:
    - { id: seen, patch: { spec: { seen: "\${ spec.text }" } } }
    - id: board
      target: { apiVersion: v1, kind: ConfigMap, name: board }
      patch: { data: { "\${ metadata.name }": "\${ spec.text }" } }
    - id: card
      when: \${ spec.text = "two" }
      target: { apiVersion: v1, kind: ConfigMap, name: "card-\${ metadata.name }" }
      create: true
      patch: { data: { text: "\${ spec.text }" } }
`);

/** One random history of patches by two resources of one definition, and what must be so at its end. */
export class PatchHistory {
  readonly log: string[] = [];
  readonly #random: SeededRandom;
  readonly #harness = new OperatorHarness(plan);
  readonly #running = new Map<string, Promise<unknown>>();
  /** Keys that are to run again after a while. */
  readonly #later = new Set<string>();

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
  }

  async run(): Promise<void> {
    await this.#harness.start();
    let fails = true;
    this.#harness.cluster.pace = async () => {
      for (let turns = this.#random.below(4); turns >= 0; turns--) await settle();
      if (!fails || this.#random.chance(0.96)) return;
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
    for (let change = 0; change < 3; change++) {
      this.#random.pick([() => this.#meddle(), () => this.#putOwner()])?.();
      await this.#rest();
      this.#check();
    }
    this.#harness.cluster.takeWrites();
    this.#harness.cluster.pace = undefined;
    for (const name of owners) await this.#harness.runOne(`default/${name}`);
    assert.deepEqual(this.#harness.cluster.requests, []);
  }

  async #step(): Promise<void> {
    const action = this.#random.pick([
      () => this.#work(),
      () => this.#work(),
      () => this.#work(),
      () => void this.#harness.cluster.deliver(),
      () => void this.#harness.cluster.deliver(),
      () => this.#putOwner(),
      () => this.#putOwner(),
      () => this.#meddle(),
      () => this.#meddle(),
      () => this.#restart(),
    ]);
    await action?.();
  }

  #work(): void {
    const ready = [...this.#harness.queued.keys()].filter((key) => !this.#running.has(key));
    const key = this.#random.pick(ready);
    if (key === undefined) return;
    this.log.push(`pass ${key}`);
    const pass = this.#harness.runOne(key).then((end) => {
      this.#running.delete(key);
      if (end.kind === 'error') this.#harness.queued.set(key, 'normal');
      if (end.kind === 'requeue') this.#later.add(key);
      this.log.push(`end ${key} ${end.kind}`);
    });
    this.#running.set(key, pass);
  }

  async #restart(): Promise<void> {
    if (this.#running.size > 0 || this.#random.chance(0.5)) return;
    this.log.push('restart');
    await this.#harness.restart(plan);
  }

  /** A user says something else, or gives up what a patch has set. */
  #putOwner(): void {
    const name = this.#random.pick(owners) ?? '';
    const text = this.#random.pick(texts);
    const present = this.#harness.get('apps.example.com/v1', 'PodSet', name);
    this.log.push(`owner ${name} ${text}`);
    if (present === undefined) this.#harness.podSet(name, { text });
    else this.#harness.edit(present, { spec: { text } });
  }

  /** Somebody makes, changes or removes what is patched. */
  #meddle(): void {
    const name =
      this.#random.pick(['board', 'board', ...owners.map((owner) => `card-${owner}`)]) ?? '';
    const present = this.#harness.get('v1', 'ConfigMap', name);
    const how = this.#random.pick(['put', 'remove', 'meddle', 'meddle']);
    this.log.push(`${how} ${name}`);
    if (present !== undefined && how === 'remove') this.#harness.remove(present);
    else if (present !== undefined) {
      const key = this.#random.pick([...owners, 'text', 'mine']) ?? '';
      const data = { ...(present.data as Readonly<Record<string, string>>), [key]: 'meddled' };
      this.#harness.edit(present, { data });
    } else if (how !== 'remove') {
      const metadata = { name, namespace: 'default' };
      const data = { mine: 'yes' };
      this.#harness.cluster.server.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
    }
  }

  async #rest(): Promise<void> {
    this.log.push('rest');
    for (let rounds = 0; rounds < 300; rounds++) {
      await settle();
      this.#harness.cluster.deliver();
      this.#work();
      const isIdle = this.#running.size === 0 && this.#harness.queued.size === 0;
      if (isIdle && !this.#harness.cluster.deliver() && !(await this.#passTime())) return;
      if (rounds % 3 === 0) await Promise.all(this.#running.values());
    }
    throw new Error('Expected the harness to settle');
  }

  /** What was slowed down, or left to somebody for a while, gets its turn. */
  async #passTime(): Promise<boolean> {
    if (this.#later.size === 0) return false;
    await this.#harness.clock.advance(300_000);
    for (const key of this.#later) this.#harness.queued.set(key, 'normal');
    this.#later.clear();
    return true;
  }

  #check(): void {
    const board = this.#dataOf('board');
    for (const name of owners) {
      const resource = this.#harness.get('apps.example.com/v1', 'PodSet', name);
      if (resource === undefined) continue;
      const { text, seen } = resource.spec as { readonly text: string; readonly seen?: string };
      assert.equal(seen, text, `${name} has not seen its text`);
      assert.deepEqual(this.#harness.status(name).text, text);
      if (board === undefined)
        assert.match(this.#harness.ready(name), /False Waiting: patches.board/);
      else {
        assert.equal(board[name], text, `the text of ${name} on the board`);
        assert.match(this.#harness.ready(name), /True AllReady/);
      }
      if (text === 'two') assert.equal(this.#dataOf(`card-${name}`)?.text, text);
      const conditions = this.#harness.status(name).conditions as readonly {
        readonly type: string;
        readonly message: string;
      }[];
      assert.equal(conditions.find(({ type }) => type === 'Long')?.message, text);
    }
  }

  #dataOf(name: string): Readonly<Record<string, string>> | undefined {
    const object = this.#harness.get('v1', 'ConfigMap', name);
    return object?.data as Readonly<Record<string, string>> | undefined;
  }
}
