import { conditionFor } from '#util/condition.ts';
import { deepEqual } from '#util/deep-equal.ts';
import type { Json, JsonObject } from '#util/json.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { originText } from '../desired-definition.ts';
import { kindsStatus, liveStatus } from '../recorded-state.ts';

import type { StatusEvent } from '../view-part.ts';
import { fieldsOfParts, statusOfParts, viewParts } from '../view-parts.ts';
import {
  conditionTypes,
  type DefinitionFacts,
  definitionConditions,
} from './definition-conditions.ts';
import { ownParts } from './install-tasks.ts';

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
  const { view, origin, persisted } = facts;
  const { revision, kind, apiVersion, instances, readyInstances } = view;
  const conditions = definitionConditions(facts).map((each) => conditionFor(each, { object, now }));
  return {
    conditions,
    ...(generation !== undefined && { observedGeneration: generation }),
    source: originText(origin),
    ...(kind !== '' && { apiVersion, kind }),
    ...(revision !== '' && { revision }),
    instances,
    ...(readyInstances !== undefined && { readyInstances }),
    ...statusOfParts(facts),
    // The accepted revision first.
    revisions: persisted.revisions,
    kinds: kindsStatus(persisted.kinds),
  };
}

/** Status of an `OperatorDefinition`. */
export type DefinitionStatus = ReturnType<typeof statusOf>;

/** Whether the object already has this status, ignoring conditions of other writers. Pure. */
export function hasStatus(object: KubeObject, desired: DefinitionStatus): boolean {
  const live = liveStatus(object);
  // The objects of the definition itself have a writer of their own.
  const fields = Object.fromEntries(
    Object.entries(live).filter(([name]) => name !== 'conditions' && !isOwnPart(name)),
  );
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
  const { instances, readyInstances } = desired;
  const counts = {
    instances,
    ...(readyInstances !== undefined && { readyInstances }),
    ...fieldsOfParts((part) => part.countsOf?.(live, desired)),
  };
  return hasStatus({ ...object, status: { ...live, ...counts } }, desired);
}

function isOwnPart(field: string): boolean {
  return ownParts.some((part) => part === field);
}

function isOurs(type: Json | undefined): boolean {
  return conditionTypes.some((ours) => ours === type);
}

/** Returns one Event for each change between two statuses. Pure. */
export function eventsBetween(before: JsonObject, after: DefinitionStatus): readonly StatusEvent[] {
  const ofParts = viewParts.flatMap((part) => part.events?.(before, after) ?? []);
  return [...loading(before, after), ...ofParts];
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
