import assert from 'node:assert/strict';
import type { StoredObject } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { CacheState, uidOf, versionOf } from './cache-state.ts';
import { ModelReaders } from './model-readers.ts';
import { ModelReflector } from './model-reflector.ts';
import { ModelRequests } from './model-requests.ts';
import type { ModelBackup } from './model-server.ts';
import type { SeededRandom } from './seeded-random.ts';

/**
 * A server, a store, the reflector between them and requests in flight, all moved by a random source, one step at a
 * time. Every step is followed by the checks that must hold at any moment; {@link rest} checks those of a quiet cache.
 */
export class CacheModel {
  readonly #state: CacheState;
  readonly #reflector: ModelReflector;
  readonly #requests: ModelRequests;
  readonly #readers: ModelReaders;
  readonly #backups: ModelBackup[] = [];
  /** The steps so far, for the report of a failure. */
  readonly log: string[] = [];

  constructor(random: SeededRandom) {
    this.#state = new CacheState(random);
    this.#reflector = new ModelReflector(this.#state);
    this.#requests = new ModelRequests(this.#state);
    this.#readers = new ModelReaders(this.#state, this.#requests);
  }

  step(): void {
    const steps: readonly (readonly [number, () => string])[] = [
      [20, () => this.#changeOutside()],
      [26, () => this.#reflector.move()],
      [12, () => this.#requests.begin()],
      [12, () => this.#requests.act()],
      [12, () => this.#requests.deliver()],
      [2, () => this.#requests.losePatience()],
      [2, () => this.#requests.send()],
      [5, () => this.#reflector.replay()],
      [4, () => this.#reflector.bookmark()],
      [4, () => this.#reflector.breakWatch()],
      [3, () => this.#readers.registerInterest()],
      [1, () => this.#readers.lateSubscriber()],
      [1, () => this.#backUp()],
      [1, () => this.#restore()],
      [1, () => this.#changeSchema()],
    ];
    const total = steps.reduce((sum, [weight]) => sum + weight, 0);
    let left = this.#state.random.below(total);
    for (const [weight, run] of steps) {
      left -= weight;
      if (left >= 0) continue;
      this.log.push(run());
      break;
    }
    this.#check();
  }

  /** Lets everything arrive and compares the cache with the server. */
  rest(): void {
    this.#reflector.isEnding = true;
    while (this.#requests.size > 0) {
      this.log.push(
        this.#state.random.chance(0.5) ? this.#requests.act() : this.#requests.deliver(),
      );
      this.#check();
    }
    while (!this.#reflector.isQuiet) {
      if ((this.#state.rewritten || this.#state.schemaChanged) && this.#reflector.isWatching)
        this.#reflector.stop();
      this.log.push(this.#reflector.move());
      this.#check();
    }
    this.#state.store.bookmark(String(this.#state.server.version));
    const expected = [...this.#state.server.objects.values()]
      .filter((object) => this.#state.selects(object))
      .map((object) => this.#state.server.view(object));
    const actual = [...this.#state.store.list()].map(({ object }) => object);
    assert.deepEqual(byName(actual), byName(expected), 'at rest the cache equals the server');
    assert.equal(
      this.#state.store.rememberedRemovals,
      0,
      'at rest nothing is remembered of what left',
    );
  }

  // What others do.

  #changeOutside(): string {
    const name = this.#state.pickName();
    switch (this.#state.random.below(6)) {
      case 0:
        return `others: delete ${name}: ${this.#state.server.delete(name)}`;
      case 1:
        this.#state.server.finalize(name);
        return `others: finalize ${name}`;
      case 2:
        this.#state.server.delete(name);
        this.#state.server.finalize(name);
        this.#state.server.apply(name, this.#state.wish());
        return `others: recreate ${name} at ${this.#state.server.version}`;
      default:
        this.#state.server.apply(name, this.#state.wish());
        return `others: apply ${name} at ${this.#state.server.version}`;
    }
  }

  #changeSchema(): string {
    this.#state.server.schema += 1;
    this.#state.schemaChanged = true;
    return `others: schema ${this.#state.server.schema}`;
  }

  #backUp(): string {
    this.#backups.push(this.#state.server.backUp());
    return `etcd: back up at ${this.#state.server.version}`;
  }

  /** Everything that was connected to the old server is cut off; the answers under way are lost. */
  #restore(): string {
    const backup = this.#state.random.pick(this.#backups);
    if (backup === undefined) return 'etcd: no backup';
    this.#state.server.restore(backup);
    this.#requests.loseAnswers();
    this.#reflector.stop();
    this.#state.rewritten = true;
    this.#state.mustList = this.#state.random.chance(0.7);
    this.#state.gone.clear();
    this.#state.deletedByWatch.clear();
    this.#requests.dying.clear();
    this.#state.wasRestored = true;
    for (
      let left = this.#state.random.below(3) * this.#state.random.below(20);
      left > 0;
      left -= 1
    ) {
      this.#changeOutside();
    }
    return `etcd: restored to ${backup.version}, now at ${this.#state.server.version}`;
  }

  // What must hold at any moment.

  #check(): void {
    const present = new Map(
      [...this.#state.store.list()].map((one) => [one.object.metadata.name, one]),
    );
    for (const [name, one] of present) this.#checkOrder(name, versionOf(one));
    this.#readers.check(present);
    const uids = new Set([...present.values()].map(uidOf));
    for (const uid of this.#requests.dying) if (!uids.has(uid)) this.#requests.dying.delete(uid);
    if (this.#state.rewritten) return;
    for (const one of present.values()) this.#checkAlive(one);
  }

  #checkOrder(name: string, version: number): void {
    const shown = this.#state.shown.get(name) ?? 0;
    if (!this.#state.rewritten) {
      assert.ok(version >= shown, `${name} falls back from ${shown} to ${version}`);
    }
    this.#state.shown.set(name, Math.max(shown, version));
  }

  #checkAlive(one: StoredObject): void {
    const uid = uidOf(one);
    assert.ok(!this.#state.deletedByWatch.has(uid), `${uid} is not there after its deletion`);
    if (this.#requests.dying.has(uid)) {
      assert.ok(one.object.metadata.deletionTimestamp, `${uid} stays marked as deleting`);
    }
  }
}

function byName(objects: readonly KubeObject[]): readonly KubeObject[] {
  return objects.toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name));
}
