import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { conditionsOf, conditionTypes, type SaidCondition } from './definition-conditions.ts';
import type { DefinitionFacts } from './definition-facts.ts';
import { originText } from './told-definitions.ts';

/** The status of a definition's object. */
export interface DefinitionStatus {
  readonly conditions: readonly (SaidCondition & {
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
}

/** How far a roll-out has come. */
export interface RolloutStatus {
  readonly from: string;
  readonly to: string;
  readonly state: string;
  readonly reached: number;
  readonly total: number;
  readonly deletions: number;
}

export interface StatusOptions {
  readonly facts: DefinitionFacts;
  /** As it is now: its conditions say since when something is so. */
  readonly object: KubeObject;
  /** The generation of the text that the facts are about. Undefined: an older one than the object has; the last one stays. */
  readonly generation: number | undefined;
  /** ISO 8601. */
  readonly now: string;
}

/** What the object is to say. Pure. */
export function statusOf({ facts, object, generation, now }: StatusOptions): DefinitionStatus {
  const before = liveStatus(object);
  const observed = generation ?? numberOf(before.observedGeneration);
  const { view, origin } = facts;
  const conditions = conditionsOf(facts).map((said) => {
    const last = conditionsIn(before).find(({ type }) => type === said.type);
    const since = last?.status === said.status ? last.lastTransitionTime : undefined;
    return {
      ...said,
      ...(observed === undefined ? {} : { observedGeneration: observed }),
      lastTransitionTime: typeof since === 'string' ? since : now.replace(/\.\d+Z$/, 'Z'),
    };
  });
  return {
    conditions,
    ...(observed === undefined ? {} : { observedGeneration: observed }),
    source: originText(origin),
    ...kindOf(facts),
    ...(view && {
      revision: view.revision,
      instances: view.instances,
      ...(view.readyInstances === undefined ? {} : { readyInstances: view.readyInstances }),
      ...(view.rollout && { rollout: rolloutOf(view.rollout) }),
    }),
  };
}

function rolloutOf({ from, to, state, reached, total, deletions }: RolloutStatus): RolloutStatus {
  return { from, to, state, reached, total, deletions };
}

function kindOf({ view, wanted }: DefinitionFacts): Pick<DefinitionStatus, 'apiVersion' | 'kind'> {
  if (view !== undefined) return { apiVersion: view.apiVersion, kind: view.kind };
  const gvk = wanted?.located.definition.kind.gvk;
  return gvk === undefined ? {} : { kind: gvk.kind };
}

/** Does the object say this already? Conditions of others do not count. Pure. */
export function saysAlready(object: KubeObject, wanted: DefinitionStatus): boolean {
  const live = liveStatus(object);
  const { conditions: _, ...fields } = live;
  const { conditions, ...wantedFields } = wanted;
  const ours = conditionsIn(live).filter(({ type }) => isOurs(type));
  return (
    deepEqual(fields, wantedFields) &&
    ours.length === conditions.length &&
    conditions.every((condition) =>
      ours.some((other) => other.type === condition.type && deepEqual(other, condition)),
    )
  );
}

/** Is the difference one of counts alone, for which nobody waits? Pure. */
export function differsInCountsOnly(object: KubeObject, wanted: DefinitionStatus): boolean {
  const live = liveStatus(object);
  const { instances, readyInstances, rollout } = wanted;
  const counts = {
    ...(instances === undefined ? {} : { instances }),
    ...(readyInstances === undefined ? {} : { readyInstances }),
    ...(isSameStep(live.rollout, rollout) && { rollout }),
  };
  return saysAlready({ ...object, status: { ...live, ...counts } }, wanted);
}

function isSameStep(live: Json | undefined, rollout: RolloutStatus | undefined): boolean {
  if (!isJsonObject(live) || rollout === undefined) return false;
  return live.state === rollout.state && live.to === rollout.to;
}

/** The conditions that an object carries. */
export function conditionsIn(status: JsonObject): readonly JsonObject[] {
  const { conditions } = status;
  return Array.isArray(conditions) ? conditions.filter(isJsonObject) : [];
}

/** The status as the server has it. */
export function liveStatus({ status }: KubeObject): JsonObject {
  return isJsonObject(status) ? status : {};
}

function isOurs(type: Json | undefined): boolean {
  return conditionTypes.some((ours) => ours === type);
}

function numberOf(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
