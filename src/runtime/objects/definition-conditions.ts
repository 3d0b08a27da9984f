import { assertNever } from '../../util/assert-never.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { Refusal } from '../wanted-definition.ts';
import type { DefinitionFacts } from './definition-facts.ts';
import { originText } from './told-definitions.ts';

/** A condition without the times. */
export interface SaidCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** CamelCase. */
  readonly reason: string;
  /** Stable: no times, nothing random. */
  readonly message: string;
}

/** Conditions that are ours; those of others in the same list are left alone. */
export const conditionTypes = [
  'Ready',
  'Accepted',
  'KindAvailable',
  'Permitted',
  'Running',
  'Reconciling',
  'Stalled',
] as const;

/** More is not of use to anybody, and an object has its limits. In characters. */
const messageLength = 16_384;

/** What is said of a definition, the summary first. Pure. */
export function conditionsOf(facts: DefinitionFacts): readonly SaidCondition[] {
  const parts = [accepted(facts), kindAvailable(facts), permitted(facts), running(facts)];
  const { progress, ...ready } = summary(facts, parts);
  const said: readonly SaidCondition[] = [
    ready,
    ...parts,
    ...(progress === 'moves' ? [{ ...ready, type: 'Reconciling', status: 'True' as const }] : []),
    ...(progress === 'stuck' ? [{ ...ready, type: 'Stalled', status: 'True' as const }] : []),
  ];
  // A text may hold half a character, with which a server refuses the whole status.
  return said.map((each) => ({ ...each, message: each.message.toWellFormed() }));
}

function accepted({ origin, wanted, refusal, idle, view }: DefinitionFacts): SaidCondition {
  const type = 'Accepted';
  if (idle !== undefined) return { type, status: 'False', ...idle };
  if (refusal !== undefined) {
    return { type, status: 'False', reason: 'Refused', message: refusalText(refusal) };
  }
  const isTaken = view !== undefined && isRunningState(view);
  return isTaken
    ? { type, status: 'True', reason: 'Accepted', message: acceptedText(origin, wanted) }
    : { type, status: 'Unknown', reason: 'Checking', message: stateMessage(view) };
}

/** Where its text stands, and what is to be said of it all the same. */
function acceptedText(
  origin: DefinitionFacts['origin'],
  wanted: DefinitionFacts['wanted'],
): string {
  const warnings = (wanted?.warnings ?? []).map((warning) => `Warning: ${warning}`);
  return shortened([`From ${originText(origin)}`, ...warnings].join('\n'));
}

/** It compiles against the server's schemas, and its kind is served or waited for. */
function isRunningState({ state: { kind } }: DefinitionView): boolean {
  return kind === 'running' || kind === 'syncing' || kind === 'waiting';
}

/** Every diagnostic, one a line; or why, where there are none. */
export function refusalText({ message, diagnostics }: Refusal): string {
  return shortened(diagnostics.length === 0 ? message : diagnostics.join('\n'));
}

function shortened(text: string): string {
  if (text.length <= messageLength) return text;
  // Never between the halves of a character.
  const head = text.slice(0, messageLength - 4).replace(/[\uD800-\uDBFF]$/, '');
  return `${head}\n...`;
}

function kindAvailable({ view }: DefinitionFacts): SaidCondition {
  const type = 'KindAvailable';
  const unknown = { type, status: 'Unknown', reason: 'NotStarted', message: '' } as const;
  if (view === undefined) return unknown;
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
    case 'refused':
    case 'failing':
      return unknown;
    default:
      return assertNever(kind);
  }
}

function permitted({ view }: DefinitionFacts): SaidCondition {
  const type = 'Permitted';
  const missing =
    view?.state.kind === 'failing' && view.state.isForbidden === true
      ? [view.state.message]
      : (view?.missingRights ?? []);
  if (missing.length > 0) {
    return { type, status: 'False', reason: 'Forbidden', message: shortened(missing.join('\n')) };
  }
  return view?.state.kind === 'running'
    ? { type, status: 'True', reason: 'Permitted', message: '' }
    : { type, status: 'Unknown', reason: 'NotStarted', message: '' };
}

const runningReasons = {
  starting: 'Starting',
  waiting: 'KindMissing',
  syncing: 'Syncing',
  running: 'Running',
  refused: 'Refused',
  failing: 'Failing',
} as const;

function running({ view }: DefinitionFacts): SaidCondition {
  const type = 'Running';
  if (view === undefined) {
    return { type, status: 'False', reason: 'NotStarted', message: '' };
  }
  const { kind } = view.state;
  const message = kind === 'running' ? `Revision ${view.revision}` : stateMessage(view);
  return {
    type,
    status: kind === 'running' ? 'True' : 'False',
    reason: runningReasons[kind],
    message,
  };
}

function stateMessage(view: DefinitionView | undefined): string {
  return view !== undefined && 'message' in view.state ? view.state.message : '';
}

/** `moves`: it comes by itself; `stuck`: somebody has to act; `none`: as it should be. */
interface Summary extends SaidCondition {
  readonly progress: 'moves' | 'stuck' | 'none';
}

/** What stands in the way most. */
function summary(facts: DefinitionFacts, parts: readonly SaidCondition[]): Summary {
  const { view, isPaused, isTerminating } = facts;
  if (isTerminating) return not('Terminating', view?.removal ?? 'It is being removed', 'moves');
  const bad = (type: string) => parts.find((part) => part.type === type && part.status === 'False');
  const refused = bad('Accepted');
  if (refused !== undefined) {
    const progress = refused.reason === 'Removed' ? 'moves' : 'stuck';
    return not(refused.reason, refusedMessage(refused, view), progress);
  }
  if (isPaused)
    return not('Paused', 'Annotation homeostat.dev/paused is on it or in its text', 'stuck');
  const stopping = bad('KindAvailable') ?? bad('Permitted');
  if (stopping !== undefined) return not(stopping.reason, stopping.message, 'stuck');
  if (view === undefined) return not('NotStarted', '', 'moves');
  if (view.state.kind !== 'running') {
    const progress = view.state.kind === 'failing' ? 'stuck' : 'moves';
    return not(runningReasons[view.state.kind], stateMessage(view), progress);
  }
  return rollingOut(view) ?? troubled(view) ?? { ...ready(view), progress: 'none' };
}

function refusedMessage({ message }: SaidCondition, view: DefinitionView | undefined): string {
  const goesOn = view?.state.kind === 'running' ? `Revision ${view.revision} goes on\n` : '';
  return `${goesOn}${message}`;
}

function rollingOut({ rollout }: DefinitionView): Summary | undefined {
  if (rollout === undefined) return undefined;
  const { state, message } = rollout;
  switch (state) {
    case 'held':
      return not('DeletionsHeld', message, 'stuck');
    case 'stopped':
      return not('RolloutStopped', message, 'stuck');
    case 'previewing':
    case 'rolling':
      return not('RollingOut', `From revision ${rollout.from} to ${rollout.to}`, 'moves');
    default:
      return assertNever(state);
  }
}

function troubled({ problems }: DefinitionView): Summary | undefined {
  return problems.length === 0
    ? undefined
    : not('WatchFailing', shortened(problems.join('\n')), 'stuck');
}

function ready({ leftInPlace }: DefinitionView): SaidCondition {
  const message =
    leftInPlace === 0 ? '' : `${leftInPlace} objects match no more and keep their children`;
  return { type: 'Ready', status: 'True', reason: 'Running', message };
}

function not(reason: string, message: string, progress: Summary['progress']): Summary {
  return { type: 'Ready', status: 'False', reason, message, progress };
}
