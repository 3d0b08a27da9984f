import { childKindsOf, type LocatedDefinition } from '../../definition/index.ts';
import { kindText } from '../../reconcile/index.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import type { GroupKind } from '../../util/gvk.ts';
import { isJsonObject } from '../../util/json.ts';
import { orAborted } from '../../util/when-aborted.ts';
import type { DefinitionView, RolloutRecord, RolloutView } from '../definition-view.ts';
import type { PersistedState } from './definition-conditions.ts';
import { PlacesRecorder } from './places-recorder.ts';
import { kindsStatus, type RecordedKinds, type RecordedRevision } from './record.ts';

/** Number of older revisions to persist. */
const maxOlder = 2;

/** The state of a definition in one cluster that a status persists. Recorded before any resource takes a revision. */
export class PersistedStateTracker {
  readonly #onChange: () => void;
  #state: PersistedState;
  /** State that the status contains. */
  #stored: PersistedState;
  /** Kinds of the accepted revision. Undefined: none was accepted in this process. */
  #acceptedKinds: RecordedKinds | undefined;
  /** Callbacks for when the status contains the current state. */
  #waiting: (() => void)[] = [];
  #rollout: DefinitionView['rollout'];
  readonly #places = new PlacesRecorder();

  /** `onChange`: the status must be written. `rollout`: that of the previous process. */
  constructor(stored: PersistedState, onChange: () => void, rollout?: RolloutRecord) {
    this.#state = stored;
    this.#stored = stored;
    this.#onChange = onChange;
    if (rollout?.to === stored.revisions[0]?.revision)
      this.#rollout = rollout && notStarted(rollout);
  }

  get state(): PersistedState {
    return this.#state;
  }

  /**
   * The roll-out to record while no controller shows one: the next one, which has not started, or the last one. It must not be lost before
   * the controller has started: held deletions and a stopped roll-out would be forgotten.
   */
  get rollout(): DefinitionView['rollout'] {
    return this.#rollout;
  }

  /** Whether work waits until the status is written. */
  get isAwaited(): boolean {
    return this.#waiting.length > 0;
  }

  /** Takes over the state from a status that another process wrote. */
  sync(next: PersistedState): void {
    const isEmpty = next.revisions.length === 0 && next.kinds.resources.length === 0;
    if (isEmpty || this.#state !== this.#stored || isSameState(next, this.#state)) return;
    this.#state = next;
    this.#stored = next;
  }

  /**
   * Records the accepted revision; resolves when the status contains it. `kinds`: those that the cluster gets.
   * @throws the signal's reason
   */
  async record(
    located: LocatedDefinition,
    signal: AbortSignal,
    kinds: RecordedKinds = kindsOf(located),
  ): Promise<void> {
    this.#acceptedKinds = kinds;
    const next = withAccepted(this.#state, this.#revisionOf(located), kinds);
    if (!isSameState(next, this.#state)) {
      const [before] = this.#state.revisions;
      const { revision } = located.definition;
      this.#state = next;
      if (before !== undefined && before.revision !== revision)
        this.#rollout = notStarted({
          from: before.revision,
          to: revision,
          state: 'rolling',
          failed: [],
        });
    }
    this.keepPlaces(located);
    if (this.#state === this.#stored || isSameState(this.#state, this.#stored)) return;
    const written = Promise.withResolvers<void>();
    this.#waiting.push(written.resolve);
    this.#onChange();
    await orAborted(written.promise, signal);
  }

  /** Stores where the accepted revision is written now. Nothing waits for it: an edit of a comment changes only messages. */
  keepPlaces(located: LocatedDefinition): void {
    const [accepted, ...others] = this.#state.revisions;
    if (accepted?.revision !== located.definition.revision) return;
    const current = this.#revisionOf(located);
    if (deepEqual(accepted.places, current.places)) return;
    this.#state = { ...this.#state, revisions: [current, ...others] };
    this.#onChange();
  }

  #revisionOf(located: LocatedDefinition): RecordedRevision {
    const { definition, document } = located;
    const places = this.#places.of(located);
    const spec = isJsonObject(document?.spec) ? document.spec : {};
    return { revision: definition.revision, spec, ...(places && { places }) };
  }

  /** Call when the status contains `persisted`. */
  onWritten(persisted: PersistedState): void {
    this.#stored = persisted;
    if (persisted !== this.#state) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** Drops revisions that no resource has any more, except the accepted one, and a roll-out that has finished. */
  prune({
    activeRevisions: active,
    rollout,
  }: Pick<DefinitionView, 'activeRevisions' | 'rollout'>): void {
    const newest = active?.[0];
    const isNext = this.#rollout !== undefined && this.#rollout.to !== newest;
    // Members may still roll out the revision before.
    if (newest !== undefined && !isNext)
      this.#rollout = rollout?.to === newest ? rollout : undefined;
    if (active === undefined || this.isAwaited) return;
    const [accepted, ...others] = this.#state.revisions;
    if (accepted === undefined || !active.includes(accepted.revision)) return;
    const remaining = others.filter((each) => active.includes(each.revision));
    if (remaining.length < others.length)
      this.#state = { ...this.#state, revisions: [accepted, ...remaining] };
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
    this.#onChange();
  }
}

function kindsOf({ definition }: LocatedDefinition): RecordedKinds {
  return { resources: [definition.kind.gvk], children: childKindsOf(definition) };
}

function withAccepted(
  { revisions, kinds }: PersistedState,
  accepted: RecordedRevision,
  own: RecordedKinds,
): PersistedState {
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
function isSameState(a: PersistedState, b: PersistedState): boolean {
  const textOf = ({ revisions, kinds }: PersistedState) => ({
    revisions: revisions.map(({ revision }) => revision),
    kinds: kindsStatus(kinds),
  });
  return deepEqual(textOf(a), textOf(b));
}

function notStarted(rollout: RolloutRecord): RolloutView {
  return { ...rollout, reached: 0, total: 0, deletions: 0, message: 'Not started' };
}
