import { type Placements, placementsOf } from '../members/placements.ts';
import type { Pass } from '../pass/pass.ts';

/** The placements of the resource, with those that the pass has added. */
export function currentPlacements({ context, resource, effects }: Pass): Placements {
  return effects.placements ?? placementsOf(resource, context.plan.name);
}

const none: ReadonlySet<string> = new Set();

/** The member clusters that may have objects of the resource, without those that are given up. */
export function placesOf(pass: Pass): ReadonlySet<string> {
  if (pass.members === undefined) return none;
  const recorded = [...pass.findings.inventory.recorded.values()];
  const names = [
    ...currentPlacements(pass).keys(),
    ...recorded.flatMap(({ cluster }) => cluster ?? []),
  ];
  return new Set(names.filter((name) => !isGivenUp(pass, name)));
}

/** Is nothing of the resource searched or waited for in this cluster any more? */
export function isGivenUp(pass: Pass, cluster: string): boolean {
  const uid = currentPlacements(pass).get(cluster) ?? '';
  return pass.members?.isGivenUp(cluster, uid) ?? false;
}
