import type { LocatedDefinition, ServedKind } from '../definition/index.ts';

/**
 * Do two texts of one definition work on the same kind? Else the later one is another definition under the same name: nothing of the
 * earlier one is rolled over to it.
 */
export function isSameKind(a: LocatedDefinition, b: LocatedDefinition): boolean {
  return identityOf(a) === identityOf(b);
}

/** Equal for definitions that work on the same kind, wherever it comes from. */
export function kindIdOf({ kind }: { readonly kind: ServedKind }): string {
  return `${kind.gvk.group}/${kind.gvk.kind}`;
}

function identityOf({ definition }: LocatedDefinition): string {
  const { kind } = definition;
  // Of one CRD nothing else can be another: the server refuses it another kind or scope, and what ran goes on.
  return kind.source === 'crd' ? `crd ${kind.crd.metadata.name}` : `for ${kindIdOf(definition)}`;
}
