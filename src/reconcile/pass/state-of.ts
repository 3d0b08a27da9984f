import type { KubeObject } from '../../util/kube-object.ts';
import type { OperatorContext } from '../context.ts';
import { createResourceState, type ResourceState } from '../resource-state.ts';

/** What is remembered of this very resource: of an earlier one of its name nothing. */
export function stateOf(
  { states }: OperatorContext,
  key: string,
  resource: KubeObject,
): ResourceState {
  const { uid = '' } = resource.metadata;
  const known = states.get(key);
  const state = known?.uid === uid ? known : createResourceState(uid);
  states.set(key, state);
  return state;
}
