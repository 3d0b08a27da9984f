import { conditionFor } from '../../util/condition.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { conditionsOf, type KubeObject } from '../../util/kube-object.ts';
import type { RolloutView } from '../definition-view.ts';
import { originText } from '../desired-definition.ts';
import {
  conditionTypes,
  type DefinitionFacts,
  definitionConditions,
} from './definition-conditions.ts';
import { kindsStatus, liveStatus } from './record.ts';

/** Progress of a roll-out. */
export type RolloutStatus = Omit<RolloutView, 'message'>;

export interface StatusOptions {
  readonly facts: DefinitionFacts;
  /** The live object, for `lastTransitionTime`. */
  readonly object: KubeObject;
  /** ISO 8601. */
  readonly now: string;
}

/** Builds the status of an `OperatorDefinition`. Pure. */
export function statusOf({ facts, object, now }: StatusOptions) {
  const { generation } = object.metadata;
  const { view, origin, persisted, rollout } = facts;
  const { revision, kind, apiVersion, instances, readyInstances, clusters } = view;
  const conditions = definitionConditions(facts).map((each) => conditionFor(each, { object, now }));
  return {
    conditions,
    ...(generation !== undefined && { observedGeneration: generation }),
    source: originText(origin),
    ...(kind !== '' && { apiVersion, kind }),
    ...(revision !== '' && { revision }),
    instances,
    ...(readyInstances !== undefined && { readyInstances }),
    ...(rollout && { rollout: rolloutOf(rollout) }),
    ...(clusters && { clusters: { ...clusters, unreachable: clusters.unreachable.length } }),
    // The accepted revision first.
    revisions: persisted.revisions,
    kinds: kindsStatus(persisted.kinds),
  };
}

/** Status of an `OperatorDefinition`. */
export type DefinitionStatus = ReturnType<typeof statusOf>;

function rolloutOf({ message: _, ...rollout }: RolloutView): RolloutStatus {
  return rollout;
}

/** Whether the object already has this status, ignoring conditions of other writers. Pure. */
export function hasStatus(object: KubeObject, desired: DefinitionStatus): boolean {
  const live = liveStatus(object);
  const { conditions: _, ...fields } = live;
  const { conditions, ...wantedFields } = desired;
  const ours = conditionsOf(object).filter(({ type }) => isOurs(type));
  return (
    deepEqual(fields, wantedFields) &&
    ours.length === conditions.length &&
    conditions.every((condition) =>
      ours.some((other) => other.type === condition.type && deepEqual(other, condition)),
    )
  );
}

/** Whether only counts differ, which are not urgent. Pure. */
export function differsInCountsOnly(object: KubeObject, desired: DefinitionStatus): boolean {
  const live = liveStatus(object);
  const { instances, readyInstances, rollout } = desired;
  const counts = {
    instances,
    ...(readyInstances !== undefined && { readyInstances }),
    ...(isSameStep(live.rollout, rollout) && { rollout }),
  };
  return hasStatus({ ...object, status: { ...live, ...counts } }, desired);
}

function isSameStep(live: Json | undefined, rollout: RolloutStatus | undefined): boolean {
  if (!isJsonObject(live) || rollout === undefined) return false;
  return live.state === rollout.state && live.to === rollout.to;
}

function isOurs(type: Json | undefined): boolean {
  return conditionTypes.some((ours) => ours === type);
}

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
      type: 'Warning',
      reason: 'ClustersFailing',
      action: 'Load',
      note: `Cluster "${cluster}": ${message}`,
    }));
}

function loading(before: JsonObject, after: DefinitionStatus): readonly StatusEvent[] {
  const last = conditionsOf({ status: before }).find(({ type }) => type === 'Accepted');
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
  const { instances } = after;
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
  const deletions = now.state === 'held' ? `, it would delete ${deletionsText(now)}` : '';
  return [{ type, reason, action, note: `${note}${deletions}` }];
}

function deletionsText({ deletions, dataObjects = [] }: RolloutStatus): string {
  const count = deletions === 1 ? '1 object' : `${deletions} objects`;
  return dataObjects.length === 0 ? count : `${count}, some of which hold data`;
}

const rolloutReasons: Readonly<Partial<Record<RolloutStatus['state'], string>>> = {
  rolling: 'RolloutStarted',
  held: 'DeletionsHeld',
  stopped: 'RolloutStopped',
};
