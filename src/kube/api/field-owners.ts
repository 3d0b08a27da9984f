import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { EditableMetadata, FieldOwner, MetadataPatch } from '../roles.ts';

/** The entries of an object's `managedFields`, as far as they can be read. */
export function readFieldOwners({ metadata }: KubeObject): readonly FieldOwner[] {
  const entries = 'managedFields' in metadata ? metadata.managedFields : undefined;
  return Array.isArray(entries) ? entries.flatMap(readEntry) : [];
}

function readEntry(entry: unknown): readonly FieldOwner[] {
  if (!isJsonObject(entry)) return [];
  const { manager, operation, subresource, fieldsV1 } = entry;
  if (typeof manager !== 'string' || !isJsonObject(fieldsV1)) return [];
  return [
    {
      manager,
      operation: operation === 'Apply' ? 'Apply' : 'Update',
      fields: fieldsV1,
      ...(typeof subresource === 'string' && subresource !== '' ? { subresource } : {}),
    },
  ];
}

/** What takes the entry of a manager that updated the main resource out of the managed fields. */
export function withoutUpdatesOf(
  manager: string,
  { managedFields }: EditableMetadata,
): MetadataPatch | undefined {
  if (!Array.isArray(managedFields)) return undefined;
  const kept = managedFields.filter(
    (entry) =>
      entry.manager !== manager || entry.operation !== 'Update' || entry.subresource !== undefined,
  );
  return kept.length < managedFields.length ? { managedFields: kept } : undefined;
}
