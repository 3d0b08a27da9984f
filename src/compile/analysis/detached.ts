import type { ChildDefinition, OperatorDefinition } from '../../definition/index.ts';
import type { OperatorPlan } from '../operator-plan.ts';

/** Whose children they are. */
export interface Owner {
  readonly definition: OperatorDefinition;
  /** Of its kind; of one of `for` the server tells it. Undefined: not known, and not relied on. */
  readonly scope: OperatorPlan['scope'];
}

/**
 * Does a child carry only our labels and no owner reference (definition.md section 7)? Where none would be understood, and where
 * the garbage collector would not do what the definition says.
 */
export function isDetached(child: ChildDefinition, { definition, scope }: Owner): boolean {
  // A cluster-scoped owner is understood everywhere.
  const isUnderstood = child.crossNamespace === false || scope === 'Cluster';
  return (
    definition.onDelete !== undefined ||
    !isUnderstood ||
    child.deletionPolicy === 'Orphan' ||
    child.deleteWhen !== undefined ||
    (child.ordered && child.forEach !== undefined) ||
    (child.adopt === 'IfUnowned' && child.adoptedPolicy === 'Orphan')
  );
}

/** Does a resource need our finalizer, so that what is detached goes with it? Also to be asked of a definition that does not compile. */
export function isFinalizing(owner: Owner): boolean {
  const { definition } = owner;
  return (
    definition.onDelete !== undefined ||
    definition.children.some((child) => isDetached(child, owner))
  );
}
