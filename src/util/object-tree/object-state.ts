import { isJsonObject } from '../json.ts';
import type { KubeObject } from '../kube-object.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Built-in kinds whose state is not a condition. */
const kindsWithState: ReadonlySet<string> = new Set([
  ...['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Pod', 'Job'],
]);

/** The state of an object in a few words; empty if the object has none. */
export function objectState(object: KubeObject): string {
  if (object.metadata.deletionTimestamp !== undefined) return 'being deleted';
  const spec = fieldsOf(object.spec);
  const status = fieldsOf(object.status);
  switch (object.kind) {
    case 'Deployment':
    case 'ReplicaSet':
    case 'StatefulSet':
      return `${status.readyReplicas ?? 0}/${spec.replicas ?? 1} ready`;
    case 'DaemonSet':
      return `${status.numberReady ?? 0}/${status.desiredNumberScheduled ?? 0} ready`;
    case 'Pod':
      return podState(status);
    case 'Job':
      return jobState(status);
    default:
      return conditionState(status);
  }
}

function podState(status: Fields): string {
  const phase = String(status.phase ?? '');
  const ready = conditionOf(status, 'Ready');
  return phase === 'Running' && ready?.status === 'False' ? 'Running, not ready' : phase;
}

function jobState(status: Fields): string {
  for (const type of ['Complete', 'Failed', 'Suspended']) {
    if (conditionOf(status, type)?.status === 'True') return type;
  }
  return `${status.active ?? 0} active`;
}

/** Why a custom resource is not ready; empty if it is ready or gives no reason. */
export function unreadyMessage({ kind, metadata, status }: KubeObject): string {
  if (kindsWithState.has(kind) || metadata.deletionTimestamp !== undefined) return '';
  const ready = readinessOf(fieldsOf(status));
  const isStuck = ready?.status === 'False' && ready.reason !== 'Progressing';
  return isStuck && typeof ready.message === 'string' ? ready.message : '';
}

function readinessOf(status: Fields): Fields | undefined {
  return conditionOf(status, 'Ready') ?? conditionOf(status, 'Available');
}

function conditionState(status: Fields): string {
  const ready = readinessOf(status);
  if (ready === undefined) return typeof status.phase === 'string' ? status.phase : '';
  const reason = typeof ready.reason === 'string' ? ready.reason : '';
  if (ready.status === 'True') return String(ready.type);
  return `not ${ready.type}${reason === '' ? '' : `: ${reason}`}`;
}

function conditionOf({ conditions }: Fields, type: string): Fields | undefined {
  if (!Array.isArray(conditions)) return undefined;
  return conditions.filter(isJsonObject).find((condition) => condition.type === type);
}

function fieldsOf(value: unknown): Fields {
  return isJsonObject(value) ? value : {};
}
