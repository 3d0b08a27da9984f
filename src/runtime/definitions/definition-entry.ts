import type { KubeError } from '../../kube/roles.ts';
import { rightText } from '../../reconcile/index.ts';
import type { Logger } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { conditionsOf } from '../../util/kube-object.ts';
import { type DefinitionView, isStarting } from '../definition-view.ts';
import type { Rejection } from '../desired-definition.ts';
import type { SharedOptions } from '../runner-options.ts';
import type { Decision } from './decide.ts';
import type { DefinitionFacts, PersistedState } from './definition-conditions.ts';
import { DefinitionTaskRunner } from './definition-task-runner.ts';
import { DefinitionTasks, type MemberTasks } from './definition-tasks.ts';
import { PersistedStateTracker } from './persisted-state.ts';
import type { DefinitionRecord } from './record.ts';

interface DefinitionEntryOptions extends SharedOptions {
  readonly record: DefinitionRecord;
  /** @default undefined: the runtime has no members */
  readonly memberTasks?: MemberTasks;
  /** Stops all work. */
  readonly signal: AbortSignal;
  /** The status must be written. */
  readonly onChange: () => void;
}

/** A start within this time is not written to the status. */
const startGraceMs = 2_000;
/** As {@link startGraceMs}, in members: an unreachable one is reported after 15 s. */
const membersGraceMs = 20_000;

/** One definition in this process: its tasks and its persisted state. */
export class DefinitionEntry {
  readonly name: string;
  readonly uid: string | undefined;
  readonly tasks: DefinitionTasks;
  readonly #persisted: PersistedStateTracker;
  #lastView: DefinitionView | undefined;
  #writeError: KubeError | undefined;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #createdMs: number;
  /** The rejection logged last. */
  #loggedRejection: Rejection | undefined;

  constructor({
    record,
    memberTasks: members,
    signal,
    onChange,
    ...shared
  }: DefinitionEntryOptions) {
    const { name, revisions, kinds } = record;
    this.name = name;
    this.uid = record.object.metadata.uid;
    this.#logger = shared.logger;
    this.#clock = shared.clock;
    this.#createdMs = shared.clock.monotonicMs();
    this.#persisted = new PersistedStateTracker({ revisions, kinds }, onChange);
    const persisted = this.#persisted;
    const hub = new DefinitionTaskRunner(
      {
        ...shared,
        name,
        kinds: () => persisted.state.kinds,
        onDone: onChange,
        record: (located, ending) => persisted.record(located, ending),
        onKindsGone: (gone) => persisted.dropKinds(gone),
      },
      signal,
    );
    // Kinds of members are recorded by member.
    const noKinds = { resources: [], children: [] };
    this.tasks = new DefinitionTasks({
      ...{ name, hub, members, signal },
      record: (located, ending) => persisted.record(located, ending, noKinds),
    });
  }

  get state(): PersistedState {
    return this.#persisted.state;
  }

  /** Takes over the state from a status that another process wrote. */
  syncState({ revisions, kinds }: DefinitionRecord): void {
    this.#persisted.sync({ revisions, kinds });
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
    this.#persisted.prune(view);
    const { desired } = decision.kind === 'run' ? decision : {};
    const rejection =
      desired?.rejection ??
      view.rejection ??
      (view.state.kind === 'rejected' ? { ...view.state, revision: view.revision } : undefined);
    const rollout = view.rollout ?? this.#persisted.rollout;
    return {
      origin,
      view,
      isPaused,
      isDeleted,
      warnings: desired?.warnings ?? [],
      persisted: this.#persisted.state,
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
    const { view } = this;
    const isNew = conditionsOf(object).length === 0;
    if (!isStarting(view) || isNew || this.#persisted.isAwaited || this.#writeError !== undefined)
      return 0;
    return Math.max(
      0,
      this.#createdMs +
        (view.isSettling === true ? membersGraceMs : startGraceMs) -
        this.#clock.monotonicMs(),
    );
  }

  /** Call when the status contains `state`. */
  onStatusWritten(persisted: PersistedState): void {
    this.#writeError = undefined;
    this.#persisted.onWritten(persisted);
  }
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
