import { parseIdentity } from '#reconcile';
import { type GroupKind, groupKindKey } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { OwnPart } from '#util/stored-names.ts';
import { statusOfOwn } from '../definitions/install-tasks.ts';
import { listOf } from '../recorded-state.ts';

/** The kinds of the objects that a definition has on record (`status.install`, `status.admission`). Pure. */
export function recordedInstallKinds(
  object: KubeObject | undefined,
  part: OwnPart = 'install',
): readonly GroupKind[] {
  const status = object && statusOfOwn(object, part);
  const kinds = listOf(status?.childInventory).flatMap((entry) => parseIdentity(entry)?.kind ?? []);
  return distinctKinds(kinds);
}

/** Each kind once. Pure. */
export function distinctKinds(kinds: readonly GroupKind[]): readonly GroupKind[] {
  return [...new Map(kinds.map((kind) => [groupKindKey(kind), kind])).values()];
}
