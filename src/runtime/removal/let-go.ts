import type { Writer } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { definitionGvk } from '../objects/index.ts';
import { removalFinalizer } from './removal-terms.ts';

/** Puts our finalizer on the object of a definition, or takes it off. @throws KubeError */
export async function setFinalizer(
  cluster: Writer,
  { object, isWanted }: { readonly object: KubeObject; readonly isWanted: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { name, uid = '' } = object.metadata;
  await cluster.editMetadata(
    { gvk: definitionGvk, name },
    {
      flow: { name, priority: 'world' },
      uid,
      from: object,
      change: ({ finalizers = [], deletionTimestamp }) => {
        const has = finalizers.includes(removalFinalizer);
        // The server takes no new finalizer on what is being deleted.
        if (has === isWanted || (isWanted && deletionTimestamp !== undefined)) return undefined;
        const others = finalizers.filter((each) => each !== removalFinalizer);
        return { finalizers: isWanted ? [...others, removalFinalizer] : others };
      },
    },
    signal,
  );
}
