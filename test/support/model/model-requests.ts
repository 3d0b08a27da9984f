import assert from 'node:assert/strict';
import type { RequestTicket } from '#kube/cache/object-store.ts';
import type { CacheEvent, PassToken, StoredObject } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { type CacheState, stored, uidOf, versionOf } from './cache-state.ts';
import type { ModelObject } from './model-server.ts';

type Answer =
  | { readonly kind: 'object'; readonly object: KubeObject; readonly model: ModelObject }
  | { readonly kind: 'deleting'; readonly uid: string }
  | { readonly kind: 'gone'; readonly uid: string | undefined };

/** A request of ours, from its begin to the delivery of its answer. */
interface Request {
  readonly name: string;
  readonly ticket: RequestTicket;
  readonly pass: PassToken;
  readonly act: () => Answer;
  answer?: Answer;
  /** It made a new version. */
  isWork: boolean;
  /** Events on the name wait for it. */
  holds: boolean;
}

/** Our own requests, from the passes that send them to the cache that takes their answers. */
export class ModelRequests {
  readonly #state: CacheState;
  readonly #requests: Request[] = [];
  /** Versions that requests of ours made, and were answered in time. */
  readonly #works = new Set<number>();
  /** Uids of entries whose DELETE was answered. */
  readonly dying = new Set<string>();
  #passes = 0;
  #expectedPass: PassToken | undefined;

  constructor(state: CacheState) {
    this.#state = state;
  }

  get size(): number {
    return this.#requests.length;
  }

  /** Answers that are under way are lost. */
  loseAnswers(): void {
    for (const request of this.#requests.filter(({ answer }) => answer !== undefined)) {
      this.#requests.splice(this.#requests.indexOf(request), 1);
      this.#state.store.end(request.ticket);
    }
  }

  begin(): string {
    const name = this.#state.pickName();
    const known = this.#state.store.get('default', name)?.object.metadata.uid;
    const acts = [() => this.#apply(name), () => this.#read(name), () => this.#delete(name, known)];
    const act = this.#state.random.pick(known === undefined ? acts.slice(0, 2) : acts);
    this.#passes += 1;
    this.#requests.push({
      name,
      ticket: this.#state.store.begin('default', name),
      pass: { key: `default/${name}`, definition: `pass-${this.#passes}` },
      act: act ?? (() => this.#read(name)),
      isWork: false,
      holds: true,
    });
    return `request: begins on ${name}`;
  }

  #apply(name: string): Answer {
    const model = this.#state.server.apply(name, this.#state.wish());
    return { kind: 'object', object: this.#state.server.view(model), model };
  }

  #read(name: string): Answer {
    const model = this.#state.server.objects.get(name);
    if (model === undefined) return { kind: 'gone', uid: undefined };
    return { kind: 'object', object: this.#state.server.view(model), model };
  }

  #delete(name: string, uid: string | undefined): Answer {
    if (uid === undefined || this.#state.server.objects.get(name)?.uid !== uid)
      return { kind: 'gone', uid };
    this.#state.server.delete(name);
    return { kind: 'deleting', uid };
  }

  /** The server answers one. */
  act(): string {
    const request = this.#state.random.pick(
      this.#requests.filter(({ answer }) => answer === undefined),
    );
    if (request === undefined) return 'request: none to answer';
    const before = this.#state.server.version;
    request.answer = request.act();
    request.isWork = this.#state.server.version > before;
    return `request: on ${request.name} answered ${request.answer.kind} at ${this.#state.server.version}`;
  }

  deliver(): string {
    const request = this.#state.random.pick(
      this.#requests.filter(({ answer }) => answer !== undefined),
    );
    if (request?.answer === undefined) return 'request: no answer to deliver';
    this.#requests.splice(this.#requests.indexOf(request), 1);
    this.#expectedPass = request.pass;
    const reported = this.#takeAnswer(request, request.answer);
    this.#expectedPass = undefined;
    this.#state.store.end(request.ticket);
    return `request: on ${request.name} delivered ${reported}`;
  }

  losePatience(): string {
    const request = this.#state.random.pick(this.#requests);
    if (request === undefined) return 'request: none to lose patience with';
    request.holds = false;
    this.#state.store.stopHolding(request.ticket);
    return `request: on ${request.name} without a waiting caller`;
  }

  /** A request that has waited in the queue is sent. */
  send(): string {
    const request = this.#state.random.pick(
      this.#requests.filter(({ answer }) => answer === undefined),
    );
    if (request === undefined) return 'request: none to send';
    request.holds = true;
    this.#state.store.hold(request.ticket);
    return `request: on ${request.name} is sent`;
  }

  /** Do events on the name wait for an answer? */
  isHeld(name: string): boolean {
    return this.#requests.some((request) => request.holds && request.name === name);
  }

  #takeAnswer({ name, ticket, pass, isWork, holds }: Request, answer: Answer): string {
    const before = this.#state.store.get('default', name);
    switch (answer.kind) {
      case 'object':
        this.#state.store.storeResponse(stored(answer.object), pass);
        if (isWork && holds && this.#holdsVersion(name, answer.model.version)) {
          this.#works.add(answer.model.version);
        }
        this.#checkAnswerSeen(answer.model, before);
        return `object ${answer.model.version}`;
      case 'deleting':
        this.#state.store.deleting(ticket.key, answer.uid, { at: '2026-02-02T00:00:00Z', pass });
        if (before !== undefined && uidOf(before) === answer.uid) this.dying.add(answer.uid);
        return `deleting ${answer.uid}`;
      case 'gone':
        this.#state.store.gone(ticket, answer.uid, pass);
        if (answer.uid !== undefined) this.#state.gone.add(answer.uid);
        else if (ticket.uid !== undefined) this.#state.gone.add(ticket.uid);
        return `gone ${answer.uid ?? ticket.uid ?? 'unknown'}`;
    }
  }

  #holdsVersion(name: string, version: number): boolean {
    const now = this.#state.store.get('default', name);
    return now !== undefined && versionOf(now) === version;
  }

  /** A pass sees its own writes, and nothing answered before a deletion comes back after it. */
  #checkAnswerSeen(answer: ModelObject, before: StoredObject | undefined): void {
    const now = this.#state.store.get('default', answer.name);
    if (this.#state.rewritten) return;
    if (before === undefined || uidOf(before) !== answer.uid) {
      const isDead = this.#state.gone.has(answer.uid) || this.#state.deletedByWatch.has(answer.uid);
      assert.ok(
        !isDead || now === undefined || uidOf(now) !== answer.uid,
        `${answer.uid} came back`,
      );
    }
    if (now !== undefined) {
      const isSeen =
        versionOf(now) >= answer.version || (before === undefined && !this.#state.selects(answer));
      assert.ok(isSeen, `the answer ${answer.version} is seen, not ${versionOf(now)}`);
      return;
    }
    const isOver = this.#state.server.history.some(
      (change) =>
        change.version > answer.version &&
        change.before?.name === answer.name &&
        (change.after === undefined || !this.#state.selects(change.after)),
    );
    assert.ok(isOver || !this.#state.selects(answer), `the answer ${answer.version} is stored`);
  }

  /** What a pass wrote is reported with the pass, by the answer or by the watch, whichever was faster. */
  checkPass({ name, old, current, initial, pass }: CacheEvent): void {
    if (this.#expectedPass !== undefined)
      assert.equal(pass, this.#expectedPass, 'the pass is reported');
    const isFirstReport =
      current !== undefined && (old === undefined || versionOf(old) !== versionOf(current));
    if (initial || pass !== undefined || !isFirstReport || this.#state.wasRestored) return;
    const version = versionOf(current);
    assert.ok(!this.#works.has(version), `the work ${version} is reported as such`);
    for (const { name: about, answer, isWork, holds } of this.#requests) {
      if (about !== name || !isWork || !holds || answer?.kind !== 'object') continue;
      assert.notEqual(answer.model.version, version, `the work ${version} waits for its answer`);
    }
  }
}
