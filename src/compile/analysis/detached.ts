import type { ChildDefinition, OperatorDefinition } from '../../definition/index.ts';

/**
 * Does a child carry only our labels and no owner reference (definition.md section 7)? Where none would be understood, and where
 * the garbage collector would not do what the definition says.
 */
export function isDetached(child: ChildDefinition, definition: OperatorDefinition): boolean {
  // A cluster-scoped owner is understood everywhere. The scope of a kind of `for` may not be known: then it is not relied on.
  const isUnderstood = child.crossNamespace === false || definition.kind.scope === 'Cluster';
  return (
    definition.onDelete !== undefined ||
    !isUnderstood ||
    child.deletionPolicy === 'Orphan' ||
    child.deleteWhen !== undefined ||
    (child.ordered && child.forEach !== undefined) ||
    (child.adopt === 'IfUnowned' && child.adoptedPolicy === 'Orphan')
  );
}

/** Does a resource need our finalizer, so that what is detached goes with it? */
export function isFinalizing(definition: OperatorDefinition): boolean {
  return (
    definition.onDelete !== undefined ||
    definition.children.some((child) => isDetached(child, definition))
  );
}
