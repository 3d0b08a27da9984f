import type { OperatorPlan } from '#compile';
import { kindsOf, mayBeIn } from '#definition';
import { type Gvk, gvkKey } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { clustersAnnotationOf } from '#util/stored-names.ts';

/** The member clusters that may have objects of a resource, with the start of the UID of each. */
export type Placements = ReadonlyMap<string, string>;

/** Number of characters of a UID in the annotation. */
const uidLength = 8;

/** The kinds of which the definition may have children in a member. */
export function kindsPlacedIn(
  { children }: OperatorPlan,
  name: string,
  labels: Readonly<Record<string, string>> | undefined,
): readonly Gvk[] {
  const placed = children.filter((child) => mayBeIn(child, name, labels));
  return [...new Map(placed.flatMap(kindsOf).map((gvk) => [gvkKey(gvk), gvk])).values()];
}

/** The placements in the annotation. Authors of resources can edit it: an entry only says where to look. */
export function placementsOf({ metadata }: KubeObject, definition: string): Placements {
  const text = metadata.annotations?.[clustersAnnotationOf(definition)] ?? '';
  return new Map(
    text.split(',').flatMap((entry) => {
      const [, name, uid] = /^([a-z0-9-]{1,63})=([^=]*)$/.exec(entry.trim()) ?? [];
      return name === undefined || uid === undefined ? [] : [[name, uid] as const];
    }),
  );
}

/** The text of the annotation. Undefined: there are no placements. */
export function placementsText(placements: Placements): string | undefined {
  if (placements.size === 0) return undefined;
  return [...placements]
    .map(([name, uid]) => `${name}=${uid}`)
    .sort()
    .join(',');
}

/** The part of a UID that is recorded. */
export function recordedUid(uid: string): string {
  return uid.slice(0, uidLength);
}
