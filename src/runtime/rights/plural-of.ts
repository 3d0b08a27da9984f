import type { OperatorPlan } from '../../compile/index.ts';
import { type GroupKind, type Gvk, gvkKey } from '../../util/gvk.ts';

/** The plural of a kind, and whether that is a guess. */
export interface Plural {
  readonly plural: string;
  readonly isGuessed: boolean;
}

/** What is known of kinds without a cluster. */
export type KnownPlurals = (gvk: Gvk) => string | undefined;

/** Plurals as the definitions themselves and `known` tell them; of any other kind it is the one that nearly all CRDs have. */
export function createPluralOf(
  plans: readonly OperatorPlan[],
  known: KnownPlurals,
): (gvk: Gvk) => Plural {
  const own = new Map<string, string>();
  for (const { definition } of plans) {
    if (definition.kind.source !== 'crd') continue;
    own.set(groupKindKey(definition.kind.gvk), definition.kind.plural);
  }
  const remembered = new Map<string, Plural>();
  return (gvk) => {
    const key = gvkKey(gvk);
    const before = remembered.get(key);
    if (before !== undefined) return before;
    const certain = own.get(groupKindKey(gvk)) ?? known(gvk);
    const plural = { plural: certain ?? guess(gvk.kind), isGuessed: certain === undefined };
    remembered.set(key, plural);
    return plural;
  };
}

function groupKindKey({ group, kind }: GroupKind): string {
  return `${group}/${kind}`;
}

/** As code generators for CRDs make it. */
function guess(kind: string): string {
  const singular = kind.toLowerCase();
  if (/(?:s|x|z|ch|sh)$/.test(singular)) return `${singular}es`;
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  return `${singular}s`;
}
