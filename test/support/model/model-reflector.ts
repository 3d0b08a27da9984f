import type { Listing } from '#kube/cache/object-store.ts';
import { type CacheState, stored } from './cache-state.ts';
import type { ModelChange, ModelObject } from './model-server.ts';

/** What it is doing. */
type Phase =
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

/** The reflector of an informer, between a server and a store. */
export class ModelReflector {
  readonly #state: CacheState;
  #phase: Phase = { kind: 'stopped' };
  /** As it was when the server took the snapshot of the present list. */
  #rewrittenBeforeList = false;
  #schemaBeforeList = 1;
  /** All is to arrive: nothing is risked any more. */
  isEnding = false;

  constructor(state: CacheState) {
    this.#state = state;
  }

  get isWatching(): boolean {
    return this.#phase.kind === 'watching';
  }

  /** Has it reported all that the server has? */
  get isQuiet(): boolean {
    const phase = this.#phase;
    if (phase.kind !== 'watching' || this.#state.rewritten || this.#state.schemaChanged)
      return false;
    return phase.position >= this.#state.server.history.length;
  }

  stop(): void {
    this.#phase = { kind: 'stopped' };
  }

  /** The next thing that it does. */
  move(): string {
    const phase = this.#phase;
    switch (phase.kind) {
      case 'stopped':
        return this.#startList();
      case 'list-sent':
        return this.#answerList(phase.listing);
      case 'listing':
        return this.#nextPage(phase);
      case 'watching':
        return this.#nextEvent(phase);
    }
  }

  #startList(): string {
    const { progress } = this.#state.store;
    if (progress !== undefined && this.#mayResume(progress) && this.#state.random.chance(0.4)) {
      this.#watchFrom(Number(progress), this.#state.server.schema);
      return `watch: resumed from ${progress}`;
    }
    this.#phase = { kind: 'list-sent', listing: this.#state.store.startList() };
    return 'list: sent';
  }

  /** A connection that broke and was opened again at once shows a restored server only while that is behind. */
  #mayResume(progress: string): boolean {
    if (this.#state.schemaChanged || this.#state.mustList) return false;
    return (
      !this.#state.rewritten || (!this.isEnding && this.#state.server.version >= Number(progress))
    );
  }

  #answerList(listing: Listing): string {
    const left = [...this.#state.server.objects.values()].filter((object) =>
      this.#state.selects(object),
    );
    const { version, history } = this.#state.server;
    this.#phase = { kind: 'listing', listing, version, left, history: [...history] };
    // From here on the server's answer is of the present: what was rewritten or re-read before shows in it.
    this.#rewrittenBeforeList = this.#state.rewritten;
    this.#schemaBeforeList = this.#state.server.schema;
    return `list: answered at ${version}`;
  }

  #nextPage(list: Extract<Phase, { kind: 'listing' }>): string {
    if (this.#state.random.chance(0.05)) {
      this.stop();
      return 'list: broken off';
    }
    const page = list.left.splice(0, 1 + this.#state.random.below(2));
    const isLast = list.left.length === 0;
    // Order is judged anew from the first page of a list that shows the rewritten history on.
    if (this.#rewrittenBeforeList) this.#state.shown.clear();
    list.listing.add(
      String(list.version),
      page.map((object) => stored(this.#state.server.view(object))),
    );
    if (!isLast) return `list: page of ${page.length}`;
    list.listing.finish();
    this.#listFinished(list);
    return `list: last page of ${page.length}, at ${list.version}`;
  }

  #listFinished(list: Extract<Phase, { kind: 'listing' }>): void {
    if (this.#rewrittenBeforeList) {
      this.#state.rewritten = false;
      this.#state.mustList = false;
    }
    if (this.#schemaBeforeList === this.#state.server.schema) this.#state.schemaChanged = false;
    for (const change of list.history) this.#state.noteDeletion(change);
    this.#watchFrom(list.version, this.#schemaBeforeList);
  }

  #watchFrom(version: number, schema: number): void {
    const position = this.#state.server.history.findIndex((change) => change.version > version);
    this.#phase = {
      kind: 'watching',
      position: position < 0 ? this.#state.server.history.length : position,
      schema,
    };
  }

  #nextEvent(watch: Extract<Phase, { kind: 'watching' }>): string {
    const change = this.#state.server.history[watch.position];
    if (change === undefined) return 'watch: nothing new';
    watch.position += 1;
    return `watch: ${this.#tell(change, watch.schema)}`;
  }

  #tell(change: ModelChange, schema: number): string {
    const wasSelected = change.before !== undefined && this.#state.selects(change.before);
    const { before, after } = change;
    if (after !== undefined && this.#state.selects(after)) {
      this.#state.store.changed(stored(this.#state.server.view(after, schema)));
      return `${wasSelected ? 'MODIFIED' : 'ADDED'} ${after.name} ${after.version}`;
    }
    if (before !== undefined && wasSelected) {
      const last = { ...before, version: change.version };
      this.#state.store.deleted(stored(this.#state.server.view(last, schema)));
      this.#state.noteDeletion(change);
      return `DELETED ${before.name} ${change.version}`;
    }
    this.#state.noteDeletion(change);
    return `nothing of ${change.version} is selected`;
  }

  /** The server sends again what it has sent. */
  replay(): string {
    const watch = this.#phase;
    if (watch.kind !== 'watching') return 'watch: none to replay';
    watch.position = Math.max(0, watch.position - 1 - this.#state.random.below(4));
    return `watch: back to ${watch.position}`;
  }

  bookmark(): string {
    const watch = this.#phase;
    if (watch.kind !== 'watching' || watch.position < this.#state.server.history.length)
      return 'no bookmark';
    this.#state.store.bookmark(String(this.#state.server.version));
    return `watch: BOOKMARK ${this.#state.server.version}`;
  }

  breakWatch(): string {
    if (this.#phase.kind === 'watching') this.stop();
    return 'watch: broken';
  }
}
