import type { OperatorPlan, ReadPlan } from '#compile';
import type { MergedRule } from './access-rule.ts';

/** Why a rule is needed, for a read. */
export function reasonOfRead({ id }: ReadPlan): string {
  return `its read "${id}"`;
}

/** Says where a rule is on all objects of a kind only because a definition computes the names that it reads. */
export function notesOfComputedNames(
  plans: readonly OperatorPlan[],
  rules: readonly MergedRule[],
): readonly string[] {
  const computed = new Set(
    plans.flatMap(({ name, reads }) =>
      reads
        .filter(({ by, literalNames }) => by !== 'selector' && literalNames === undefined)
        .map((read) => `${name}: ${reasonOfRead(read)}`),
    ),
  );
  return rules.flatMap(({ names, namespaces, resource, reasons }) => {
    if (names !== undefined || !reasons.every((reason) => computed.has(reason))) return [];
    const where = namespaces === undefined ? '' : ` in ${namespaces.join(', ')}`;
    return `${reasons.join('; ')}: the names are computed, so the rule is for all ${resource}${where}; a rule with those in use as "resourceNames" is sufficient`;
  });
}
