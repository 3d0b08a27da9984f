import assert from 'node:assert/strict';
import {
  type AnswerTicket,
  type Listing,
  ObjectStore,
} from '../../../src/kube/cache/object-store.ts';
import type { CacheEvent, CacheIndex, PassToken, StoredObject } from '../../../src/kube/roles.ts';
import type { KubeObject } from '../../../src/util/kube-object.ts';
import {
  type ModelBackup,
  type ModelChange,
  type ModelObject,
  ModelServer,
} from './model-server.ts';
import type { SeededRandom } from './seeded-random.ts';

/** What the informer's reflector is doing. */
type Reflector =
  | { readonly kind: 'stopped' }
  | { readonly kind: 'list-sent'; readonly listing: Listing }
  | {
      readonly kind: 'listing';
      readonly listing: Listing;
      readonly version: number;
      readonly left: ModelObject[];
      readonly history: readonly ModelChange[];
    }
  | { readonly kind: 'watching'; position: number; readonly schema: number };

type Answer =
  | { readonly kind: 'object'; readonly object: KubeObject; readonly model: ModelObject }
  | { readonly kind: 'deleting'; readonly uid: string }
  | { readonly kind: 'gone'; readonly uid: string | undefined };

/** A request of ours, from its begin to the delivery of its answer. */
interface Request {
  readonly name: string;
  readonly ticket: AnswerTicket;
  readonly pass: PassToken;
  readonly act: () => Answer;
  answer?: Answer;
  /** It made a new version. */
  isWork: boolean;
  /** Events on the name wait for it. */
  holds: boolean;
}

const allNames = ['a', 'b', 'c'];

/**
 * A server, a store, the reflector between them and requests in flight, all moved by a random source, one step at a
 * time. Every step is followed by the checks that must hold at any moment; {@link rest} checks those of a quiet cache.
 */
export class CacheModel {
  readonly #random: SeededRandom;
  readonly #bySelector: boolean;
  readonly #names: readonly string[];
  readonly #server = new ModelServer();
  readonly #store: ObjectStore;
  readonly #index: CacheIndex;
  readonly #requests: Request[] = [];
  readonly #backups: ModelBackup[] = [];
  readonly #mirrors: Map<string, StoredObject>[] = [];
  readonly #interests: { name: string; seen: StoredObject | undefined; told: boolean }[] = [];
  /** The latest version ever shown of each name. */
  readonly #shown = new Map<string, number>();
  /** Uids whose deletion the store was told by a list or a watch. */
  readonly #deletedByWatch = new Set<string>();
  /** Uids that an answer said to be gone. */
  readonly #gone = new Set<string>();
  /** Versions that requests of ours made, and were answered in time. */
  readonly #works = new Set<number>();
  /** Uids of entries whose DELETE was answered. */
  readonly #dying = new Set<string>();
  #reflector: Reflector = { kind: 'stopped' };
  /** History was rewritten and the store has not listed since: order means nothing for now. */
  #rewritten = false;
  /** The reflector saw the server away: it lists anew, whatever versions say. */
  #mustList = false;
  /** Versions may come twice. */
  #wasRestored = false;
  #schemaChanged = false;
  /** As it was when the server took the snapshot of the present list. */
  #rewrittenBeforeList = false;
  #schemaBeforeList = 1;
  #isEnding = false;
  #passes = 0;
  #expectedPass: PassToken | undefined;
  /** The steps so far, for the report of a failure. */
  readonly log: string[] = [];

  constructor(random: SeededRandom) {
    this.#random = random;
    this.#bySelector = random.chance(0.7);
    // With few names, many requests meet on one.
    this.#names = allNames.slice(0, 1 + random.below(3));
    this.#store = new ObjectStore({
      selects: (object) => !this.#bySelector || object.metadata.labels?.selected === 'yes',
      onFault: (error) => {
        throw error;
      },
    });
    this.#index = this.#store.index('value', (object) => [fieldOf(object), 'all']);
    this.#subscribe(true);
  }

  step(): void {
    const steps: readonly (readonly [number, () => string])[] = [
      [20, () => this.#changeWorld()],
      [26, () => this.#moveReflector()],
      [12, () => this.#beginRequest()],
      [12, () => this.#actRequest()],
      [12, () => this.#deliverAnswer()],
      [2, () => this.#losePatience()],
      [5, () => this.#replay()],
      [4, () => this.#bookmark()],
      [4, () => this.#breakWatch()],
      [3, () => this.#registerInterest()],
      [1, () => this.#lateSubscriber()],
      [1, () => this.#backUp()],
      [1, () => this.#restore()],
      [1, () => this.#changeSchema()],
    ];
    const total = steps.reduce((sum, [weight]) => sum + weight, 0);
    let left = this.#random.below(total);
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
    this.#isEnding = true;
    while (this.#requests.length > 0) {
      this.log.push(this.#random.chance(0.5) ? this.#actRequest() : this.#deliverAnswer());
      this.#check();
    }
    while (!this.#isQuiet()) {
      if ((this.#rewritten || this.#schemaChanged) && this.#reflector.kind === 'watching')
        this.#stop();
      this.log.push(this.#moveReflector());
      this.#check();
    }
    this.#store.bookmark(String(this.#server.version));
    const expected = [...this.#server.objects.values()]
      .filter((object) => this.#selects(object))
      .map((object) => this.#server.view(object));
    const actual = [...this.#store.list()].map(({ object }) => object);
    assert.deepEqual(byName(actual), byName(expected), 'at rest the cache equals the server');
    assert.equal(this.#store.remembered, 0, 'at rest nothing is remembered of what left');
  }

  #isQuiet(): boolean {
    const reflector = this.#reflector;
    if (reflector.kind !== 'watching' || this.#rewritten || this.#schemaChanged) return false;
    return reflector.position >= this.#server.history.length;
  }

  // What others do to the world.

  #changeWorld(): string {
    const name = this.#random.pick(this.#names) ?? 'a';
    switch (this.#random.below(6)) {
      case 0:
        return `world: delete ${name}: ${this.#server.delete(name)}`;
      case 1:
        this.#server.finalize(name);
        return `world: finalize ${name}`;
      case 2:
        this.#server.delete(name);
        this.#server.finalize(name);
        this.#server.apply(name, this.#wish());
        return `world: recreate ${name} at ${this.#server.version}`;
      default:
        this.#server.apply(name, this.#wish());
        return `world: apply ${name} at ${this.#server.version}`;
    }
  }

  #wish() {
    return {
      ...(this.#random.chance(0.6) ? { value: this.#random.below(5) } : {}),
      ...(this.#random.chance(0.4) ? { selected: this.#random.chance(0.6) } : {}),
      ...(this.#random.chance(0.2) ? { finalizer: this.#random.chance(0.7) } : {}),
    };
  }

  #changeSchema(): string {
    this.#server.schema += 1;
    this.#schemaChanged = true;
    return `world: schema ${this.#server.schema}`;
  }

  #backUp(): string {
    this.#backups.push(this.#server.backUp());
    return `etcd: back up at ${this.#server.version}`;
  }

  /** Everything that was connected to the old server is cut off; the answers under way are lost. */
  #restore(): string {
    const backup = this.#random.pick(this.#backups);
    if (backup === undefined) return 'etcd: no backup';
    this.#server.restore(backup);
    for (const request of this.#requests.filter(({ answer }) => answer !== undefined)) {
      this.#requests.splice(this.#requests.indexOf(request), 1);
      this.#store.end(request.ticket);
    }
    this.#stop();
    this.#rewritten = true;
    this.#mustList = this.#random.chance(0.7);
    this.#gone.clear();
    this.#deletedByWatch.clear();
    this.#dying.clear();
    this.#wasRestored = true;
    for (let left = this.#random.below(3) * this.#random.below(20); left > 0; left -= 1) {
      this.#changeWorld();
    }
    return `etcd: restored to ${backup.version}, now at ${this.#server.version}`;
  }

  // The reflector.

  #stop(): void {
    this.#reflector = { kind: 'stopped' };
  }

  #moveReflector(): string {
    const reflector = this.#reflector;
    switch (reflector.kind) {
      case 'stopped':
        return this.#startList();
      case 'list-sent':
        return this.#answerList(reflector.listing);
      case 'listing':
        return this.#nextPage(reflector);
      case 'watching':
        return this.#nextEvent(reflector);
    }
  }

  #startList(): string {
    const { progress } = this.#store;
    if (progress !== undefined && this.#mayResume(progress) && this.#random.chance(0.4)) {
      this.#watchFrom(Number(progress), this.#server.schema);
      return `watch: resumed from ${progress}`;
    }
    this.#reflector = { kind: 'list-sent', listing: this.#store.startList() };
    return 'list: sent';
  }

  /** A connection that broke and was opened again at once shows a restored server only while that is behind. */
  #mayResume(progress: string): boolean {
    if (this.#schemaChanged || this.#mustList) return false;
    return !this.#rewritten || (!this.#isEnding && this.#server.version >= Number(progress));
  }

  #answerList(listing: Listing): string {
    const left = [...this.#server.objects.values()].filter((object) => this.#selects(object));
    const { version, history } = this.#server;
    this.#reflector = { kind: 'listing', listing, version, left, history: [...history] };
    // From here on the server's answer is of the present: what was rewritten or re-read before shows in it.
    this.#rewrittenBeforeList = this.#rewritten;
    this.#schemaBeforeList = this.#server.schema;
    return `list: answered at ${version}`;
  }

  #nextPage(list: Extract<Reflector, { kind: 'listing' }>): string {
    if (this.#random.chance(0.05)) {
      this.#stop();
      return 'list: broken off';
    }
    const page = list.left.splice(0, 1 + this.#random.below(2));
    const isLast = list.left.length === 0;
    // Order is judged anew from the first page of a list that shows the rewritten history on.
    if (this.#rewrittenBeforeList) this.#shown.clear();
    list.listing.add(
      String(list.version),
      page.map((object) => stored(this.#server.view(object))),
    );
    if (!isLast) return `list: page of ${page.length}`;
    list.listing.finish();
    this.#listFinished(list);
    return `list: last page of ${page.length}, at ${list.version}`;
  }

  #listFinished(list: Extract<Reflector, { kind: 'listing' }>): void {
    if (this.#rewrittenBeforeList) {
      this.#rewritten = false;
      this.#mustList = false;
    }
    if (this.#schemaBeforeList === this.#server.schema) this.#schemaChanged = false;
    for (const change of list.history) this.#noteDeletion(change);
    this.#watchFrom(list.version, this.#schemaBeforeList);
  }

  #watchFrom(version: number, schema: number): void {
    const position = this.#server.history.findIndex((change) => change.version > version);
    this.#reflector = {
      kind: 'watching',
      position: position < 0 ? this.#server.history.length : position,
      schema,
    };
  }

  #nextEvent(watch: Extract<Reflector, { kind: 'watching' }>): string {
    const change = this.#server.history[watch.position];
    if (change === undefined) return 'watch: nothing new';
    watch.position += 1;
    return `watch: ${this.#tell(change, watch.schema)}`;
  }

  #tell(change: ModelChange, schema: number): string {
    const wasSelected = change.before !== undefined && this.#selects(change.before);
    const { before, after } = change;
    if (after !== undefined && this.#selects(after)) {
      this.#store.changed(stored(this.#server.view(after, schema)));
      return `${wasSelected ? 'MODIFIED' : 'ADDED'} ${after.name} ${after.version}`;
    }
    if (before !== undefined && wasSelected) {
      const last = { ...before, version: change.version };
      this.#store.deleted(stored(this.#server.view(last, schema)));
      this.#noteDeletion(change);
      return `DELETED ${before.name} ${change.version}`;
    }
    this.#noteDeletion(change);
    return `nothing of ${change.version} is selected`;
  }

  #noteDeletion({ before, after }: ModelChange): void {
    if (!this.#rewritten && before !== undefined && after === undefined) {
      this.#deletedByWatch.add(before.uid);
    }
  }

  #replay(): string {
    const watch = this.#reflector;
    if (watch.kind !== 'watching') return 'watch: none to replay';
    watch.position = Math.max(0, watch.position - 1 - this.#random.below(4));
    return `watch: goes back to ${watch.position}`;
  }

  #bookmark(): string {
    const watch = this.#reflector;
    if (watch.kind !== 'watching' || watch.position < this.#server.history.length)
      return 'no bookmark';
    this.#store.bookmark(String(this.#server.version));
    return `watch: BOOKMARK ${this.#server.version}`;
  }

  #breakWatch(): string {
    if (this.#reflector.kind === 'watching') this.#stop();
    return 'watch: broken';
  }

  // Our own requests.

  #beginRequest(): string {
    const name = this.#random.pick(this.#names) ?? 'a';
    const known = this.#store.get('default', name)?.object.metadata.uid;
    const acts = [() => this.#apply(name), () => this.#read(name), () => this.#delete(name, known)];
    const act = this.#random.pick(known === undefined ? acts.slice(0, 2) : acts);
    this.#passes += 1;
    this.#requests.push({
      name,
      ticket: this.#store.begin('default', name),
      pass: { key: `default/${name}`, definition: `pass-${this.#passes}` },
      act: act ?? (() => this.#read(name)),
      isWork: false,
      holds: true,
    });
    return `request: begins on ${name}`;
  }

  #apply(name: string): Answer {
    const model = this.#server.apply(name, this.#wish());
    return { kind: 'object', object: this.#server.view(model), model };
  }

  #read(name: string): Answer {
    const model = this.#server.objects.get(name);
    if (model === undefined) return { kind: 'gone', uid: undefined };
    return { kind: 'object', object: this.#server.view(model), model };
  }

  #delete(name: string, uid: string | undefined): Answer {
    if (uid === undefined || this.#server.objects.get(name)?.uid !== uid)
      return { kind: 'gone', uid };
    this.#server.delete(name);
    return { kind: 'deleting', uid };
  }

  #actRequest(): string {
    const request = this.#random.pick(this.#requests.filter(({ answer }) => answer === undefined));
    if (request === undefined) return 'request: none to answer';
    const before = this.#server.version;
    request.answer = request.act();
    request.isWork = this.#server.version > before;
    return `request: on ${request.name} answered ${request.answer.kind} at ${this.#server.version}`;
  }

  #deliverAnswer(): string {
    const request = this.#random.pick(this.#requests.filter(({ answer }) => answer !== undefined));
    if (request?.answer === undefined) return 'request: no answer to deliver';
    this.#requests.splice(this.#requests.indexOf(request), 1);
    this.#expectedPass = request.pass;
    const told = this.#takeAnswer(request, request.answer);
    this.#expectedPass = undefined;
    this.#store.end(request.ticket);
    return `request: on ${request.name} delivered ${told}`;
  }

  #losePatience(): string {
    const request = this.#random.pick(this.#requests);
    if (request === undefined) return 'request: none to lose patience with';
    request.holds = false;
    this.#store.stopHolding(request.ticket);
    return `request: on ${request.name} nobody waits for any more`;
  }

  #isHeld(name: string): boolean {
    return this.#requests.some((request) => request.holds && request.name === name);
  }

  #takeAnswer({ name, ticket, pass, isWork, holds }: Request, answer: Answer): string {
    const before = this.#store.get('default', name);
    switch (answer.kind) {
      case 'object':
        this.#store.answered(stored(answer.object), pass);
        if (isWork && holds && this.#holdsVersion(name, answer.model.version)) {
          this.#works.add(answer.model.version);
        }
        this.#checkAnswerSeen(answer.model, before);
        return `object ${answer.model.version}`;
      case 'deleting':
        this.#store.deleting(ticket.key, answer.uid, { at: '2026-02-02T00:00:00Z', pass });
        if (before !== undefined && uidOf(before) === answer.uid) this.#dying.add(answer.uid);
        return `deleting ${answer.uid}`;
      case 'gone':
        this.#store.gone(ticket, answer.uid, pass);
        if (answer.uid !== undefined) this.#gone.add(answer.uid);
        else if (ticket.uid !== undefined) this.#gone.add(ticket.uid);
        return `gone ${answer.uid ?? ticket.uid ?? 'unknown'}`;
    }
  }

  #holdsVersion(name: string, version: number): boolean {
    const now = this.#store.get('default', name);
    return now !== undefined && versionOf(now) === version;
  }

  /** A pass sees its own writes, and nothing answered before a deletion comes back after it. */
  #checkAnswerSeen(answer: ModelObject, before: StoredObject | undefined): void {
    const now = this.#store.get('default', answer.name);
    if (this.#rewritten) return;
    if (before === undefined || uidOf(before) !== answer.uid) {
      const isDead = this.#gone.has(answer.uid) || this.#deletedByWatch.has(answer.uid);
      assert.ok(
        !isDead || now === undefined || uidOf(now) !== answer.uid,
        `${answer.uid} came back`,
      );
    }
    if (now !== undefined) {
      const isSeen =
        versionOf(now) >= answer.version || (before === undefined && !this.#selects(answer));
      assert.ok(isSeen, `the answer ${answer.version} is seen, not ${versionOf(now)}`);
      return;
    }
    const isOver = this.#server.history.some(
      (change) =>
        change.version > answer.version &&
        change.before?.name === answer.name &&
        (change.after === undefined || !this.#selects(change.after)),
    );
    assert.ok(isOver || !this.#selects(answer), `the answer ${answer.version} is stored`);
  }

  // Those who read.

  #registerInterest(): string {
    const name = this.#random.pick(this.#names) ?? 'a';
    this.#interests.push({ name, seen: this.#store.get('default', name), told: false });
    return `reader: interested in ${name}`;
  }

  #lateSubscriber(): string {
    if (this.#mirrors.length < 4) this.#subscribe(false);
    return 'reader: subscribes';
  }

  #subscribe(isFirst: boolean): void {
    const mirror = new Map<string, StoredObject>();
    this.#mirrors.push(mirror);
    this.#store.subscribe((event) => {
      const { name, old, current } = event;
      assert.equal(old, mirror.get(name), `the event on ${name} follows the one before`);
      assert.ok(old !== undefined || current !== undefined, 'an event is about something');
      this.#checkPass(event);
      if (current === undefined) mirror.delete(name);
      else mirror.set(name, current);
      if (isFirst) this.#noteTold(event);
    });
  }

  /** What a pass wrote is told with the pass, by the answer or by the watch, whichever was faster. */
  #checkPass({ name, old, current, initial, pass }: CacheEvent): void {
    if (this.#expectedPass !== undefined)
      assert.equal(pass, this.#expectedPass, 'the pass is told');
    const isFirstTold =
      current !== undefined && (old === undefined || versionOf(old) !== versionOf(current));
    if (initial || pass !== undefined || !isFirstTold || this.#wasRestored) return;
    const version = versionOf(current);
    assert.ok(!this.#works.has(version), `the work ${version} is told as such`);
    for (const { name: about, answer, isWork, holds } of this.#requests) {
      if (about !== name || !isWork || !holds || answer?.kind !== 'object') continue;
      assert.notEqual(answer.model.version, version, `the work ${version} waits for its answer`);
    }
  }

  #noteTold({ name }: CacheEvent): void {
    for (const interest of this.#interests) if (interest.name === name) interest.told = true;
  }

  #checkOrder(name: string, version: number): void {
    const shown = this.#shown.get(name) ?? 0;
    if (!this.#rewritten) {
      assert.ok(version >= shown, `${name} goes back from ${shown} to ${version}`);
    }
    this.#shown.set(name, Math.max(shown, version));
  }

  // What must hold at any moment.

  #check(): void {
    const present = new Map([...this.#store.list()].map((one) => [one.object.metadata.name, one]));
    for (const [name, one] of present) this.#checkOrder(name, versionOf(one));
    for (const name of allNames) {
      if (this.#isHeld(name)) continue;
      for (const mirror of this.#mirrors) {
        assert.equal(mirror.get(name), present.get(name), `subscribers know all of ${name}`);
      }
    }
    for (const interest of this.#interests.splice(0)) {
      const { name, seen, told } = interest;
      if (told) continue;
      if (!this.#isHeld(name)) assert.equal(present.get(name), seen, `${name} changed unseen`);
      this.#interests.push(interest);
    }
    const values = new Set([...present.values()].map(({ object }) => fieldOf(object)));
    assert.equal(this.#index.get('all').length, present.size, 'the index has every object');
    for (const value of ['0', '1', '2', '3', '4']) {
      assert.equal(this.#index.get(value).length > 0, values.has(value), `index bucket ${value}`);
    }
    const uids = new Set([...present.values()].map(uidOf));
    for (const uid of this.#dying) if (!uids.has(uid)) this.#dying.delete(uid);
    if (this.#rewritten) return;
    for (const one of present.values()) this.#checkAlive(one);
  }

  #checkAlive(one: StoredObject): void {
    const uid = uidOf(one);
    assert.ok(!this.#deletedByWatch.has(uid), `${uid} is not there after its deletion`);
    if (this.#dying.has(uid)) {
      assert.ok(one.object.metadata.deletionTimestamp, `${uid} stays marked as deleting`);
    }
  }

  #selects(object: ModelObject): boolean {
    return !this.#bySelector || object.selected;
  }
}

function stored(object: KubeObject): StoredObject {
  return { object, appliedBy: [] };
}

function uidOf({ object }: StoredObject): string {
  return object.metadata.uid ?? '';
}

function versionOf({ object }: StoredObject): number {
  return Number(object.metadata.resourceVersion);
}

function fieldOf(object: KubeObject): string {
  return String(Reflect.get(Object(object.spec), 'value'));
}

function byName(objects: readonly KubeObject[]): readonly KubeObject[] {
  return objects.toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name));
}
