import type { ServedKind, ServedNamespaces } from '#definition';
import type { EditableMetadata } from '#kube/roles.ts';
import { definitionLabel, finalizerOf } from '#reconcile';
import type { GroupKind, Gvk } from '#util/gvk.ts';
import { crdGvk, storedKind } from '../crd/crd-definition.ts';
import { withSynced } from '../crd/wait-for-crd.ts';
import type { RecordedKinds } from '../recorded-state.ts';
import { servedKinds } from '../served-kinds.ts';
import { retryUntilDone } from '../waits.ts';
import { type FinalizeOptions, finalizeKind } from './finalize-kind.ts';

export interface FinalizeKindsOptions extends FinalizeOptions {
  readonly kinds: RecordedKinds;
  /** Namespaces of the definition. @default all */
  readonly namespaces?: ServedNamespaces;
  /** Only count resources. @default false */
  readonly isPaused?: boolean;
  /** Called at every change with the number of resources that have the finalizer. `isCounted`: those of all kinds. */
  readonly onRemaining: (remaining: number, isCounted: boolean) => void;
}

/**
 * Finalizes the resources of all kinds of a definition. Resolves when no resource has the finalizer any more; rejects when the signal
 * aborts.
 */
export async function finalizeKinds(
  options: FinalizeKindsOptions,
  signal: AbortSignal,
): Promise<void> {
  const { kinds, namespaces, isPaused = false, name } = options;
  const remaining = new Map<GroupKind, number>();
  const finalize = async (kind: GroupKind) => {
    const onRemaining = (count: number) => {
      remaining.set(kind, count);
      const total = remaining.values().reduce((sum, each) => sum + each, 0);
      options.onRemaining(total, remaining.size === kinds.resources.length);
    };
    const served = await servedKind(options, kind, signal);
    // Its resources were deleted with the kind.
    if (served === undefined) return onRemaining(0);
    const finalized = {
      kind: served,
      childKinds: kinds.children,
      isPaused,
      onRemaining,
      ...(namespaces && { namespaces }),
    };
    await finalizeKind(options, finalized, signal);
  };
  const retrying = {
    ...options,
    signal,
    fields: { definition: name },
    message: 'Resources cannot be finalized, will retry',
  } as const;
  await Promise.all(kinds.resources.map((kind) => retryUntilDone(() => finalize(kind), retrying)));
  signal.throwIfAborted();
}

/** The live kind. Its status is included only if the definition declared its CRD. */
async function servedKind(
  { cluster, name }: FinalizeKindsOptions,
  kind: GroupKind,
  signal: AbortSignal,
): Promise<ServedKind | undefined> {
  const type = await cluster.findKind(kind, signal);
  if (type === undefined) return undefined;
  const { gvk, plural } = type;
  const flow = { name, priority: 'object' } as const;
  const crd = gvk.group.includes('.')
    ? await cluster.get({ gvk: crdGvk, name: `${plural}.${gvk.group}` }, { flow }, signal)
    : undefined;
  const isBrought = crd?.object.metadata.labels?.[definitionLabel] === name;
  return (isBrought ? storedKind(crd.object) : undefined) ?? { source: 'for', gvk };
}

interface AbandonOptions extends Pick<FinalizeOptions, 'cluster' | 'name' | 'logger'> {
  readonly kinds: RecordedKinds;
}

/**
 * Removes the definition's finalizer from all resources and orphans them with their children.
 * @throws KubeError
 */
export async function abandonResources(
  options: AbandonOptions,
  signal: AbortSignal,
): Promise<void> {
  const { cluster, kinds, logger, name } = options;
  logger.info(
    { definition: name },
    'Definition is abandoned, its resources and their children are orphaned',
  );
  for (const gvk of await servedKinds(kinds.resources, cluster, signal))
    await abandonKind(options, gvk, signal);
}

async function abandonKind(
  { cluster, name: definition }: AbandonOptions,
  gvk: Gvk,
  signal: AbortSignal,
): Promise<void> {
  const finalizer = finalizerOf(definition);
  const change = ({ finalizers = [] }: EditableMetadata) =>
    finalizers.includes(finalizer)
      ? { finalizers: finalizers.filter((each) => each !== finalizer) }
      : undefined;
  await withSynced(cluster.acquire({ gvk }), signal, async (informer) => {
    for (const { object } of [...informer.list()]) {
      const { name, namespace, uid = '', finalizers } = object.metadata;
      if (finalizers?.includes(finalizer) !== true) continue;
      const flow = { name: definition, priority: 'object' } as const;
      await cluster.editMetadata(
        { gvk, name, ...(namespace !== undefined && { namespace }) },
        { flow, uid, cached: object, change },
        signal,
      );
    }
  });
}
