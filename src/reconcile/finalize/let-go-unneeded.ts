import { hasFinalizer, isControlledBy } from '../owner.ts';
import type { Pass } from '../pass/pass.ts';
import { isDone } from '../pass/pass.ts';
import { takeOffFinalizer } from '../resource/take-off-finalizer.ts';
import { whatIsLeft } from './what-is-left.ts';

/** A definition that was changed may need no finalizer any more: then it is taken off as soon as nothing is left that needs it. */
export async function letGoUnneeded(pass: Pass): Promise<void> {
  const { plan } = pass.context;
  if (plan.isFinalizing || !hasFinalizer(pass.resource, plan.name)) return;
  if (!pass.did.pruned.every(isDone)) return;
  const gone = new Set(pass.did.pruned.map(({ object }) => object.metadata.uid));
  const { objects, problems } = await whatIsLeft(pass);
  const needsUs = objects.some(
    ({ object }) => !gone.has(object.metadata.uid) && !isControlledBy(object, pass.uid),
  );
  const problem = problems[0] ?? (needsUs ? undefined : await takeOffFinalizer(pass));
  if (problem !== undefined) pass.did.finalizerProblem = problem;
}
