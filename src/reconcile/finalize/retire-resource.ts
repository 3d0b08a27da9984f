import type { Outcome } from '../../controller/index.ts';
import { hasFinalizer } from '../owner.ts';
import type { OperatorContext, Retirement } from '../pass/context.ts';
import { type FinalizeOptions, finalize } from './finalize.ts';

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
