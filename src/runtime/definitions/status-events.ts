import { isJsonObject, type JsonObject } from '../../util/json.ts';
import type { DefinitionStatus, RolloutStatus } from './definition-status.ts';
import { conditionsIn } from './record.ts';

/** An Event without its object. */
export interface StatusEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: 'Load' | 'RollOut';
  readonly note: string;
}

/** Returns one Event for each change between two statuses. Pure. */
export function eventsBetween(before: JsonObject, after: DefinitionStatus): readonly StatusEvent[] {
  return [...loading(before, after), ...rollingOut(before, after), ...failing(before, after)];
}

/** One Event for each member in which it began to fail. */
function failing(before: JsonObject, { clusters }: DefinitionStatus): readonly StatusEvent[] {
  const last = isJsonObject(before.clusters) ? before.clusters.failing : undefined;
  const known = (Array.isArray(last) ? last : []).filter(isJsonObject);
  return (clusters?.failing ?? [])
    .filter(
      ({ cluster, reason }) =>
        !known.some((each) => each.cluster === cluster && each.reason === reason),
    )
    .map(({ cluster, message }) => ({
      ...{ type: 'Warning', reason: 'ClustersFailing', action: 'Load' },
      note: `Cluster "${cluster}": ${message}`,
    }));
}

function loading(before: JsonObject, after: DefinitionStatus): readonly StatusEvent[] {
  const last = conditionsIn(before).find(({ type }) => type === 'Accepted');
  const now = after.conditions.find(({ type }) => type === 'Accepted');
  if (now === undefined || now.status === 'Unknown') return [];
  const action = 'Load';
  if (now.status === 'True') {
    // A restarted process accepts the same revision again.
    const isKnown = last?.status === 'True' && before.revision === after.revision;
    // Lines after the first are warnings; they are repeated for authors who read Events of the ConfigMap.
    const [, ...warnings] = now.message.split('\n');
    const note = [`Revision ${after.revision} (${after.source})`, ...warnings].join('\n');
    return isKnown ? [] : [{ type: 'Normal', reason: 'Accepted', action, note }];
  }
  const isKnown = last?.status === 'False' && last.message === now.message;
  return isKnown ? [] : [{ type: 'Warning', reason: now.reason, action, note: now.message }];
}

function rollingOut(before: JsonObject, after: DefinitionStatus): readonly StatusEvent[] {
  const last = isJsonObject(before.rollout) ? before.rollout : undefined;
  const now = after.rollout;
  const action = 'RollOut';
  const { instances = 0 } = after;
  // Without resources there is no roll-out.
  if (now === undefined) {
    const isDone = last !== undefined && last.to === after.revision && instances > 0;
    const note = `Revision ${after.revision} has reached all ${instances} resources`;
    return isDone ? [{ type: 'Normal', reason: 'RolloutFinished', action, note }] : [];
  }
  if (last?.state === now.state && last?.to === now.to) return [];
  // Resources are not counted before the first step.
  const total = now.total === 0 ? instances : now.total;
  if (total === 0) return [];
  const note = `From revision ${now.from} to ${now.to}: ${now.reached} of ${total} resources`;
  const reason = rolloutReasons[now.state];
  if (reason === undefined) return [];
  const type = now.state === 'rolling' ? 'Normal' : 'Warning';
  const deletions = now.state === 'held' ? `, it would delete ${now.deletions} objects` : '';
  return [{ type, reason, action, note: `${note}${deletions}` }];
}

const rolloutReasons: Readonly<Partial<Record<RolloutStatus['state'], string>>> = {
  rolling: 'RolloutStarted',
  held: 'DeletionsHeld',
  stopped: 'RolloutStopped',
};
