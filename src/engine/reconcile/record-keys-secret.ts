import { type Gvk, groupKindKey, gvkOf } from '#util/gvk.ts';
import { recordKeysName } from '#util/stored-names.ts';

const secret = groupKindKey(gvkOf('v1', 'Secret'));

/**
 * Whether an object of this kind and name is the Secret with the keys that sign records. Definitions may neither read nor write one, in any
 * namespace: with the rights of the runtime, a resource could forge records.
 */
export function isRecordKeys(gvk: Gvk, name: string): boolean {
  return name === recordKeysName && groupKindKey(gvk) === secret;
}

/** Why a definition may not use the object. */
export const recordKeysRejection = `metadata.name: A Secret "${recordKeysName}" belongs to the Homeostat runtime`;
