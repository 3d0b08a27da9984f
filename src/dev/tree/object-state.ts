import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';

type Fields = Readonly<Record<string, unknown>>;

/** How an object is doing, in a few words; empty when it tells nothing. */
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

function conditionState(status: Fields): string {
  const ready = conditionOf(status, 'Ready') ?? conditionOf(status, 'Available');
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
