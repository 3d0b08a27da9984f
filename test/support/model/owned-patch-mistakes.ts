import type { KubeObject } from '#util/kube-object.ts';
import type { FakeCluster } from '../fakes/fake-cluster.ts';
import type { SeededMistake } from './owned-patch-history.ts';

type Apply = FakeCluster['apply'];
type EditMetadata = FakeCluster['editMetadata'];

/** Mistakes that an implementation could have. The model must find each of them. */
export const ownedPatchMistakes: Readonly<Record<string, SeededMistake>> = {
  'the record is written after the apply': (cluster) => {
    let delayed: (() => Promise<unknown>) | undefined;
    onEdit(cluster, async (edit, ref, options) => {
      const now = options.cached;
      const patch = now && options.change(now.metadata);
      if (patch?.finalizers === undefined && !isClaiming(now, patch)) return edit(ref, options);
      delayed = () => edit(ref, options);
      const annotations = { ...now?.metadata.annotations, ...(patch?.annotations as object) };
      const metadata = { ...now?.metadata, annotations } as KubeObject['metadata'];
      return { object: { ...(now as KubeObject), metadata }, cluster: undefined, appliedBy: [] };
    });
    onApply(cluster, async (apply, ...args) => {
      const result = await apply(...args);
      const write = delayed;
      delayed = undefined;
      await write?.();
      return result;
    });
  },
  'the finalizer is not set': (cluster) =>
    onEdit(cluster, (edit, ref, options) =>
      edit(ref, {
        ...options,
        change(metadata) {
          const { finalizers: _, ...patch } = options.change(metadata) ?? {};
          const isRemoved = (metadata.finalizers ?? []).length > 0;
          return isRemoved ? options.change(metadata) : patch;
        },
      }),
    ),
  'the UID is not checked by a withdrawal': (cluster) =>
    onApply(cluster, (apply, manifest, ...rest) => {
      const { uid: _, ...metadata } = manifest.metadata;
      return apply(isWithdrawal(manifest) ? { ...manifest, metadata } : manifest, ...rest);
    }),
  'a withdrawal that failed counts as done': (cluster) =>
    onApply(cluster, async (apply, manifest, ...rest) => {
      if (!isWithdrawal(manifest)) return apply(manifest, ...rest);
      return apply(manifest, ...rest).catch(() => ({
        stored: { object: manifest, cluster: undefined, appliedBy: [] },
        created: false,
      }));
    }),
  'all resources have one field manager': (cluster) =>
    onApply(cluster, (apply, manifest, options, ...rest) =>
      apply(
        manifest,
        { ...options, fieldManager: options.fieldManager.replace(/\/[0-9a-f]{16}$/, '') },
        ...rest,
      ),
    ),
  'other managers are overwritten': (cluster) =>
    onApply(cluster, (apply, manifest, options, ...rest) =>
      apply(manifest, { ...options, force: true }, ...rest),
    ),
  'an element that left the list keeps its record': (cluster) =>
    onEdit(cluster, (edit, ref, options) =>
      edit(ref, {
        ...options,
        change(metadata) {
          const patch = options.change(metadata);
          const [[name, text] = []] = Object.entries((patch?.annotations ?? {}) as object);
          const before = metadata.annotations?.[name ?? ''] ?? '';
          const isDropped =
            before.includes('"each ') && !(typeof text === 'string' && text.includes('"each '));
          return isDropped ? undefined : patch;
        },
      }),
    ),
};

/** An apply of nothing. */
function isWithdrawal({ kind, data }: KubeObject): boolean {
  return kind === 'ConfigMap' && data === undefined;
}

/** Does an edit add a record? */
function isClaiming(
  now: KubeObject | undefined,
  patch: Readonly<Record<string, unknown>> | undefined,
) {
  const [[name, text] = []] = Object.entries((patch?.annotations ?? {}) as Record<string, string>);
  const before = now?.metadata.annotations?.[name ?? ''] ?? '';
  return typeof text === 'string' && text.length > before.length;
}

function onApply(
  cluster: FakeCluster,
  wrap: (apply: Apply, ...args: Parameters<Apply>) => ReturnType<Apply>,
): void {
  const apply = cluster.apply.bind(cluster);
  cluster.apply = (...args) => wrap(apply, ...args);
}

function onEdit(
  cluster: FakeCluster,
  wrap: (edit: EditMetadata, ...args: Parameters<EditMetadata>) => ReturnType<EditMetadata>,
): void {
  const edit = cluster.editMetadata.bind(cluster);
  cluster.editMetadata = (...args) => wrap(edit, ...args);
}
