import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import type { ObjectState } from './http-metrics.ts';

/** The state of an object, from its status. Pure. */
export function objectStateOf(object: KubeObject): ObjectState {
  const conditions = conditionsOf(object);
  const isTrue = (type: string) =>
    conditions.some((each) => each.type === type && each.status === 'True');
  // The API server sets `Ready` at first.
  if (!conditions.some(({ type }) => type === 'Synced')) return 'pending';
  if (!isTrue('Ready')) return 'failing';
  return isTrue('Synced') ? 'ready' : 'stale';
}
