import type { OperatorPlan } from '#compile';
import { childLabel, holdsData } from '#reconcile';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { DryRunWrite } from './dry-run-cluster.ts';
import { fieldChanges } from './field-changes.ts';
import type { PlannedChange } from './plan.ts';
import { contentOf, maskChanges, masked, newContentOf } from './planned-object.ts';

/** The field manager of a user's applies. */
export const userManager = 'homeostat-cli';

/** The writes of a reconcile as changes. A deletion with a creation of the same object is one replacement. Masks values of Secrets. */
export function changesOf(
  plan: OperatorPlan,
  writes: readonly DryRunWrite[],
): readonly PlannedChange[] {
  const replaced = new Set(
    writes.flatMap((write) =>
      write.kind === 'apply' && write.isReplacement ? [identityOf(write.manifest, write)] : [],
    ),
  );
  return writes.flatMap((write): readonly PlannedChange[] => {
    if (write.kind === 'delete') {
      if (replaced.has(identityOf(write.object, write))) return [];
      const lost = dataLoss(plan, write.object);
      return [{ action: 'delete', ...titleOf(plan, write.object, write), ...lost, fields: [] }];
    }
    if (write.kind === 'metadata') {
      const fields = fieldChanges(contentOf(write.before), contentOf(write.after));
      return fields.length === 0
        ? []
        : [{ action: 'change', ...titleOf(plan, write.after, write), fields }];
    }
    const change = appliedChange(plan, write);
    // A resource that a user applies as it is.
    return write.fieldManager === userManager && change.fields.length === 0 ? [] : [change];
  });
}

function appliedChange(
  plan: OperatorPlan,
  write: Extract<DryRunWrite, { kind: 'apply' }>,
): PlannedChange {
  const { manifest, before, after, isReplacement, isStatus } = write;
  const isNew = before === undefined;
  // A new object is shown as it is sent, without the defaults of the server.
  const fields = isStatus
    ? fieldChanges(statusOf(before), statusOf(after))
    : isNew
      ? fieldChanges({}, newContentOf(manifest))
      : fieldChanges(contentOf(before), contentOf(isReplacement ? manifest : after));
  const isSecret = mayHoldSecret(plan, manifest);
  const shown = maskChanges(fields, { kind: manifest.kind, isSecret });
  const action = isReplacement ? 'replace' : isNew ? 'create' : 'change';
  const lost = isReplacement ? dataLoss(plan, before ?? manifest) : {};
  return { action, ...titleOf(plan, manifest, write), ...lost, fields: shown };
}

function statusOf(object: KubeObject | undefined) {
  return { status: object?.status };
}

function dataLoss(plan: OperatorPlan, object: KubeObject): Pick<PlannedChange, 'losesData'> {
  return holdsData(plan, { object, cluster: undefined }) ? { losesData: true } : {};
}

/** May expressions of a definition put values of a Secret into the object? Pure. */
export function mayHoldSecret(
  plan: OperatorPlan,
  { apiVersion, kind, metadata }: KubeObject,
): boolean {
  const { gvk } = plan.definition.kind;
  if (kind === gvk.kind && gvkOf(apiVersion, kind).group === gvk.group)
    return plan.secrecy !== 'none';
  const id = metadata.labels?.[childLabel];
  const child = plan.children.find((each) => each.id === id);
  if (child !== undefined) return child.secrecy !== 'none';
  // The target of a patch.
  return plan.secrecy !== 'none' || plan.reads.some(({ secrecy }) => secrecy !== 'none');
}

type Place = Pick<DryRunWrite, 'cluster'>;

function identityOf({ apiVersion, kind, metadata }: KubeObject, { cluster = '' }: Place): string {
  return `${cluster} ${apiVersion} ${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
}

/** The name of an object may be a value of a Secret, too. */
function titleOf(plan: OperatorPlan, object: KubeObject, { cluster }: Place) {
  const { apiVersion, kind, metadata } = object;
  const { namespace, name } = metadata;
  const head = { ...(cluster !== undefined && { cluster }), apiVersion, kind };
  const child = plan.children.find(({ id }) => id === metadata.labels?.[childLabel]);
  if (child?.secrecy === 'all') return { ...head, name: masked };
  return {
    ...head,
    ...(namespace !== undefined && { namespace }),
    name,
  };
}
