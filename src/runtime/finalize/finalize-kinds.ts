import type { ServedKind, ServedNamespaces } from '../../definition/index.ts';
import type { Writer } from '../../kube/roles.ts';
import { definitionLabel, finalizerOf } from '../../reconcile/index.ts';
import type { GroupKind, Gvk } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { crdGvk, storedKind } from '../crd/crd-definition.ts';
import { whenSynced } from '../crd/wait-for-crd.ts';
import type { RecordedKinds } from '../definitions/record.ts';
import { servedKinds } from '../served-kinds.ts';
import { retryUntilDone } from '../waits.ts';
import { type FinalizedKind, type FinalizeOptions, finalizeKind } from './finalize-kind.ts';

export interface FinalizeKindsOptions extends FinalizeOptions {
  readonly kinds: RecordedKinds;
  /** Namespaces of the definition. @default all */
  readonly namespaces?: ServedNamespaces;
  /** Only count resources. @default false */
  readonly isPaused?: boolean;
  /** Called at every change with the number of resources that have the finalizer. */
  readonly onRemaining: (remaining: number) => void;
}

/**
 * Finalizes the resources of all kinds of a definition. Resolves when no resource has the finalizer any more; rejects when the signal
 * aborts.
 */
export async function finalizeKinds(
  options: FinalizeKindsOptions,
  signal: AbortSignal,
): Promise<void> {
  const { kinds, onRemaining: onLeft } = options;
  const remaining = new Map<GroupKind, number>();
  const note = (kind: GroupKind, count: number) => {
    remaining.set(kind, count);
    onLeft([...remaining.values()].reduce((sum, each) => sum + each, 0));
  };
  await Promise.all(
    kinds.resources.map((kind) =>
      finalizeWithRetries(options, { kind, onRemaining: (count) => note(kind, count) }, signal),
    ),
  );
}

interface OneKind {
  readonly kind: GroupKind;
  readonly onRemaining: (remaining: number) => void;
}

async function finalizeWithRetries(
  options: FinalizeKindsOptions,
  one: OneKind,
  signal: AbortSignal,
): Promise<void> {
  const { clock, cluster, logger, name } = options;
  await retryUntilDone(() => finalizeOnce(options, one, signal), {
    ...{ clock, cluster, logger, signal },
    message: 'Resources cannot be finalized, will retry',
    fields: { definition: name },
  });
  signal.throwIfAborted();
}

async function finalizeOnce(
  options: FinalizeKindsOptions,
  { kind, onRemaining: onLeft }: OneKind,
  signal: AbortSignal,
): Promise<void> {
  const served = await servedKind(options, kind, signal);
  // Its resources were deleted with the kind.
  if (served === undefined) return onLeft(0);
  const { kinds, namespaces, isPaused = false } = options;
  const ending = new AbortController();
  const finalized: FinalizedKind = {
    kind: served,
    childKinds: kinds.children,
    ...(namespaces && { namespaces }),
    isPaused,
    onRemaining(count) {
      onLeft(count);
      if (count === 0) ending.abort(new Error('No resources are left'));
    },
  };
  try {
    await finalizeKind(options, finalized, AbortSignal.any([signal, ending.signal]));
  } catch (error) {
    if (!ending.signal.aborted) throw error;
  }
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
  { cluster, name }: AbandonOptions,
  gvk: Gvk,
  signal: AbortSignal,
): Promise<void> {
  const informer = cluster.acquire({ gvk });
  try {
    await whenSynced(informer, signal);
    const finalizer = finalizerOf(name);
    for (const { object } of [...informer.list()])
      if (object.metadata.finalizers?.includes(finalizer) === true)
        await removeFinalizer(cluster, { gvk, object, definition: name }, signal);
  } finally {
    informer.release();
  }
}

interface Abandoned {
  readonly gvk: Gvk;
  readonly object: KubeObject;
  readonly definition: string;
}

async function removeFinalizer(
  cluster: Writer,
  { gvk, object, definition }: Abandoned,
  signal: AbortSignal,
): Promise<void> {
  const { name, namespace, uid = '' } = object.metadata;
  const finalizer = finalizerOf(definition);
  await cluster.editMetadata(
    { gvk, name, ...(namespace !== undefined && { namespace }) },
    {
      flow: { name: definition, priority: 'object' },
      ...{ uid, cached: object },
      change: ({ finalizers = [] }) =>
        finalizers.includes(finalizer)
          ? { finalizers: finalizers.filter((each) => each !== finalizer) }
          : undefined,
    },
    signal,
  );
}
