import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject, type Json } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { ClusterFailure, DefinitionView, RolloutView } from '../definition-view.ts';
import { originText } from '../desired-definition.ts';
import {
  conditionsOf,
  conditionTypes,
  type DefinitionFacts,
  type StatusCondition,
} from './definition-conditions.ts';
import { conditionsIn, kindsStatus, liveStatus, type RecordedRevision } from './record.ts';

/** Status of an `OperatorDefinition`. */
export interface DefinitionStatus {
  readonly conditions: readonly (StatusCondition & {
    readonly observedGeneration?: number;
    readonly lastTransitionTime: string;
  })[];
  readonly observedGeneration?: number;
  readonly source: string;
  readonly revision?: string;
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly instances?: number;
  readonly readyInstances?: number;
  readonly rollout?: RolloutStatus;
  readonly clusters?: {
    readonly selected: number;
    readonly running: number;
    readonly unreachable: number;
    readonly failing: readonly ClusterFailure[];
  };
  /** The accepted revision first. */
  readonly revisions: readonly RecordedRevision[];
  readonly kinds: { readonly resources: readonly string[]; readonly children: readonly string[] };
}

/** Progress of a roll-out. */
export type RolloutStatus = Omit<RolloutView, 'message'>;

export interface StatusOptions {
  readonly facts: DefinitionFacts;
  /** The live object, for `lastTransitionTime`. */
  readonly object: KubeObject;
  /** ISO 8601. */
  readonly now: string;
}

/** Builds the status. Pure. */
export function statusOf({ facts, object, now }: StatusOptions): DefinitionStatus {
  const before = liveStatus(object);
  const { generation: observed } = object.metadata;
  const { view, origin, persisted, rollout } = facts;
  const conditions = conditionsOf(facts).map((condition) => {
    const last = conditionsIn(before).find(({ type }) => type === condition.type);
    const since = last?.status === condition.status ? last.lastTransitionTime : undefined;
    return {
      ...condition,
      ...(observed === undefined ? {} : { observedGeneration: observed }),
      lastTransitionTime: typeof since === 'string' ? since : now.replace(/\.\d+Z$/, 'Z'),
    };
  });
  return {
    conditions,
    ...(observed === undefined ? {} : { observedGeneration: observed }),
    source: originText(origin),
    ...kindOf(view),
    ...(view.revision === '' ? {} : { revision: view.revision }),
    instances: view.instances,
    ...(view.readyInstances === undefined ? {} : { readyInstances: view.readyInstances }),
    ...(rollout && { rollout: rolloutOf(rollout) }),
    ...(view.clusters && {
      clusters: { ...view.clusters, unreachable: view.clusters.unreachable.length },
    }),
    revisions: persisted.revisions,
    kinds: kindsStatus(persisted.kinds),
  };
}

function rolloutOf({ message: _, ...rollout }: RolloutView): RolloutStatus {
  return rollout;
}

function kindOf({
  apiVersion,
  kind,
}: DefinitionView): Pick<DefinitionStatus, 'apiVersion' | 'kind'> {
  return kind === '' ? {} : { apiVersion, kind };
}

/** Whether the object already has this status, ignoring conditions of other writers. Pure. */
export function hasStatus(object: KubeObject, desired: DefinitionStatus): boolean {
  const live = liveStatus(object);
  const { conditions: _, ...fields } = live;
  const { conditions, ...wantedFields } = desired;
  const ours = conditionsIn(live).filter(({ type }) => isOurs(type));
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
    ...(instances === undefined ? {} : { instances }),
    ...(readyInstances === undefined ? {} : { readyInstances }),
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
