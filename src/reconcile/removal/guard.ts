import type { StoredObject } from '../../kube/roles.ts';
import { type Problem, problemOfRender } from '../failure.ts';
import { childPlanOf } from '../ownership/child-plan.ts';
import type { Pass } from '../pass/pass.ts';
import { isGuarded } from './leaving.ts';

/** May an object go, as far as its child's `deleteWhen` is concerned? */
export type Leave =
  | { readonly kind: 'granted' }
  /** It stays; `message` says why, for people. */
  | { readonly kind: 'held'; readonly message: string }
  | { readonly kind: 'failed'; readonly problem: Problem };

const granted: Leave = { kind: 'granted' };

/**
 * Asks `deleteWhen` whether an object that is to go (dropped, replaced, or its resource deleted) may go now. It is asked again when
 * something it reads changes.
 */
export async function mayGo(pass: Pass, { object }: StoredObject): Promise<Leave> {
  const plan = childPlanOf(pass, object);
  if (plan === undefined || !plan.hasDeleteWhen) {
    // An accepted definition that has no such guard any more says nothing against it; one that is broken cannot say.
    return pass.context.isFinishing && isGuarded(object)
      ? { kind: 'failed', problem: broken }
      : granted;
  }
  const may = await pass.wanting.mayGo(plan.id, object);
  switch (may.kind) {
    case 'value':
      return may.value
        ? granted
        : { kind: 'held', message: 'stays while "deleteWhen" is not true' };
    case 'missing':
      return { kind: 'held', message: 'stays while "deleteWhen" is not true' };
    case 'waiting':
      return { kind: 'held', message: `stays: "deleteWhen" waits for ${may.on.join(', ')}` };
    case 'failed':
      return { kind: 'failed', problem: problemOfRender(may.failure) };
  }
}

const broken: Problem = {
  reason: 'DefinitionBroken',
  message: 'Only its definition, which is broken, can say when it may go ("deleteWhen")',
  code: 'definition-broken',
  kind: 'waiting',
};
