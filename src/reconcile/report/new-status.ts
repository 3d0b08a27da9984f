import { conditionsOf } from '../../util/conditions-of.ts';
import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { Pass } from '../pass/pass.ts';
import { conditionTypesOf, statusKeysOf } from '../status-fields.ts';

type Status = Readonly<Record<string, unknown>>;

/**
 * The resource with a status that is about to be written: what others write into it stays. `status`: the fields that are known by now;
 * the author's are all among them.
 */
export function withNewStatus({ context, resource }: Pass, status: Status): KubeObject {
  const { plan } = context;
  const written = new Set(statusKeysOf(plan));
  const before: Status = isJsonObject(resource.status) ? resource.status : {};
  const kept = Object.entries(before).filter(
    ([key]) => !(key in plan.definition.status) && !(written.has(key) && key in status),
  );
  const next = { ...Object.fromEntries(kept), ...status };
  if (!Array.isArray(status.conditions)) return { ...resource, status: next };
  const ours = conditionTypesOf(plan);
  const others = conditionsOf(resource).filter(({ type }) => !ours.has(type));
  return { ...resource, status: { ...next, conditions: [...others, ...status.conditions] } };
}
