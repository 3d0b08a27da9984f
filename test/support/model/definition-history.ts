import assert from 'node:assert/strict';
import { recordOf } from '#runtime/definitions/record.ts';
import type { JsonObject } from '#util/json.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { FakeClock } from '../fake-clock.ts';
import type { Fault } from '../fakes/fake-cluster.ts';
import { SharedMember } from '../fakes/member-link.ts';
import { PublishedDefinitions, passTime } from '../fakes/published-definitions.ts';
import { brokenSpec, shadowSpec } from '../fakes/shadow-definition.ts';
import { expectedOf, reaches, runsIn, textIn } from './definition-oracle.ts';
import { SeededRandom } from './seeded-random.ts';

/** Longer than a withdrawn definition runs, and than the delays of retries in a row. */
const quietMs = 120_000;
const texts = ['t1', 't2', 't3', 't4'];

/** Each has a kind of its own, and one resource in every cluster. */
const definitions = {
  shadow: { kind: 'Secret', resource: 'one' },
  second: { kind: 'Service', resource: 'web' },
  /** Also in members. */
  placed: { kind: 'ServiceAccount', resource: 'app' },
};
type Name = keyof typeof definitions;
const names = Object.keys(definitions) as Name[];

type Acts = Readonly<Record<string, () => unknown>>;

interface HistoryOptions {
  readonly hubs?: number;
  readonly members?: number;
}

/** Does what happens to definitions, in an order that the seed decides. */
export class DefinitionHistory {
  readonly #random: SeededRandom;
  readonly #clock = new FakeClock();
  readonly #members: readonly SharedMember[];
  readonly #hubs: readonly PublishedDefinitions[];
  readonly #log: string[] = [];
  /** Processes that are being killed. */
  readonly #killed = new Map<PublishedDefinitions, Promise<void>>();
  #interrupts: (() => boolean)[] = [];
  /** Writes of revisions that were not recorded. */
  readonly #early: string[] = [];
  /** Statuses that `Cluster` objects had. */
  readonly #statuses = new Map<string, unknown[]>();
  /** `hub/member` where the hub has forgotten what it had: a Lease may stay. */
  readonly #forgotten = new Set<string>();

  constructor(seed: number, { hubs = 1, members = 0 }: HistoryOptions = {}) {
    this.#random = new SeededRandom(seed);
    this.#members = ['east', 'west']
      .slice(0, members)
      .map((name, index) => new SharedMember(name, `aa-${index}`));
    this.#hubs = Array.from(
      { length: hubs },
      (_, index) => new PublishedDefinitions({ clock: this.#clock, index, members: this.#members }),
    );
  }

  async run(steps: number): Promise<void> {
    for (const hub of this.#hubs) {
      const check = (request: Parameters<Fault>[0]) => this.#checkWrite(hub, request);
      hub.cluster.onRequest = check;
      for (const link of hub.links.values())
        link.onOpen = (cluster) => {
          cluster.onRequest = check;
        };
    }
    for (const { cluster } of [...this.#hubs, ...this.#members])
      for (const { kind, resource } of Object.values(definitions)) cluster.make(kind, resource);
    for (const hub of this.#hubs) {
      for (const { name } of this.#members) hub.register(name, { tier: 'prod' });
      await hub.start();
    }
    for (let step = 0; step < steps; step++) {
      await this.#step();
      if (step % 4 === 3) await this.#check();
    }
    assert.deepEqual(this.#early, []);
    for (const hub of this.#hubs) {
      await hub.stop();
      assert.deepEqual(hub.cluster.watched, []);
      for (const link of hub.links.values()) assert.deepEqual(link.clusters, []);
    }
    assert.equal(this.#clock.pending, 0);
  }

  async #step(): Promise<void> {
    const hub = this.#pick(this.#hubs);
    const inHub: readonly Name[] = names.slice(0, 2);
    const name = this.#pick<Name>(
      this.#members.length > 0 ? [...inHub, 'placed', 'placed'] : inHub,
    );
    const isAboutMembers = this.#members.length > 0 && this.#random.chance(0.4);
    const acts = isAboutMembers ? this.#memberActs(hub) : this.#acts(hub, name);
    const act = this.#pick(Object.keys(acts));
    const waitMs = this.#pick([0, 0, 20, 300, 5_000]);
    this.#note(`${act} ${name} in hub ${this.#hubs.indexOf(hub)}, then ${waitMs} ms`);
    await acts[act]?.();
    if (waitMs > 0) await this.#wait(waitMs);
    for (const each of this.#killed.keys()) await this.#restartKilled(each);
    for (const { name: member } of this.#members) this.#keepStatus(hub, member);
  }

  #acts(hub: PublishedDefinitions, name: Name): Acts {
    const origin = `${this.#pick(['a', 'b'])}/${name}`;
    const edits = this.#edits(hub, name, origin);
    return {
      ...edits,
      break: () => hub.write(origin, name, this.#broken(name)),
      editBroken: () => hub.object(name) !== undefined && hub.put(name, this.#broken(name)),
      within: () => this.#interrupt(hub, name, edits),
      withinAgain: () => this.#interrupt(hub, name, edits),
      kill: async () => {
        await hub.stop({ isKilled: true });
        await hub.start();
      },
      handOver: async () => {
        await hub.stop();
        await hub.start();
      },
    };
  }

  #edits(hub: PublishedDefinitions, name: Name, origin: string): Acts {
    return {
      write: () => hub.write(origin, name, this.#spec(name)),
      writeAgain: () => hub.write(origin, name, this.#spec(name)),
      remove: () => hub.write(origin, name, undefined),
      edit: () => hub.put(name, this.#spec(name)),
      delete: () => hub.delete(name),
      lose: () => hub.remove(name),
      recreate: () => {
        const object = hub.object(name);
        if (object === undefined) return;
        hub.remove(name);
        hub.put(name, object.spec as JsonObject);
      },
    };
  }

  /** Something happens while the next status is being written. */
  #interrupt(hub: PublishedDefinitions, name: Name, edits: Acts): void {
    const member = this.#random.chance(0.3) ? this.#random.pick(this.#members) : undefined;
    const when = this.#pick(['before', 'after'] as const);
    const skipped = this.#pick([0, 0, 1, 2]);
    const acts: Acts = { ...edits, kill: () => this.#kill(hub) };
    // Only an edit of the object depends on the answer of the write.
    const act = this.#pick([...Object.keys(acts), 'edit', 'edit', 'edit', 'edit']);
    const what =
      member === undefined
        ? { kind: 'OperatorDefinition', name }
        : { kind: 'Cluster', name: member.name };
    this.#note(`  ${when} status ${skipped} of ${what.kind} ${what.name} is written: ${act}`);
    const takeBack = hub.actWithin({ ...what, when, skipped }, () => {
      this.#note(`  now: ${act} ${name}`);
      acts[act]?.();
    });
    this.#interrupts.push(takeBack);
    // So that there is one.
    if (member === undefined) hub.put(name, this.#spec(name));
    else hub.register(member.name, { tier: this.#pick(['prod', 'test']) });
  }

  #memberActs(hub: PublishedDefinitions): Acts {
    const { name } = this.#random.pick(this.#members) ?? { name: '' };
    const link = hub.links.get(name);
    const key = `${this.#hubs.indexOf(hub)}/${name}`;
    return {
      [`disconnect ${name}`]: () => link?.cut(),
      [`connect ${name}`]: () => link?.restore(),
      [`connectAgain ${name}`]: () => link?.restore(),
      [`label ${name}`]: () =>
        hub.member(name) && hub.register(name, { tier: this.#pick(['prod', 'test']) }),
      [`forget ${name}`]: () => {
        this.#forgotten.add(key);
        hub.unregister(name);
      },
      [`register ${name}`]: () => hub.register(name, { tier: 'prod' }),
      [`registerAgain ${name}`]: () => hub.register(name, { tier: 'prod' }),
      [`statusBehind ${name}`]: () => {
        this.#forgotten.add(key);
        const status = this.#random.pick(this.#statuses.get(key) ?? []);
        const live = hub.member(name);
        if (live !== undefined) hub.cluster.server.put({ ...live, status } as KubeObject);
      },
      late: () => void hub.late.add(this.#pick(['Cluster', 'OperatorDefinition'])),
    };
  }

  #keepStatus(hub: PublishedDefinitions, member: string): void {
    const key = `${this.#hubs.indexOf(hub)}/${member}`;
    const known = this.#statuses.get(key) ?? [];
    known.push(hub.member(member)?.status);
    this.#statuses.set(key, known.slice(-8));
  }

  #kill(hub: PublishedDefinitions): void {
    if (hub.isRunning) this.#killed.set(hub, hub.stop({ isKilled: true }));
  }

  async #restartKilled(hub: PublishedDefinitions): Promise<void> {
    await this.#killed.get(hub);
    this.#killed.delete(hub);
    await hub.start();
  }

  /** No resource takes a revision that no status records. An object that was created anew has none. */
  #checkWrite(
    hub: PublishedDefinitions,
    { verb, kind, name, manifest }: Parameters<Fault>[0],
  ): void {
    if (verb !== 'apply' || kind !== 'ConfigMap') return;
    const definition = names.find((each) => name === `${definitions[each].resource}-shadow`);
    const object = definition && hub.object(definition);
    const recorded = object === undefined ? [] : recordOf(object).revisions;
    const { text } = (manifest?.data ?? {}) as { readonly text?: string };
    if (recorded.length === 0 || recorded.some(({ spec }) => textIn(spec) === text)) return;
    this.#early.push(`${text} is not recorded: ${this.#about(definition ?? '', hub)}`);
  }

  /** Nothing happens any more, and after a while what runs is what must run. */
  async #check(): Promise<void> {
    for (const takeBack of this.#interrupts.splice(0)) takeBack();
    for (const hub of this.#hubs) hub.late.clear();
    await this.#wait(quietMs);
    assert.deepEqual(this.#early, []);
    for (const hub of this.#hubs) for (const name of names) this.#checkObject(hub, name);
    // Only what runs repairs it.
    for (const { cluster } of [...this.#hubs, ...this.#members])
      for (const { resource } of Object.values(definitions))
        cluster.remove('ConfigMap', `${resource}-shadow`);
    await this.#wait(5_000);
    for (const name of names) {
      const { resource } = definitions[name];
      for (const hub of this.#hubs) {
        const { text, selector } = expectedOf(hub, name);
        const found = hub.cluster.shadow(resource);
        assert.equal(found, selector === undefined ? text : undefined, this.#about(name, hub));
      }
      for (const member of this.#members) this.#checkMember(member, name);
    }
    if (this.#random.chance(0.5)) await this.#checkSilence(this.#pick(this.#hubs));
  }

  #checkObject(hub: PublishedDefinitions, name: Name): void {
    const { text, accepted } = expectedOf(hub, name);
    const object = hub.object(name);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
    const about = this.#about(name, hub);
    const condition = conditionsOf(object).find(({ type }) => type === 'Accepted');
    assert.equal(condition?.reason, accepted, about);
    if (accepted !== 'Accepted') return;
    assert.equal(textIn(recordOf(object).revisions[0]?.spec), text, about);
    assert.equal(textIn(object.spec), text, about);
  }

  /** The hub that has the Lease works there, and no other one. */
  #checkMember(member: SharedMember, name: Name): void {
    const holder = this.#hubs.find(({ uid }) => uid === member.holderOf(name));
    const about = `${member.name}, Lease of ${member.holderOf(name)}: ${this.#about(name, holder)}`;
    const isWanted = holder !== undefined && runsIn(holder, name, member.name);
    const expected = isWanted ? expectedOf(holder, name).text : undefined;
    assert.equal(member.cluster.shadow(definitions[name].resource), expected, about);
    if (holder === undefined) {
      const others = this.#hubs.filter((hub) => runsIn(hub, name, member.name));
      assert.deepEqual(others, [], about);
      return;
    }
    const key = `${this.#hubs.indexOf(holder)}/${member.name}`;
    // Its status has what there is again.
    if (isWanted) this.#forgotten.delete(key);
    if (isWanted || !reaches(holder, member.name) || this.#forgotten.has(key)) return;
    assert.fail(`The Lease is not released: ${about}`);
  }

  /** The next process of a hub writes nothing. */
  async #checkSilence(hub: PublishedDefinitions): Promise<void> {
    const withdrawn = names.some((name) => expectedOf(hub, name).accepted === 'Withdrawn');
    // Its object is deleted at some time.
    if (withdrawn) return;
    await hub.stop();
    hub.cluster.takeWrites();
    const opened = [...hub.links.values()].map((link) => link.record());
    await hub.start();
    await this.#wait(60_000);
    const writes = [hub.cluster.takeWrites(), ...opened.map((take) => take())].flat();
    assert.deepEqual(writes, [], this.#about('all', hub));
  }

  #spec(name: Name): JsonObject {
    const { kind } = definitions[name];
    const clusters =
      name === 'placed' && this.#random.chance(0.8)
        ? { clusters: { selector: this.#pick(['all', { matchLabels: { tier: 'prod' } }]) } }
        : {};
    const more = { controller: { rollout: { perSecond: 0 }, ...clusters } };
    return shadowSpec(this.#pick(texts), { kind, more: more as JsonObject });
  }

  #broken(name: Name): JsonObject {
    return { ...brokenSpec, for: { apiVersion: 'v1', kind: definitions[name].kind } };
  }

  #wait(ms: number): Promise<void> {
    return passTime(this.#clock, this.#hubs, ms);
  }

  #note(line: string): void {
    this.#log.push(line);
  }

  #about(name: string, hub: PublishedDefinitions | undefined): string {
    const which = hub === undefined ? '' : ` in hub ${this.#hubs.indexOf(hub)}`;
    return `${name}${which} after:\n${this.#log.join('\n')}`;
  }

  #pick<Value>(values: readonly Value[]): Value {
    return values[this.#random.below(values.length)] as Value;
  }
}
