import type { EditableMetadata, FieldOwner, MetadataPatch } from '../../kube/roles.ts';
import { appliedAnnotation, managedByLabel } from '../../reconcile/index.ts';
import { isJsonObject } from '../../util/json.ts';
import { lastApplied, mirrorManager } from './mirror.ts';
import { sourceLabel, sourceRefAnnotation, sourceRuntimeAnnotation } from './names.ts';

/** Has somebody else than us said what the definition is to be, also if he has said the same? Pure. */
export function isWrittenByOthers(owners: readonly FieldOwner[]): boolean {
  return owners.some(
    ({ manager, subresource, fields }) =>
      manager !== mirrorManager && subresource === undefined && holdsText(fields),
  );
}

/** `spec` is one value. Who applies in the client leaves a note, and has nothing else of a text that was the same. */
function holdsText({ 'f:spec': spec, 'f:metadata': metadata }: FieldOwner['fields']): boolean {
  const annotations = isJsonObject(metadata) ? metadata['f:annotations'] : undefined;
  const note = isJsonObject(annotations) ? annotations[`f:${lastApplied}`] : undefined;
  return spec !== undefined || note !== undefined;
}

/** What makes an object that is its own source of a mirror: nothing says any more that it is ours. Pure. */
export function handedOver({ managedFields }: EditableMetadata): MetadataPatch {
  return {
    labels: { [sourceLabel]: null, [managedByLabel]: null },
    annotations: {
      [sourceRefAnnotation]: null,
      [sourceRuntimeAnnotation]: null,
      [appliedAnnotation]: null,
    },
    // Else the next apply of whoever has it now would conflict with us.
    ...(Array.isArray(managedFields) && {
      managedFields: managedFields.filter((entry) => !isOurs(entry)),
    }),
  };
}

function isOurs(entry: unknown): boolean {
  return isJsonObject(entry) && entry.manager === mirrorManager && entry.operation === 'Apply';
}
