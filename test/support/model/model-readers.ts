import assert from 'node:assert/strict';
import type { CacheEvent, CacheIndex, StoredObject } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { allNames, type CacheState } from './cache-state.ts';
import type { ModelRequests } from './model-requests.ts';

/** Those who read the cache: subscribers, passes that have an interest in a name, an index. */
export class ModelReaders {
  readonly #state: CacheState;
  readonly #requests: ModelRequests;
  readonly #index: CacheIndex;
  readonly #mirrors: Map<string, StoredObject>[] = [];
  readonly #interests: { name: string; seen: StoredObject | undefined; reported: boolean }[] = [];

  constructor(state: CacheState, requests: ModelRequests) {
    this.#state = state;
    this.#requests = requests;
    this.#index = state.store.index('value', (object) => [fieldOf(object), 'all']);
    this.#subscribe(true);
  }

  registerInterest(): string {
    const name = this.#state.pickName();
    this.#interests.push({ name, seen: this.#state.store.get('default', name), reported: false });
    return `reader: interested in ${name}`;
  }

  lateSubscriber(): string {
    if (this.#mirrors.length < 4) this.#subscribe(false);
    return 'reader: subscribes';
  }

  #subscribe(isFirst: boolean): void {
    const mirror = new Map<string, StoredObject>();
    this.#mirrors.push(mirror);
    this.#state.store.subscribe((event) => {
      const { name, old, current } = event;
      assert.equal(old, mirror.get(name), `the event on ${name} follows the one before`);
      assert.ok(old !== undefined || current !== undefined, 'an event is about something');
      this.#requests.checkPass(event);
      if (current === undefined) mirror.delete(name);
      else mirror.set(name, current);
      if (isFirst) this.#noteReported(event);
    });
  }

  #noteReported({ name }: CacheEvent): void {
    for (const interest of this.#interests) if (interest.name === name) interest.reported = true;
  }

  /** Do all know what is there? `present`: by name. */
  check(present: ReadonlyMap<string, StoredObject>): void {
    for (const name of allNames) {
      if (this.#requests.isHeld(name)) continue;
      for (const mirror of this.#mirrors) {
        assert.equal(mirror.get(name), present.get(name), `subscribers know all of ${name}`);
      }
    }
    for (const interest of this.#interests.splice(0)) {
      const { name, seen, reported } = interest;
      if (reported) continue;
      if (!this.#requests.isHeld(name))
        assert.equal(present.get(name), seen, `${name} changed unseen`);
      this.#interests.push(interest);
    }
    const values = new Set([...present.values()].map(({ object }) => fieldOf(object)));
    assert.equal(this.#index.get('all').length, present.size, 'the index has every object');
    for (const value of ['0', '1', '2', '3', '4']) {
      assert.equal(this.#index.get(value).length > 0, values.has(value), `index bucket ${value}`);
    }
  }
}

function fieldOf(object: KubeObject): string {
  return String(Reflect.get(Object(object.spec), 'value'));
}
