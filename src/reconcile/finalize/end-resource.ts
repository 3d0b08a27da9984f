import type { Outcome } from '../../controller/index.ts';
import { parseKey } from '../../util/object-key.ts';
import { hasFinalizer, isPaused, isTerminating } from '../owner.ts';
import type { OperatorContext } from '../pass/context.ts';
import { beginPass } from '../pass/pass.ts';
import type { PassTurn } from '../pass/pass-turn.ts';
import { stateOf } from '../pass/resource-state.ts';
import { takeOffFinalizer } from '../resource/take-off-finalizer.ts';
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
