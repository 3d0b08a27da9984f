import type { Clock } from '#util/clock.ts';
import type { Problem } from '../failure.ts';
import type { Entries, Entry, EntryKind } from './entries.ts';
import type { ReconcilePace } from './pace.ts';

type EntryMaps = { [Kind in EntryKind]?: Map<string, Entries[Kind]> };

/** The kinds whose entries are about an intent, by its identity. */
const ofIntents = ['rejected', 'contested', 'ignored', 'recreated'] as const;
/** The kinds that a right may end, or a cause that no watch shows. */
const ofRejections = ['rejected', 'deletionRejected'] as const;

/** A timer may fire this much too early: the pass that it starts must not be useless. */
const timerErrorMs = 20;

/**
 * What of one resource waits until a time, and why. A resource of which nothing waits has no entry, and its ledger allocates nothing. In memory
 * only: losing it costs requests.
 */
export class Ledger {
  /** How often the resource runs because of its own writes. Undefined: it has not written lately. */
  pace: ReconcilePace | undefined;
  /** Set during a patch of the resource itself: the event of that patch does not come from outside. */
  isPatchingItself = false;
  #hasOutsideEvent = false;
  /** By kind and subject. Undefined: there has been none. */
  #entries: EntryMaps | undefined;

  /** `about`: the identity or UID of an object. @default the resource */
  get<Kind extends EntryKind>(kind: Kind, about = ''): Entries[Kind] | undefined {
    return this.#entries?.[kind]?.get(about);
  }

  /** Replaces the entry of this kind and subject. */
  set<Kind extends EntryKind>(kind: Kind, entry: Entries[Kind], about = ''): void {
    this.#entries ??= {};
    const known = this.#entries[kind];
    if (known === undefined) this.#entries[kind] = new Map([[about, entry]]) as EntryMaps[Kind];
    else known.set(about, entry);
  }

  delete(kind: EntryKind, about = ''): void {
    this.#entries?.[kind]?.delete(about);
  }

  /** Removes the entries of rejections for a missing right, or for a cause that nothing shows: one may have ended. */
  forgetObstacles(): void {
    for (const kind of ofRejections) {
      for (const [about, { problem }] of this.#entries?.[kind] ?? [])
        if (hasObstacle(problem)) this.delete(kind, about);
    }
  }

  /** Removes the entries about objects that are no longer desired, or no longer to be deleted: names and UIDs may never return. */
  retain({ isDesired, isLeaving }: RetainFilters): void {
    if (this.#entries === undefined) return;
    for (const kind of ofIntents) {
      for (const identity of this.#entries[kind]?.keys() ?? [])
        if (!isDesired(identity)) this.delete(kind, identity);
    }
    for (const uid of this.#entries.deletionRejected?.keys() ?? [])
      if (!isLeaving(uid)) this.delete('deletionRejected', uid);
  }

  /** Called for an event that is not caused by a write of the resource's own pass. */
  noteEvent(): void {
    if (!this.isPatchingItself) this.#hasOutsideEvent = true;
  }

  /** Has there been such an event since the last call? */
  takeEvent(): boolean {
    const hasEvent = this.#hasOutsideEvent;
    this.#hasOutsideEvent = false;
    return hasEvent;
  }
}

/** What {@link Ledger.retain} keeps. */
interface RetainFilters {
  readonly isDesired: (identity: string) => boolean;
  /** Is the object with this UID still to be deleted? */
  readonly isLeaving: (uid: string) => boolean;
}

function hasObstacle({ right, cause }: Problem): boolean {
  return right !== undefined || cause !== undefined;
}

/** The parts of a pass that the ledger needs. */
export interface LedgerContext {
  readonly context: {
    readonly clock: Clock;
    readonly plan: {
      readonly definition: {
        readonly controller: { readonly retry: { readonly permanentMs: number } };
      };
    };
  };
  readonly state: { readonly ledger: Ledger };
}

/** Time until an entry is over, in ms. 0: it is. */
export function remainingMs(
  { context }: { readonly context: { readonly clock: Clock } },
  entry: Entry,
): number {
  const ms = entry.untilMs - context.clock.monotonicMs();
  return ms > timerErrorMs ? ms : 0;
}

export function permanentMsOf({ context }: Pick<LedgerContext, 'context'>): number {
  return context.plan.definition.controller.retry.permanentMs;
}
