import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { KubeError } from '../kube-error.ts';
import type {
  EditableMetadata,
  EditMetadataOptions,
  ManagedFieldsEntry,
  MetadataPatch,
  StoredObject,
} from '../roles.ts';

/** Maximum attempts after conflicts. */
const maxTries = 5;

/** Requests of an edit. */
interface EditRequests {
  /** Reads the object; undefined for 404. */
  read(): Promise<KubeObject | undefined>;
  /** A JSON merge patch of the main resource. */
  patch(metadata: MetadataPatch): Promise<StoredObject>;
}

/** Edits the metadata of the object with this UID and retries conflicts; see {@link Writer.editMetadata}. */
export async function editMetadata(
  requests: EditRequests,
  { uid, cached, change }: Pick<EditMetadataOptions, 'uid' | 'cached' | 'change'>,
): Promise<StoredObject | undefined> {
  let current: KubeObject | undefined = cached ?? (await requests.read());
  for (let tries = 1; ; tries++) {
    if (current === undefined || current.metadata.uid !== uid) return undefined;
    const metadata: EditableMetadata = current.metadata;
    const patch = change(metadata);
    if (patch === undefined) return undefined;
    const { resourceVersion } = metadata;
    try {
      // The resourceVersion protects concurrent changes to the same lists.
      return await requests.patch({
        ...patch,
        uid,
        ...(resourceVersion && { resourceVersion }),
      });
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.code === 'not-found' || error.code === 'uid-mismatch') return undefined;
      if (error.code !== 'conflict' || tries === maxTries) throw error;
    }
    current = await requests.read();
  }
}

/** The valid entries of an object's `managedFields`. */
export function readManagedFields({ metadata }: KubeObject): readonly ManagedFieldsEntry[] {
  const entries = 'managedFields' in metadata ? metadata.managedFields : undefined;
  return Array.isArray(entries) ? entries.flatMap(readEntry) : [];
}

function readEntry(entry: unknown): readonly ManagedFieldsEntry[] {
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

/** A patch that removes a manager's Update entry of the main resource. */
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
