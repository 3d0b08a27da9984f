import type { OperatorPlan } from '#compile';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { ownedPatchManagerOf } from '#util/stored-names.ts';
import { settle } from '../fake-clock.ts';
import { FakeCluster } from '../fakes/fake-cluster.ts';
import { ManagedServer } from '../fakes/managed-server.ts';
import { OperatorHarness, types } from '../fakes/operator-harness.ts';
import { planOfPodSet } from '../podset-text.ts';
import { SeededRandom } from './seeded-random.ts';

const steps = 50;
const owners = ['a', 'b'];
const targets = ['board', 'card'];
const texts = ['one', 'two', 'three'];
const lists = [[], ['board'], ['card'], ['board', 'card'], ['card', 'board']];
const configMap = gvkOf('v1', 'ConfigMap');
/** Who changes the targets beside the resources. */
const user = 'kubectl';
/** An object whose last owner has gone has no owners until the next apply, which gives its fields to this manager. */
const untracked = 'before-first-apply';

const note = (id: string) => `
    - id: ${id}
      when: \${ $not(spec.off = true) }
      target: { apiVersion: v1, kind: ConfigMap, name: "\${ spec.where }" }
      withdraw: true
      patch:
        data:
          "\${ metadata.name }": "\${ spec.text }"
          "text-\${ metadata.name }-\${ spec.text }": "x"
          shared: "x"
          first: "\${ metadata.name }"
`;
const tag = `
    - id: tag
      when: \${ spec.tag = true }
      target: { apiVersion: v1, kind: ConfigMap, name: board }
      conflicts: Force
      patch: { data: { tag: "\${ spec.text }" } }
`;

/** Of elements that come, go and move. */
const each = `
    - id: each
      forEach: \${ spec.each ?? [] }
      target: { apiVersion: v1, kind: ConfigMap, name: "\${ $item }" }
      withdraw: true
      patch: { data: { "each-\${ metadata.name }": "\${ spec.text }", "each-\${ metadata.name }-\${ spec.text }": "x" } }
`;

/** Versions of the definition: with another id, without one of the patches, without any. */
const plans: readonly (readonly [ids: readonly string[], plan: OperatorPlan])[] = [
  [['note', 'tag', 'each'], planOfPodSet(`  patches:${note('note')}${tag}${each}`)],
  [['renamed', 'tag', 'each'], planOfPodSet(`  patches:${note('renamed')}${tag}${each}`)],
  [['note'], planOfPodSet(`  patches:${note('note')}`)],
  [[], planOfPodSet('  status: { text: "${ spec.text }" }\n')],
];

/** Changes the cluster as an implementation with this mistake would. */
export type SeededMistake = (cluster: FakeCluster) => void;

interface Spec {
  readonly text: string;
  readonly where: string;
  readonly off?: boolean;
  readonly tag?: boolean;
  /** Targets, in any order. */
  readonly each?: readonly string[];
}

/**
 * One random history of patches that are withdrawn: users edit and delete the resources and what is patched, the definition changes, requests
 * fail, and the process is killed at any of its requests. Returns what is wrong in the end; nothing if all rules hold.
 */
export async function runOwnedPatchHistory(
  seed: number,
  mistake?: SeededMistake,
): Promise<readonly string[]> {
  return new OwnedPatchHistory(seed, mistake).run();
}

class OwnedPatchHistory {
  readonly #random: SeededRandom;
  readonly #harness: OperatorHarness;
  readonly #running = new Map<string, Promise<unknown>>();
  /** Keys that are to run again after a while. */
  readonly #later = new Set<string>();
  /** Targets that users have created and not deleted. */
  readonly #existing = new Set<string>();
  /** By target, the values that a user has set last. */
  readonly #theirs = new Map<string, Set<string>>(targets.map((name) => [name, new Set()]));
  #ids: readonly string[] = [];
  #plan: OperatorPlan;
  #process = 0;
  #hasFaults = true;
  #isKilled = false;

  constructor(seed: number, mistake: SeededMistake | undefined) {
    this.#random = new SeededRandom(seed);
    const cluster = new FakeCluster(types, new ManagedServer(types));
    [this.#ids, this.#plan] = plans[0] ?? [[], undefined as never];
    mistake?.(cluster);
    this.#harness = new OperatorHarness(this.#plan, undefined, cluster);
    cluster.pace = () => this.#pace();
  }

  async run(): Promise<readonly string[]> {
    await this.#harness.start();
    for (const name of targets) this.#putTarget(name);
    for (let step = 0; step < steps; step++) {
      await this.#step();
      if (this.#isKilled) await this.#restart();
      for (let turns = this.#random.below(5); turns > 0; turns--) await settle();
    }
    this.#hasFaults = false;
    await this.#rest();
    const found = [...this.#problems()];
    if (this.#random.chance(0.3)) await this.#changeDefinition();
    for (const name of owners) this.#removeOwner(name);
    await this.#rest();
    return [...found, ...this.#problems(), ...this.#leftovers()];
  }

  async #step(): Promise<void> {
    const action = this.#random.pick([
      () => this.#work(),
      () => this.#work(),
      () => this.#work(),
      () => this.#work(),
      () => void this.#harness.cluster.deliver(),
      () => void this.#harness.cluster.deliver(),
      () => this.#putOwner(),
      () => this.#putOwner(),
      () => this.#removeOwner(this.#random.pick(owners) ?? ''),
      () => this.#meddle(),
      () => this.#meddle(),
      () => this.#changeDefinition(),
    ]);
    await action?.();
  }

  /** Before the server acts, and before its answer arrives. Requests of a killed process never end. */
  async #pace(): Promise<void> {
    const process = this.#process;
    const isDead = () => process !== this.#process || this.#isKilled;
    const forEver = () => new Promise<never>(() => undefined);
    for (let turns = this.#random.below(2); turns >= 0; turns--) await settle();
    if (isDead()) await forEver();
    if (!this.#hasFaults) return;
    if (this.#random.chance(0.15)) this.#meddle();
    if (this.#random.chance(0.03)) {
      this.#isKilled = true;
      await forEver();
    }
    if (this.#random.chance(0.06))
      throw new KubeError('connection-lost', 'socket hang up', { status: 0 });
  }

  #work(): void {
    const ready = [...this.#harness.queued.keys()].filter((key) => !this.#running.has(key));
    const key = this.#random.pick(ready);
    if (key === undefined) return;
    const process = this.#process;
    const pass = this.#harness.runOne(key).then((end) => {
      if (process !== this.#process) return;
      this.#running.delete(key);
      if (end.kind === 'error') this.#harness.queued.set(key, 'normal');
      if (end.kind === 'requeue') this.#later.add(key);
    });
    this.#running.set(key, pass);
  }

  async #restart(): Promise<void> {
    this.#process += 1;
    this.#isKilled = false;
    this.#running.clear();
    this.#later.clear();
    this.#harness.kill();
    await this.#harness.restart(this.#plan);
  }

  async #changeDefinition(): Promise<void> {
    if (this.#random.chance(0.7)) return;
    const [ids, plan] = this.#random.pick(plans) ?? [[], this.#plan];
    this.#ids = ids;
    this.#plan = plan;
    await this.#restart();
  }

  #putOwner(): void {
    const name = this.#random.pick(owners) ?? '';
    const spec: Spec = {
      text: this.#random.pick(texts) ?? '',
      where: this.#random.pick(targets) ?? '',
      ...(this.#random.chance(0.3) && { off: true }),
      ...(this.#random.chance(0.5) && { tag: true }),
      each: this.#random.pick(lists) ?? [],
    };
    const present = this.#owner(name);
    if (present === undefined) this.#harness.podSet(name, spec);
    else if (present.metadata.deletionTimestamp === undefined)
      this.#harness.edit(present, { spec });
  }

  #removeOwner(name: string): void {
    const present = this.#owner(name);
    if (present !== undefined) this.#harness.remove(present);
  }

  /** Another user creates, changes or deletes what is patched. */
  #meddle(): void {
    const name = this.#random.pick(targets) ?? '';
    const present = this.#target(name);
    if (present === undefined) {
      this.#putTarget(name);
      return;
    }
    if (this.#random.chance(0.3)) {
      this.#harness.remove(present);
      this.#existing.delete(name);
      this.#theirs.get(name)?.clear();
      // At once another one of its name.
      if (this.#random.chance(0.5)) this.#putTarget(name);
      return;
    }
    const key = this.#random.pick([...owners, 'each-a', 'shared', 'first', 'tag', 'mine']) ?? '';
    const data = { ...dataOf(present) };
    if (this.#random.chance(0.4)) {
      delete data[key];
      this.#theirs.get(name)?.delete(key);
    } else {
      data[key] = 'theirs';
      this.#theirs.get(name)?.add(key);
    }
    this.#harness.cluster.server.put({ ...present, data } as KubeObject, user);
  }

  #putTarget(name: string): void {
    const metadata = { name, namespace: 'default' };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { mine: 'yes' } };
    this.#harness.cluster.server.put(object, user);
    this.#existing.add(name);
  }

  async #rest(): Promise<void> {
    if (this.#isKilled) await this.#restart();
    for (let rounds = 0; rounds < 400; rounds++) {
      await settle();
      this.#harness.cluster.deliver();
      this.#work();
      const isIdle = this.#running.size === 0 && this.#harness.queued.size === 0;
      if (isIdle && !this.#harness.cluster.deliver() && !(await this.#passTime())) return;
      if (rounds % 3 === 0) await Promise.all(this.#running.values());
    }
    throw new Error('Expected the harness to settle');
  }

  /** What waits for a time gets its turn. A conflict is tried again for ever: twice is enough. */
  async #passTime(): Promise<boolean> {
    if (this.#later.size === 0) return false;
    await this.#harness.clock.advance(300_000);
    for (const key of this.#later) this.#harness.queued.set(key, 'normal');
    this.#later.clear();
    this.#waits += 1;
    if (this.#waits % 3 !== 0) return true;
    this.#harness.queued.clear();
    return false;
  }

  #waits = 0;

  /** What is wrong while the resources exist, and after their deletion. */
  *#problems(): Iterable<string> {
    const found = targets.filter((name) => this.#target(name) !== undefined);
    const expected = targets.filter((name) => this.#existing.has(name));
    if (found.join() !== expected.join()) yield `targets: ${found}, expected ${expected}`;
    for (const name of found) yield* this.#wrongOwners(name);
    for (const name of found) yield* this.#overwritten(name);
    for (const name of owners) yield* this.#missingFields(name);
  }

  /** Only patches that apply own something. */
  *#wrongOwners(target: string): Iterable<string> {
    const applied = owners.flatMap((name) =>
      this.#idsApplied(name, target).map((id) =>
        ownedPatchManagerOf('podset', id, `default/${name}`),
      ),
    );
    for (const { manager } of this.#fieldOwners(target)) {
      if (manager !== user && manager !== untracked && !applied.includes(manager))
        yield `${target}: ${manager} owns fields though its patch does not apply`;
    }
  }

  /** What a user has set stays, but for a patch with `conflicts: Force`. */
  *#overwritten(target: string): Iterable<string> {
    const object = this.#target(target);
    for (const key of this.#theirs.get(target) ?? []) {
      const value = object && dataOf(object)[key];
      if (key !== 'tag' && value !== 'theirs') yield `${target}: ${key} is ${value}, not theirs`;
    }
  }

  /** What a patch sets is there, unless it belongs to another manager. */
  *#missingFields(name: string): Iterable<string> {
    for (const target of targets) {
      const object = this.#target(target);
      const ids = this.#idsApplied(name, target);
      if (object === undefined) continue;
      const { text = '' } = (this.#owner(name)?.spec ?? {}) as Partial<Spec>;
      const fields = { target, text, data: dataOf(object) };
      if (ids.some((id) => id !== 'tag' && id !== 'each'))
        yield* this.#missingFieldsOf({ ...fields, key: name, marks: `text-${name}` });
      if (ids.includes('each'))
        yield* this.#missingFieldsOf({ ...fields, key: `each-${name}`, marks: `each-${name}` });
    }
  }

  /** A field that has the text, and one that is named after it. */
  *#missingFieldsOf({ target, text, data, key, marks }: ExpectedFields): Iterable<string> {
    if (data[`${marks}-${text}`] !== 'x') yield `${target}: no ${marks}-${text}`;
    if (data[key] !== text && !this.#isOwnedByUser(target, key))
      yield `${target}: ${key} is ${data[key]}, expected ${text}`;
    const old = texts.filter((other) => other !== text && `${marks}-${other}` in data);
    if (old.length > 0) yield `${target}: ${marks} still has ${old}`;
  }

  /** Without resources, only what users own is left. */
  *#leftovers(): Iterable<string> {
    for (const name of owners) if (this.#owner(name) !== undefined) yield `${name} is not deleted`;
    for (const name of targets) {
      const object = this.#target(name);
      if (object === undefined) continue;
      for (const key of Object.keys(dataOf(object)))
        if (!this.#isOwnedByUser(name, key)) yield `${name}: ${key} is left`;
    }
  }

  #idsApplied(name: string, target: string): readonly string[] {
    const owner = this.#owner(name);
    if (owner === undefined) return [];
    const { where, off, tag: isTagged, each: list = [] } = owner.spec as unknown as Spec;
    return this.#ids.filter((id) => {
      if (id === 'each') return list.includes(target);
      return id === 'tag'
        ? isTagged === true && target === 'board'
        : off !== true && target === where;
    });
  }

  #isOwnedByUser(target: string, key: string): boolean {
    const all = this.#fieldOwners(target);
    if (all.length === 0) return this.#theirs.get(target)?.has(key) === true || key === 'mine';
    return all.some(({ manager, fields }) => {
      const data = fields['f:data'];
      const isUser = manager === user || manager === untracked;
      return isUser && isJsonObject(data) && `f:${key}` in data;
    });
  }

  #fieldOwners(target: string) {
    return this.#harness.cluster.server.fieldOwners(configMap, 'default', target);
  }

  #owner(name: string): KubeObject | undefined {
    return this.#harness.get('apps.example.com/v1', 'PodSet', name);
  }

  #target(name: string): KubeObject | undefined {
    return this.#harness.get('v1', 'ConfigMap', name);
  }
}

interface ExpectedFields {
  readonly target: string;
  readonly text: string;
  readonly data: Readonly<Record<string, string>>;
  readonly key: string;
  readonly marks: string;
}

function dataOf(object: KubeObject): Record<string, string> {
  return (object.data ?? {}) as Record<string, string>;
}
