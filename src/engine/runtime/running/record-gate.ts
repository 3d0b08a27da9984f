import { childKindsOf, type LocatedDefinition } from '#definition';
import { kindText } from '#reconcile';
import { deepEqual } from '#util/deep-equal.ts';
import type { GroupKind } from '#util/gvk.ts';
import { isJsonObject } from '#util/json.ts';
import { orAborted } from '#util/when-aborted.ts';
import type { DefinitionView } from '../definition-view.ts';
import {
  kindsStatus,
  type RecordedKinds,
  type RecordedRevision,
  type RecordedState,
} from '../recorded-state.ts';
import {
  isSameRollout,
  notStarted,
  type RolloutRecord,
  rolloutRecordOf,
} from '../rollout/rollout-view.ts';
import { PlacesRecorder } from './places-recorder.ts';

/** Number of older revisions to record. */
const maxOlder = 2;

/** What a status must contain of a definition in one cluster. */
export type StateToRecord = Pick<RecordedState, 'revisions' | 'kinds'>;

/**
 * What must be recorded of a definition, and what is: no resource takes a revision before a status contains it with its kinds and its
 * roll-out. It does not know where that status is.
 */
export class RecordGate {
  readonly #onAccepted: () => void;
  #state: StateToRecord;
  /** What the status contains. */
  #recorded: StateToRecord;
  /** Kinds of the accepted revision. Undefined: none was accepted in this process. */
  #acceptedKinds: RecordedKinds | undefined;
  /** The roll-out that the status must contain, see {@link report}. */
  #reported: Pick<RolloutRecord, 'from' | 'to'> | undefined;
  #isOpen = true;
  #waiting: (() => void)[] = [];
  /**
   * Recorded while no controller shows one: the next roll-out, which has not started, or the last one. It must not be lost before the
   * controller has started: held deletions and a stopped roll-out would be forgotten.
   */
  #rollout: DefinitionView['rollout'];
  /** The roll-out that the status contains. */
  #recordedRollout: RecordedState['rollout'];
  readonly #places = new PlacesRecorder();

  /** `recorded`: by the previous process. `onAccepted`: there is something to record; work may wait for it. */
  constructor({ rollout, ...recorded }: RecordedState, onAccepted: () => void) {
    this.#recordedRollout = rollout;
    this.#state = recorded;
    this.#recorded = recorded;
    this.#onAccepted = onAccepted;
    if (rollout?.to === recorded.revisions[0]?.revision)
      this.#rollout = rollout && notStarted(rollout);
  }

  get state(): StateToRecord {
    return this.#state;
  }

  /** The roll-out that the status contains, which has not finished. */
  get unfinished(): RolloutRecord | undefined {
    const recorded = this.#recordedRollout;
    const last = this.#rollout;
    if (recorded === undefined) return undefined;
    // What was shown last of it may not be in the status yet.
    return rolloutRecordOf(last && isSameRollout(last, recorded) ? last : recorded);
  }

  /** Whether the status contains the accepted revision. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Resolves when it is open. @throws the signal's reason */
  async opened(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#isOpen) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    await orAborted(promise, signal);
  }

  /** A revision can run. The gate is closed until it is recorded. `kinds`: those that the cluster gets. */
  accept(located: LocatedDefinition, kinds: RecordedKinds = kindsOf(located)): void {
    const before = this.#state;
    this.#acceptedKinds = kinds;
    const next = withAccepted(this.#state, this.#revisionOf(located), kinds);
    if (!isSameState(next, this.#state)) {
      const from = before.revisions[0]?.revision;
      const { revision: to } = located.definition;
      this.#state = next;
      if (from !== undefined && from !== to)
        this.#rollout = notStarted({ from, to, state: 'rolling', failed: [] });
      this.#reported = this.#rollout;
    }
    this.keepPlaces(located);
    if (isSameState(this.#state, this.#recorded)) return;
    const isKnown = !this.#isOpen && this.#state === before;
    this.#isOpen = false;
    if (!isKnown) this.#onAccepted();
  }

  /** Call with what the status contains: after each write, and when another process may have written it. */
  recorded({ rollout, ...next }: StateToRecord & Partial<RecordedState>): void {
    this.#recordedRollout = rollout;
    if (isSameState(next, this.#state)) {
      this.#recorded = next;
      if (this.#reported === undefined || isSameRollout(this.#reported, rollout)) this.#open();
      return;
    }
    // An object that was created anew has no status, and a restored one an older status: neither takes away what runs here.
    const isEmpty = next.revisions.length === 0 && next.kinds.resources.length === 0;
    const hasAccepted = this.#acceptedKinds !== undefined;
    if (isEmpty || hasAccepted || !isSameState(this.#state, this.#recorded)) return;
    this.#state = next;
    this.#recorded = next;
  }

  /** What to record now. Drops what is not needed any more, given what is shown. */
  report(
    view: Pick<DefinitionView, 'activeRevisions' | 'rollout'> = {},
  ): StateToRecord & Pick<DefinitionView, 'rollout'> {
    this.#prune(view);
    const { rollout } = this.complete(view);
    this.#reported = rollout;
    return { ...this.#state, ...(rollout && { rollout }) };
  }

  /** The view with the roll-out to record, if it shows none. */
  complete<View extends Pick<DefinitionView, 'rollout'>>(view: View): View {
    const rollout = view.rollout ?? this.#rollout;
    return { ...view, ...(rollout && { rollout }) };
  }

  /** Stores where the accepted revision is written now. Nothing waits for it: an edit of a comment changes only messages. */
  keepPlaces(located: LocatedDefinition): void {
    const [accepted, ...others] = this.#state.revisions;
    if (accepted?.revision !== located.definition.revision) return;
    const current = this.#revisionOf(located);
    if (deepEqual(accepted.places, current.places)) return;
    this.#state = { ...this.#state, revisions: [current, ...others] };
    this.#onAccepted();
  }

  /** Drops kinds of which nothing is left, except those of a revision that was accepted meanwhile. */
  dropKinds(gone: Partial<RecordedKinds>): void {
    const { kinds } = this.#state;
    const own = this.#acceptedKinds;
    const remaining = (of: keyof RecordedKinds) =>
      withoutKinds(kinds[of], withoutKinds(gone[of] ?? [], own?.[of]));
    this.#state = {
      ...this.#state,
      kinds: { resources: remaining('resources'), children: remaining('children') },
    };
    this.#onAccepted();
  }

  #open(): void {
    this.#isOpen = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #revisionOf(located: LocatedDefinition): RecordedRevision {
    const { definition, document } = located;
    const places = this.#places.of(located);
    const spec = isJsonObject(document?.spec) ? document.spec : {};
    return { revision: definition.revision, spec, ...(places && { places }) };
  }

  /** Drops revisions that no resource has any more, except the accepted one, and a roll-out that has finished. */
  #prune({
    activeRevisions: active,
    rollout,
  }: Pick<DefinitionView, 'activeRevisions' | 'rollout'>): void {
    const newest = active?.[0];
    const isNext = this.#rollout !== undefined && this.#rollout.to !== newest;
    // Members may still roll out the revision before.
    if (newest !== undefined && !isNext)
      this.#rollout = rollout?.to === newest ? rollout : undefined;
    if (active === undefined || !this.#isOpen) return;
    const [accepted, ...others] = this.#state.revisions;
    if (accepted === undefined || !active.includes(accepted.revision)) return;
    const remaining = others.filter((each) => active.includes(each.revision));
    if (remaining.length < others.length)
      this.#state = { ...this.#state, revisions: [accepted, ...remaining] };
  }
}

function kindsOf({ definition }: LocatedDefinition): RecordedKinds {
  return { resources: [definition.kind.gvk], children: childKindsOf(definition) };
}

function withAccepted(
  { revisions, kinds }: StateToRecord,
  accepted: RecordedRevision,
  own: RecordedKinds,
): StateToRecord {
  const { revision } = accepted;
  const others = revisions.filter((each) => each.revision !== revision).slice(0, maxOlder);
  return {
    revisions: [accepted, ...others],
    kinds: {
      resources: uniqueKinds([...kinds.resources, ...own.resources]),
      children: uniqueKinds([...kinds.children, ...own.children]),
    },
  };
}

function uniqueKinds(kinds: readonly GroupKind[]): readonly GroupKind[] {
  const byText = new Map(
    kinds.map(({ group, kind }) => [kindText({ group, kind }), { group, kind }]),
  );
  return [...byText.values()];
}

function withoutKinds(
  kinds: readonly GroupKind[],
  gone: readonly GroupKind[] = [],
): readonly GroupKind[] {
  const texts = new Set(gone.map(kindText));
  return kinds.filter((kind) => !texts.has(kindText(kind)));
}

/** Whether both have the same revisions and kinds. Places decide nothing. */
function isSameState(a: StateToRecord, b: StateToRecord): boolean {
  const textOf = ({ revisions, kinds }: StateToRecord) => ({
    revisions: revisions.map(({ revision }) => revision),
    kinds: kindsStatus(kinds),
  });
  return deepEqual(textOf(a), textOf(b));
}
