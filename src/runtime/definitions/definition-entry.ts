import type { LocatedDefinition } from '../../definition/index.ts';
import { childKindsOf } from '../../definition/index.ts';
import type { KubeError } from '../../kube/roles.ts';
import { kindText, rightText } from '../../reconcile/index.ts';
import type { Logger } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import type { GroupKind } from '../../util/gvk.ts';
import { isJsonObject } from '../../util/json.ts';
import { orAborted } from '../../util/when-aborted.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { Rejection } from '../desired-definition.ts';
import type { SharedOptions } from '../runner-options.ts';
import type { Decision } from './decide.ts';
import type { DefinitionFacts, PersistedState } from './definition-conditions.ts';
import { DefinitionTaskRunner } from './definition-task-runner.ts';
import {
  conditionsIn,
  type DefinitionRecord,
  kindsStatus,
  liveStatus,
  type RecordedKinds,
} from './record.ts';

interface DefinitionEntryOptions extends SharedOptions {
  readonly record: DefinitionRecord;
  /** Stops all work. */
  readonly signal: AbortSignal;
  /** The status must be written. */
  readonly onChange: () => void;
}

/** A start within this time is not written to the status. */
const startGraceMs = 2_000;
/** Number of older revisions to persist. */
const maxOlder = 2;

/** One definition in this process: its tasks and its persisted state. */
export class DefinitionEntry {
  readonly name: string;
  readonly uid: string | undefined;
  readonly tasks: DefinitionTaskRunner;
  readonly #onChange: () => void;
  #state: PersistedState;
  /** State that the status contains. */
  #stored: PersistedState;
  /** Callbacks for when the status contains the current state. */
  #waiting: (() => void)[] = [];
  /** Persisted, but not started. */
  #rollout: DefinitionView['rollout'];
  #lastView: DefinitionView | undefined;
  #writeError: KubeError | undefined;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #createdMs: number;
  /** The rejection logged last. */
  #loggedRejection: Rejection | undefined;

  constructor({ record, signal, onChange, ...shared }: DefinitionEntryOptions) {
    const { name, revisions, kinds } = record;
    this.name = name;
    this.uid = record.object.metadata.uid;
    this.#onChange = onChange;
    this.#logger = shared.logger;
    this.#clock = shared.clock;
    this.#createdMs = shared.clock.monotonicMs();
    this.#state = { revisions, kinds };
    this.#stored = this.#state;
    this.tasks = new DefinitionTaskRunner(
      {
        ...shared,
        name,
        kinds: () => this.#state.kinds,
        onDone: onChange,
        record: (located, ending) => this.#recordRevision(located, ending),
        onKindsGone: (gone) => this.#dropKinds(gone),
      },
      signal,
    );
  }

  get state(): PersistedState {
    return this.#state;
  }

  /** Takes over the state from a status that another process wrote. */
  syncState({ revisions, kinds }: DefinitionRecord): void {
    const isEmpty = revisions.length === 0 && kinds.resources.length === 0;
    const next = { revisions, kinds };
    if (isEmpty || this.#state !== this.#stored || isSameState(next, this.#state)) return;
    this.#state = next;
    this.#stored = next;
  }

  get view(): DefinitionView {
    const { view } = this.tasks;
    if (this.#writeError === undefined) return view;
    const { right, message } = this.#writeError;
    const reason = right === undefined ? message : rightText(right);
    // It cannot start before its revision is persisted.
    if (view.state.kind === 'starting')
      return { ...view, state: { kind: 'starting', message: reason } };
    return { ...view, problems: [...view.problems, reason] };
  }

  /** Whether the view has changed since the last report. */
  hasNewView(): boolean {
    return !deepEqual(this.#lastView, this.view);
  }

  setWriteError(error: KubeError): void {
    this.#writeError = error;
  }

  /** Logs once why the newest revision is rejected. Errors of published manifests are logged when they are parsed. */
  logRejection({ origin }: DefinitionRecord, decision: Decision): void {
    const goesOn = decision.kind === 'run';
    const found = rejectionIn(decision);
    const isNew = origin.source === 'object' || found?.revision !== undefined;
    const rejection = isNew ? found : undefined;
    if (deepEqual(rejection, this.#loggedRejection)) return;
    this.#loggedRejection = rejection;
    if (rejection === undefined) return;
    const { message: reason, diagnostics } = rejection;
    const about = { definition: this.name, reason, ...(diagnostics.length > 0 && { diagnostics }) };
    const text = goesOn
      ? 'Change rejected, the active revision keeps running'
      : 'Definition rejected';
    this.#logger.warn(about, text);
  }

  /** Collects everything that determines the status. */
  factsFor({ origin, isPaused, isDeleted }: DefinitionRecord, decision: Decision): DefinitionFacts {
    const { view } = this;
    this.#lastView = view;
    this.#prune(view);
    const { desired } = decision.kind === 'run' ? decision : {};
    const rejection =
      desired?.rejection ??
      view.rejection ??
      (view.state.kind === 'rejected' ? { ...view.state, revision: view.revision } : undefined);
    const rollout = view.rollout ?? this.#rollout;
    return {
      origin,
      view,
      isPaused,
      isDeleted,
      warnings: desired?.warnings ?? [],
      persisted: this.#state,
      ...(rejection && { rejection }),
      ...(rollout && { rollout }),
      ...inactiveReason(decision),
    };
  }

  /**
   * How long to delay the status of a starting definition, in ms: after a restart most definitions run again within moments and need no
   * status write.
   */
  statusDelayMs({ object }: DefinitionRecord): number {
    const { kind } = this.view.state;
    const isStarting = kind === 'starting' || kind === 'syncing';
    const isNew = conditionsIn(liveStatus(object)).length === 0;
    if (!isStarting || isNew || this.#waiting.length > 0 || this.#writeError !== undefined)
      return 0;
    return Math.max(0, this.#createdMs + startGraceMs - this.#clock.monotonicMs());
  }

  /** Call when the status contains `state`. */
  onStatusWritten(persisted: PersistedState): void {
    this.#writeError = undefined;
    this.#stored = persisted;
    if (persisted !== this.#state) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  async #recordRevision(located: LocatedDefinition, signal: AbortSignal): Promise<void> {
    const next = withAccepted(this.#state, located);
    if (!isSameState(next, this.#state)) {
      const [before] = this.#state.revisions;
      const { revision } = located.definition;
      this.#state = next;
      if (before !== undefined && before.revision !== revision)
        this.#rollout = startingRollout(before.revision, revision);
    }
    if (this.#state === this.#stored) return;
    const written = Promise.withResolvers<void>();
    this.#waiting.push(written.resolve);
    this.#onChange();
    await orAborted(written.promise, signal);
  }

  /** Drops revisions that no resource has any more, except the accepted one. */
  #prune({ activeRevisions: atWork }: DefinitionView): void {
    if (this.#rollout?.to === atWork?.[0]) this.#rollout = undefined;
    if (atWork === undefined || this.#waiting.length > 0) return;
    const [accepted, ...others] = this.#state.revisions;
    if (accepted === undefined || !atWork.includes(accepted.revision)) return;
    const remaining = others.filter((each) => atWork.includes(each.revision));
    if (remaining.length < others.length)
      this.#state = { ...this.#state, revisions: [accepted, ...remaining] };
  }

  #dropKinds(gone: Partial<RecordedKinds>): void {
    const { kinds } = this.#state;
    this.#state = {
      ...this.#state,
      kinds: {
        resources: withoutKinds(kinds.resources, gone.resources),
        children: withoutKinds(kinds.children, gone.children),
      },
    };
    this.#onChange();
  }
}

function withAccepted(
  { revisions, kinds }: PersistedState,
  located: LocatedDefinition,
): PersistedState {
  const { definition, document } = located;
  const { revision, kind } = definition;
  const spec = isJsonObject(document?.spec) ? document.spec : {};
  const others = revisions.filter((each) => each.revision !== revision).slice(0, maxOlder);
  return {
    revisions: [{ revision, spec }, ...others],
    kinds: {
      resources: uniqueKinds([...kinds.resources, kind.gvk]),
      children: uniqueKinds([...kinds.children, ...childKindsOf(definition)]),
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

function isSameState(a: PersistedState, b: PersistedState): boolean {
  const textOf = ({ revisions, kinds }: PersistedState) => ({
    revisions: revisions.map(({ revision }) => revision),
    kinds: kindsStatus(kinds),
  });
  return deepEqual(textOf(a), textOf(b));
}

function startingRollout(from: string, to: string): DefinitionView['rollout'] {
  const counts = { reached: 0, total: 0, deletions: 0, failed: [] };
  return { from, to, state: 'rolling', ...counts, message: 'Not started' };
}

function rejectionIn(decision: Decision): Rejection | undefined {
  if (decision.kind === 'run') return decision.desired.rejection;
  return decision.kind === 'finalize' ? decision.rejection : undefined;
}

function inactiveReason(decision: Decision): Pick<DefinitionFacts, 'inactive'> {
  if (decision.kind !== 'finalize') return {};
  const { reason, message } = decision;
  if (reason === 'NotRead') return { inactive: { reason, message } };
  return reason === 'Withdrawn'
    ? { inactive: { reason, message: 'Its manifest was removed' } }
    : {};
}
