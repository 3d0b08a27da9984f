import type { ConditionContent } from '#util/condition.ts';
import { assertNever } from '#util/homeostat-error.ts';
import { abandonAnnotation } from '#util/stored-names.ts';
import type { DefinitionView } from '../definition-view.ts';
import { type DefinitionOrigin, originText, type Rejection } from '../desired-definition.ts';
import { truncated } from '../error-message.ts';
import type { RecordGate } from '../running/record-gate.ts';
import { notReady, type Summary } from '../view-part.ts';
import { blockedBy, viewParts } from '../view-parts.ts';

/** Condition types that Homeostat writes; others in the list are kept. */
export const conditionTypes = [
  'Ready',
  'Accepted',
  'KindAvailable',
  'Permitted',
  'Running',
  'Reconciling',
  'Stalled',
] as const;

/** The conditions of a definition, `Ready` first. Pure. */
export function definitionConditions(facts: DefinitionFacts): readonly ConditionContent[] {
  const parts = [accepted(facts), kindAvailable(facts), permitted(facts), running(facts)];
  const { progress, ...ready } = summary(facts, parts);
  const conditions: readonly ConditionContent[] = [
    ready,
    ...parts,
    ...(progress === 'moves' ? [{ ...ready, type: 'Reconciling', status: 'True' as const }] : []),
    ...(progress === 'stuck' ? [{ ...ready, type: 'Stalled', status: 'True' as const }] : []),
  ];
  // A lone surrogate would make the API server reject the status.
  return conditions.map((each) => ({ ...each, message: each.message.toWellFormed() }));
}

function accepted({
  origin,
  warnings,
  rejection,
  inactive,
  view,
  persisted,
}: DefinitionFacts): ConditionContent {
  const type = 'Accepted';
  if (inactive !== undefined)
    return { type, status: 'False', reason: inactive.reason, message: inactive.message };
  if (rejection !== undefined) {
    return { type, status: 'False', reason: 'Rejected', message: rejectionText(rejection) };
  }
  const isRecorded = view.revision !== '' && persisted.revisions[0]?.revision === view.revision;
  return isRecorded || isRunningState(view)
    ? { type, status: 'True', reason: 'Accepted', message: acceptedMessage(origin, warnings) }
    : { type, status: 'Unknown', reason: 'Checking', message: stateMessage(view) };
}

/** The origin, then warnings. */
function acceptedMessage(origin: DefinitionFacts['origin'], warnings: readonly string[]): string {
  const lines = warnings.map((warning) => `Warning: ${warning}`);
  return truncated([`From ${originText(origin)}`, ...lines].join('\n'));
}

/** It compiles with the server's schemas, and its kind is served or awaited. */
function isRunningState({ state: { kind } }: DefinitionView): boolean {
  return kind === 'running' || kind === 'syncing' || kind === 'waiting';
}

/** One diagnostic per line; the message if there are none. */
export function rejectionText({ message, diagnostics }: Rejection): string {
  return truncated(diagnostics.length === 0 ? message : diagnostics.join('\n'));
}

function kindAvailable({ view }: DefinitionFacts): ConditionContent {
  const type = 'KindAvailable';
  const unknown = { type, status: 'Unknown', reason: 'NotStarted', message: '' } as const;
  const { kind } = view.state;
  switch (kind) {
    case 'waiting':
      return { type, status: 'False', reason: 'KindMissing', message: stateMessage(view) };
    case 'syncing':
    case 'running':
      return {
        type,
        status: 'True',
        reason: 'Served',
        message: `${view.kind} of ${view.apiVersion}`,
      };
    case 'starting':
    case 'rejected':
    case 'failing':
    case 'finalizing':
    case 'uninstalling':
      return unknown;
    default:
      return assertNever(kind);
  }
}

function permitted({ view }: DefinitionFacts): ConditionContent {
  const type = 'Permitted';
  const missing =
    view.state.kind === 'failing' && view.state.isForbidden === true
      ? [view.state.message]
      : (view.missingRights ?? []);
  if (missing.length > 0) {
    return { type, status: 'False', reason: 'Forbidden', message: truncated(missing.join('\n')) };
  }
  return view.state.kind === 'running'
    ? { type, status: 'True', reason: 'Permitted', message: '' }
    : { type, status: 'Unknown', reason: 'NotStarted', message: '' };
}

const runningReasons = {
  starting: 'Starting',
  waiting: 'KindMissing',
  syncing: 'Syncing',
  running: 'Running',
  rejected: 'Rejected',
  failing: 'Failing',
  finalizing: 'Finalizing',
  uninstalling: 'Uninstalling',
} as const;

function running({ view }: DefinitionFacts): ConditionContent {
  const type = 'Running';
  const { kind } = view.state;
  const message = kind === 'running' ? `Revision ${view.revision}` : stateMessage(view);
  return {
    type,
    status: kind === 'running' ? 'True' : 'False',
    reason: runningReasons[kind],
    message,
  };
}

function stateMessage({ state }: DefinitionView): string {
  return 'message' in state ? state.message : '';
}

/** The most important blocking condition. */
function summary(facts: DefinitionFacts, parts: readonly ConditionContent[]): Summary {
  const { view, isPaused, isDeleted } = facts;
  if (isDeleted) return terminating(facts);
  const bad = (type: string) => parts.find((part) => part.type === type && part.status === 'False');
  const rejected = bad('Accepted');
  if (rejected !== undefined) {
    return notReady(rejected.reason, rejectedMessage(rejected, view), 'stuck');
  }
  if (isPaused)
    return notReady(
      'Paused',
      'Paused by annotation homeostat.dev/paused on the object or in its manifest',
      'stuck',
    );
  const blocking = bad('KindAvailable') ?? bad('Permitted');
  if (blocking !== undefined) return notReady(blocking.reason, blocking.message, 'stuck');
  if (view.state.kind !== 'running') {
    const progress = view.state.kind === 'failing' ? 'stuck' : 'moves';
    return notReady(runningReasons[view.state.kind], stateMessage(view), progress);
  }
  return blockedBy(view) ?? { ...ready(view), progress: 'none' };
}

/** The object is deleted when no resource has its finalizer any more. */
function terminating({ view, isPaused }: DefinitionFacts): Summary {
  const { state, instances } = view;
  if (state.kind === 'uninstalling') return notReady('Terminating', state.message, 'moves');
  if (isPaused)
    return notReady('Terminating', 'Paused by annotation homeostat.dev/paused', 'stuck');
  if (view.clusters !== undefined && state.kind === 'finalizing')
    return notReady('Terminating', state.message, 'moves');
  if (instances === 0) return notReady('Terminating', 'Being deleted', 'moves');
  const which = instances === 1 ? 'One resource has' : `${instances} resources have`;
  const message = `${which} its finalizer: delete them, or annotate the definition with ${abandonAnnotation}: "true" to orphan them and their children`;
  return notReady('Terminating', message, 'stuck');
}

function rejectedMessage({ message }: ConditionContent, view: DefinitionView): string {
  const kept = view.state.kind === 'running' ? `Revision ${view.revision} keeps running\n` : '';
  return `${kept}${message}`;
}

function ready(view: DefinitionView): ConditionContent {
  const { orphaned } = view;
  const kept = `${orphaned} objects no longer match the selector and keep their children`;
  const notes = viewParts.flatMap((part) => part.notes?.(view) ?? []);
  const messages = [...(orphaned === 0 ? [] : [kept]), ...notes];
  return { type: 'Ready', status: 'True', reason: 'Running', message: messages.join('\n') };
}

/** Everything that determines a definition's status. */
export interface DefinitionFacts {
  readonly origin: DefinitionOrigin;
  /** Why the newest revision is rejected, by the checks or by the cluster. */
  readonly rejection?: Rejection;
  /** Warnings of the accepted revision: `file:line:column: message. Hint`, one each. */
  readonly warnings: readonly string[];
  /** Why the object does not run. Undefined: it runs. */
  readonly inactive?: { readonly reason: 'NotRead' | 'Withdrawn'; readonly message: string };
  readonly view: DefinitionView;
  readonly isPaused: boolean;
  readonly isDeleted: boolean;
  /** What its status is to record. */
  readonly persisted: ReturnType<RecordGate['report']>;
}
