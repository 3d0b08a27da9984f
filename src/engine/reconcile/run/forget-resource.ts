import type { Outcome } from '#controller';
import { hasFinalizer } from '../ownership-claims.ts';
import type { OperatorContext } from '../pass/context.ts';

/** Drops the state of a resource. Only events of the resource or its children enqueue it then. */
export function forgetResource(context: OperatorContext, key: string): void {
  const { states, watches, obstacles } = context;
  states.delete(key);
  obstacles.forget(key);
  watches.forget(key);
}

/** Drops the state of a resource that is no longer to be reconciled. */
export function dropResource(context: OperatorContext, key: string): Outcome {
  forgetResource(context, key);
  // What is in flight ends by itself.
  for (const feature of context.features.all) void feature.forget?.(key);
  const { watches, plan } = context;
  const unmatched = watches.resources.unmatched(key)?.object;
  // With our finalizer, it is released once its inventory is empty: the borrowed watches are needed until then.
  const isHeld = unmatched !== undefined && hasFinalizer(unmatched, plan.name);
  if (!isHeld) watches.releaseInventoryKinds(key);
  return { kind: 'done' };
}
