import type { Outcome } from '../../controller/index.ts';
import { parseKey } from '../../util/object-key.ts';
import { hasFinalizer, isControlledBy, isPaused, isTerminating } from '../owner.ts';
import type { OperatorContext, PassTurn, Retirement } from '../pass/context.ts';
import { beginPass, isDone, type Pass } from '../pass/pass.ts';
import { stateOf } from '../pass/resource-state.ts';
import { takeOffFinalizer } from '../resource/write-metadata.ts';
import { type FinalizeOptions, finalize } from './finalize.ts';
import { whatIsLeft } from './what-is-left.ts';

/** A resource that is being deleted. Without our finalizer owner references and the garbage collector do the rest. */
export async function endResource(
  context: OperatorContext,
  options: FinalizeOptions,
): Promise<Outcome> {
  const isHeld = hasFinalizer(options.resource, context.plan.name);
  return isHeld ? finalize(context, options) : { kind: 'done' };
}

/**
 * An object with our finalizer that is no resource of the definition any more: its deletion is brought to its end as any other, and
 * while it lives it is let go as soon as nothing of ours is left of it.
 * @returns undefined when there is nothing to be done.
 */
export async function finalizeUnmatched(
  context: OperatorContext,
  key: string,
  turn: PassTurn,
): Promise<Outcome | undefined> {
  const { namespace, name } = parseKey(key);
  const resource = context.watches.resources.unmatched(namespace, name)?.object;
  if (resource === undefined || !hasFinalizer(resource, context.plan.name)) return undefined;
  if (isPaused(resource)) return { kind: 'done' };
  if (isTerminating(resource)) return finalize(context, { key, resource, turn });
  const state = stateOf(context, key, resource);
  const pass = beginPass({ context, key, resource, state, turn });
  const { objects, problems } = await whatIsLeft(pass);
  if (objects.length > 0 || problems.length > 0) return undefined;
  const refused = await takeOffFinalizer(pass);
  if (refused?.error !== undefined) throw refused.error;
  return undefined;
}

/**
 * A resource that lives while its definition is being removed: its children go as if it were deleted, `onDelete` first, or stay as they
 * are. It stays itself.
 */
export async function retireResource(
  context: OperatorContext,
  { removesChildren, onRemoved }: Retirement,
  options: FinalizeOptions,
): Promise<Outcome> {
  const { plan } = context;
  // With `onDelete` a resource without our finalizer has no children (yet, or any more), and there is nothing to prepare for.
  const isBare = plan.onDelete !== undefined && !hasFinalizer(options.resource, plan.name);
  if (removesChildren && !isBare) return finalize(context, options);
  onRemoved(options.key);
  return { kind: 'done' };
}

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
