import type { JsonObject } from '../../util/json.ts';
import { isJsonObject } from '../../util/json.ts';
import { conditionsIn, type DefinitionStatus, type RolloutStatus } from './definition-status.ts';

/** An Event without what it is about. */
export interface StatusEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: 'Load' | 'RollOut';
  readonly note: string;
}

/** What has happened between two states of a definition: one Event for each change, none for what lasts. Pure. */
export function eventsBetween(before: JsonObject, after: DefinitionStatus): readonly StatusEvent[] {
  return [...loading(before, after), ...rollingOut(before, after)];
}

function loading(before: JsonObject, after: DefinitionStatus): readonly StatusEvent[] {
  const last = conditionsIn(before).find(({ type }) => type === 'Accepted');
  const now = after.conditions.find(({ type }) => type === 'Accepted');
  if (now === undefined || now.status === 'Unknown') return [];
  const action = 'Load';
  if (now.status === 'True') {
    const isKnown = last?.status === 'True' && before.revision === after.revision;
    // What follows the first line are warnings: whoever edits a ConfigMap looks here.
    const [, ...warnings] = now.message.split('\n');
    const note = [`Revision ${after.revision} (${after.source})`, ...warnings].join('\n');
    return isKnown ? [] : [{ type: 'Normal', reason: 'Accepted', action, note }];
  }
  const isKnown = last?.status === 'False' && last.message === now.message;
  const type = now.reason === 'Removed' ? 'Normal' : 'Warning';
  return isKnown ? [] : [{ type, reason: now.reason, action, note: now.message }];
}

function rollingOut(before: JsonObject, after: DefinitionStatus): readonly StatusEvent[] {
  const last = isJsonObject(before.rollout) ? before.rollout : undefined;
  const now = after.rollout;
  const action = 'RollOut';
  if (now === undefined) {
    const isDone = last !== undefined && last.to === after.revision;
    const note = `Revision ${after.revision} has reached all ${last?.total} resources`;
    return isDone ? [{ type: 'Normal', reason: 'RolloutFinished', action, note }] : [];
  }
  if (last?.state === now.state && last?.to === now.to) return [];
  const note = `From revision ${now.from} to ${now.to}: ${now.reached} of ${now.total} resources`;
  const reason = rolloutReasons[now.state];
  if (reason === undefined) return [];
  const type = now.state === 'rolling' ? 'Normal' : 'Warning';
  const deletions = now.state === 'held' ? `, ${now.deletions} objects would be deleted` : '';
  return [{ type, reason, action, note: `${note}${deletions}` }];
}

const rolloutReasons: Readonly<Record<RolloutStatus['state'], string>> = {
  rolling: 'RolloutStarted',
  held: 'DeletionsHeld',
  stopped: 'RolloutStopped',
};
