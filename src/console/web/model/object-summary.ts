import { gvkOf } from '#util/gvk.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { objectState } from '#util/object-tree/object-state.ts';
import { readinessOf } from '#util/readiness/readiness-of.ts';
import { pausedAnnotation } from '#util/stored-names.ts';
import type { ResourceRef } from '../contract.ts';

/** What colors and glyphs mean. */
export type Health = 'ready' | 'progressing' | 'failing' | 'unknown';

/** The state of an object in few words. */
export interface ObjectSummary {
  readonly health: Health;
  /** `Ready`, `Progressing`, `1/2 ready`. */
  readonly state: string;
  /** Why it is not ready, on one line. */
  readonly message: string;
}

/** Severity first. */
export const healthOrder: Readonly<Record<Health, number>> = {
  failing: 0,
  progressing: 1,
  unknown: 2,
  ready: 3,
};

/** The state of any object, by the rules of its kind. */
export function summaryOf(object: KubeObject): ObjectSummary {
  const readiness = readinessOf(object);
  const ready = conditionsOf(object).find(({ type }) => type === 'Ready');
  const isCustom = ready !== undefined && object.kind !== 'Pod';
  const reason = textOf(ready?.reason);
  if (isCustom && ready?.status === 'True') return { health: 'ready', state: 'Ready', message: '' };
  const message = messageText(isCustom ? ready?.message : readiness.message);
  const health = healthOf(readiness.state);
  if (health === 'ready') return { health, state: objectState(object) || 'Current', message: '' };
  const state = isCustom && reason !== '' ? reason : objectState(object) || readiness.state;
  return { health, state, message };
}

function healthOf(state: string): Health {
  switch (state) {
    case 'Ready':
      return 'ready';
    case 'Failed':
      return 'failing';
    case 'Progressing':
      return 'progressing';
    default:
      return 'unknown';
  }
}

/** The health of a state of `status.children`. */
export function childHealth(state: string): Health {
  switch (state) {
    case 'Ready':
      return 'ready';
    case 'Failed':
      return 'failing';
    case 'Progressing':
    case 'Deleting':
      return 'progressing';
    default:
      return 'unknown';
  }
}

/** A definition as the overview shows it. */
export interface DefinitionSummary extends ObjectSummary {
  readonly name: string;
  readonly uid: string;
  /** Kind of its resources, and its group; empty: not known yet. */
  readonly kind: string;
  readonly group: string;
  readonly revision: string;
  readonly resources: number;
  readonly ready: number;
  readonly isPaused: boolean;
  /** Time of the last change of a condition. Empty: there is none. */
  readonly since: string;
  readonly rollout: RolloutSummary | undefined;
}

export interface RolloutSummary {
  readonly from: string;
  readonly to: string;
  readonly state: string;
  readonly reached: number;
  readonly total: number;
  readonly deletions: number;
  /** Those of them that hold data. */
  readonly dataObjects: readonly string[];
  /** UIDs of resources that fail with the new revision, and did not before. */
  readonly failed: readonly string[];
}

/** Reads an `OperatorDefinition` object. */
export function definitionSummary(object: KubeObject): DefinitionSummary {
  const status = isJsonObject(object.status) ? object.status : {};
  const { group, kind } = gvkOf(textOf(status.apiVersion), textOf(status.kind));
  const resources = numberOf(status.instances);
  const paused = object.metadata.annotations?.[pausedAnnotation] === 'true';
  return {
    ...summaryOf(object),
    ...lastError(object),
    name: object.metadata.name,
    uid: object.metadata.uid ?? '',
    since: conditionsOf(object).reduce((last, { lastTransitionTime }) => {
      const time = textOf(lastTransitionTime);
      return time > last ? time : last;
    }, ''),
    kind,
    group,
    resources,
    revision: textOf(status.revision),
    ready: numberOf(status.readyInstances),
    isPaused: paused,
    rollout: isJsonObject(status.rollout) ? rolloutOf(status.rollout) : undefined,
  };
}

/** The first line that a user must act on. A rejected change counts, although the previous revision runs. */
function lastError(object: KubeObject): Partial<ObjectSummary> {
  const accepted = conditionsOf(object).find(({ type }) => type === 'Accepted');
  if (accepted?.status !== 'False') return {};
  const [first = ''] = messageText(accepted.message).split('\n');
  return { health: 'failing', state: textOf(accepted.reason) || 'Rejected', message: first };
}

function rolloutOf(rollout: JsonObject): RolloutSummary {
  return {
    from: textOf(rollout.from),
    to: textOf(rollout.to),
    state: textOf(rollout.state),
    reached: numberOf(rollout.reached),
    total: numberOf(rollout.total),
    deletions: numberOf(rollout.deletions),
    dataObjects: Array.isArray(rollout.dataObjects) ? rollout.dataObjects.map(textOf) : [],
    failed: Array.isArray(rollout.failed) ? rollout.failed.map(textOf) : [],
  };
}

export function refOf({
  apiVersion,
  kind,
  metadata: { namespace, name },
}: KubeObject): ResourceRef {
  return { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) };
}

/** `shop/site`, or the name of a cluster-scoped object. */
export function placeOf({ namespace, name }: Pick<ResourceRef, 'namespace' | 'name'>): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Of a message in a page. Messages of API servers and of Homeostat are shorter; the YAML of the object has the whole text. */
const maxMessageLength = 4_000;

/** A message of an object, without its middle if it is very long: a page has many. */
export function messageText(value: unknown): string {
  const text = textOf(value);
  if (text.length <= maxMessageLength) return text;
  const half = maxMessageLength / 2;
  return `${text.slice(0, half)} … (${text.length} characters) … ${text.slice(-half)}`;
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
