import type { ChildPlan } from '../../compile/index.ts';

/** Does an object of this child say which intent it was made of last? A Secret never does. */
export function keepsIntentHash({ gvk, updateStrategy }: ChildPlan): boolean {
  const { type, rollingUpdate } = updateStrategy;
  const isNeeded = type === 'Recreate' || (type === 'Apply' && rollingUpdate !== undefined);
  return isNeeded && !(gvk.group === '' && gvk.kind === 'Secret');
}
