import { definesCrd, type LocatedDefinition } from '#definition';
import { gvkKey } from '#util/gvk.ts';

/** A definition's claim to be the only writer of a kind's status. */
export interface KindClaim {
  readonly name: string;
  readonly located: LocatedDefinition;
  /** Whether an earlier revision with the same claim was accepted. */
  readonly isAccepted: boolean;
  /** Creation time of its object, in ms since the epoch. */
  readonly createdMs: number;
}

/**
 * Returns the claim that owns the status of a kind: the definition that declares the CRD, else the one accepted before, else the oldest.
 * Pure.
 */
export function ownerOf(claims: readonly KindClaim[]): KindClaim | undefined {
  const rankOf = ({ located, isAccepted }: KindClaim) =>
    Number(definesCrd(located.definition)) * 2 + Number(isAccepted);
  return claims.toSorted(
    (a, b) => rankOf(b) - rankOf(a) || a.createdMs - b.createdMs || (a.name < b.name ? -1 : 1),
  )[0];
}

/** Explains why the definition cannot own its kind. Pure. */
export function kindConflictMessage(
  { located: { definition } }: KindClaim,
  owner: KindClaim,
): string {
  const kind = `kind "${gvkKey(definition.kind.gvk)}"`;
  if (!definesCrd(definition))
    return `The status of ${kind} belongs to the definition "${owner.name}"`;
  return `The ${kind} belongs to the definition "${owner.name}"; if you renamed the definition, restore its name or see "Renaming a definition" in docs/operations.md`;
}
