import type { ChildPlan, OperatorPlan } from '../../compile/index.ts';
import { type Gvk, gvkOf } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { childLabel } from '../names.ts';
import type { Pass } from '../pass/pass.ts';
import { type Confidence, unaccounted } from '../secrecy.ts';

/** The child that an object is of; undefined: the definition has none such any more. */
export function childPlanOf({ context }: Pass, object: KubeObject): ChildPlan | undefined {
  const id = object.metadata.labels?.[childLabel];
  return planOfChild(context.plan, id, gvkOf(object.apiVersion, object.kind));
}

/** The child of this id and kind, in whatever version. */
export function planOfChild(
  { children, onDelete }: OperatorPlan,
  id: string | undefined,
  { group, kind }: Gvk,
): ChildPlan | undefined {
  return [...children, ...(onDelete?.children ?? [])].find(
    (child) => child.id === id && child.gvk.group === group && child.gvk.kind === kind,
  );
}

/** What messages may say of an object. */
export function aboutObject(pass: Pass, object: KubeObject): Confidence {
  return childPlanOf(pass, object) ?? unaccounted;
}
