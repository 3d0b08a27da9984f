import { matchesSelector } from '#util/label-selector.ts';
import type {
  ClusterSelector,
  OperatorDefinition,
  PlacementDefinition,
} from './operator-definition.ts';

type Labels = Readonly<Record<string, string>> | undefined;

/** A child or a read. */
export interface Placeable {
  readonly placement?: PlacementDefinition;
}

/** Whether the resources of a definition are in members (`controller.clusters`). Pure. */
export function runsInMembers({ controller }: Pick<OperatorDefinition, 'controller'>): boolean {
  return controller.clusters !== undefined;
}

/** Whether the objects of a child or read are in members. Pure. */
export function isPlaced({ placement }: Placeable): boolean {
  return placement !== undefined;
}

/** Whether a definition has objects in members, while its resources are on the hub. Pure. */
export function placesInMembers({
  children,
  reads,
}: Record<'children' | 'reads', readonly Placeable[]>): boolean {
  return children.some(isPlaced) || reads.some(isPlaced);
}

/** Whether a definition has resources or objects in members. Pure. */
export function worksInMembers(definition: OperatorDefinition): boolean {
  return runsInMembers(definition) || placesInMembers(definition);
}

/** Whether a selector selects a member with these labels. Undefined: it selects none. Pure. */
export function selectsMember(selector: ClusterSelector | undefined, labels: Labels): boolean {
  return selector === 'all' || (selector !== undefined && matchesSelector(selector, labels));
}

/** Whether a child or read may be in the member, by its own name or the selector of `crossCluster`. Pure. */
export function mayBeIn({ placement }: Placeable, name: string, labels: Labels): boolean {
  if (placement === undefined) return false;
  const { cluster, allowed } = placement;
  return allowed === undefined ? cluster === name : selectsMember(allowed, labels);
}
