import type { RefAt, StoredObject } from '#kube/roles.ts';
import { type FieldSteps, valueAtSteps } from '#util/field-path.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { withoutOwned } from '../intent/field-steps.ts';
import { clusterWrite, type Pass } from '../pass/pass.ts';

/** The field that autoscalers and `kubectl scale` write through the subresource `scale`. */
const scaleField: FieldSteps = ['spec', 'replicas'];

/** What is about to be applied to an existing object. */
interface NextApply {
  readonly ref: RefAt;
  readonly manifest: KubeObject;
  readonly manager: string;
  /** Fields that keep their value when they leave the manifest, beside the replicas. @default none */
  readonly left?: readonly FieldSteps[] | undefined;
}

/**
 * Releases the fields of an object that leave the manifest of their manager and keep their value, before the apply without them: the replicas
 * of a kind with the subresource `scale`, and those of `fields.leave`. A server resets a field that its only manager drops to the default,
 * or removes it: a running Deployment would be scaled to 1 before an autoscaler acts (docs/decisions/0009). The value stays and belongs to no
 * manager, until another manager or a later manifest sets it.
 * @throws KubeError
 */
export async function releaseFields(
  pass: Pass,
  next: NextApply,
  { object, appliedBy }: StoredObject,
): Promise<void> {
  const { ref, manifest, manager } = next;
  if (!appliedBy.includes(manager)) return;
  const keeps = keptFields(pass, next).filter(
    (steps) =>
      valueAtSteps(object, steps) !== undefined && valueAtSteps(manifest, steps) === undefined,
  );
  if (keeps.length === 0) return;
  await pass.context.cluster.editMetadata(
    ref,
    {
      ...clusterWrite(pass),
      uid: object.metadata.uid ?? '',
      keeps,
      change: ({ managedFields }) => {
        if (!Array.isArray(managedFields)) return undefined;
        const left = managedFields.map((entry: unknown) => withoutFields(entry, manager, keeps));
        const isOurs = left.some((entry, index) => entry !== managedFields[index]);
        return isOurs ? { managedFields: left } : undefined;
      },
    },
    pass.signal,
  );
}

function keptFields({ context }: Pass, { ref, left = [] }: NextApply): readonly FieldSteps[] {
  return context.cluster.resourceFor(ref.gvk)?.hasScale === true ? [scaleField, ...left] : left;
}

/** The entry of a field manager without these fields; the same entry if it is of another one, or has none of them. */
function withoutFields(entry: unknown, manager: string, fields: readonly FieldSteps[]): unknown {
  if (!isJsonObject(entry) || entry.manager !== manager || entry.operation !== 'Apply')
    return entry;
  const { fieldsV1, subresource } = entry;
  if (subresource !== undefined || !isJsonObject(fieldsV1)) return entry;
  const owned = fields.reduce<Readonly<Record<string, unknown>>>(withoutOwned, fieldsV1);
  return owned === fieldsV1 ? entry : { ...entry, fieldsV1: owned };
}
