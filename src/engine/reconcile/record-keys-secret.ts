import { type Gvk, groupKindKey, gvkOf } from '#util/gvk.ts';
import { recordKeysName, webhookSecretName } from '#util/stored-names.ts';

const secret = groupKindKey(gvkOf('v1', 'Secret'));

/**
 * Whether an object of this kind and name is the Secret with the keys that sign records, or with those of the conversion webhook. Definitions
 * may neither read nor write one, in any namespace: with the rights of the runtime, a resource could forge records, or answer conversions.
 */
export function isRecordKeys(gvk: Gvk, name: string): boolean {
  const isOurs = name === recordKeysName || name === webhookSecretName;
  return isOurs && groupKindKey(gvk) === secret;
}

/** Why a definition may not use the object. */
export const recordKeysRejection = `metadata.name: A Secret "${recordKeysName}" or "${webhookSecretName}" belongs to the Homeostat runtime`;
