import type { ObjectRef, StoredObject } from '../../kube/roles.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { clusterWrite, type Pass } from '../pass/pass.ts';

/** The field that autoscalers and `kubectl scale` write through the subresource `scale`. */
const scaleField = ['spec', 'replicas'] as const;

/** What is about to be applied to an existing object. */
interface NextApply {
  readonly ref: ObjectRef;
  readonly manifest: KubeObject;
  readonly manager: string;
}

/**
 * Releases the replicas of an object that leave the manifest of their manager, before the apply without them. A server resets a field that
 * its only manager drops to the default: a running Deployment would be scaled to 1 before an autoscaler acts (docs/decisions/0009). The
 * value stays and belongs to no manager, until an autoscaler or a later manifest sets it.
 * @throws KubeError
 */
export async function releaseScale(
  pass: Pass,
  { ref, manifest, manager }: NextApply,
  { object, appliedBy }: StoredObject,
): Promise<void> {
  const { cluster } = pass.context;
  const mayLeave =
    replicasOf(object) !== undefined &&
    replicasOf(manifest) === undefined &&
    appliedBy.includes(manager);
  if (!mayLeave || cluster.resourceFor(ref.gvk)?.hasScale !== true) return;
  await cluster.editMetadata(
    ref,
    {
      ...clusterWrite(pass),
      uid: object.metadata.uid ?? '',
      keeps: scaleField,
      change: ({ managedFields }) => {
        if (!Array.isArray(managedFields)) return undefined;
        const left = managedFields.map((entry: unknown) => withoutScale(entry, manager));
        const isOurs = left.some((entry, index) => entry !== managedFields[index]);
        return isOurs ? { managedFields: left } : undefined;
      },
    },
    pass.signal,
  );
}

function replicasOf({ spec }: KubeObject): unknown {
  return isJsonObject(spec) ? spec.replicas : undefined;
}

/** The entry of a field manager without the replicas; the same entry if it is of another one, or has none. */
function withoutScale(entry: unknown, manager: string): unknown {
  if (!isJsonObject(entry) || entry.manager !== manager || entry.operation !== 'Apply')
    return entry;
  const { fieldsV1, subresource } = entry;
  if (subresource !== undefined || !isJsonObject(fieldsV1)) return entry;
  const { 'f:spec': spec, ...others } = fieldsV1;
  if (!isJsonObject(spec) || spec['f:replicas'] === undefined) return entry;
  const { 'f:replicas': _, ...rest } = spec;
  const left: JsonObject = Object.keys(rest).length === 0 ? others : { ...others, 'f:spec': rest };
  return { ...entry, fieldsV1: left };
}
