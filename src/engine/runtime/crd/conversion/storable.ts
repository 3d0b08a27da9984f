import { settled } from '#reconcile';
import type { KubeObject } from '#util/kube-object.ts';
import { preservedAnnotation } from '#util/stored-names.ts';
import type { CrdContext } from '../crd-definition.ts';

/** Objects with it are cached whole: there are none. */
const finalizer = 'homeostat.dev/conversion-trial';
/** Maximum number of resources that are named. */
const maxNamed = 5;

/**
 * Looks for resources that do not fit into the version of the definition, which is not stored yet: once it is, no resource of the kind could
 * be listed in it while one of them cannot be converted. Call while that version is served.
 * @returns why it must not be stored
 * @throws KubeError when they cannot be read
 */
export async function whyNotStorable(
  { cluster, definition }: CrdContext,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { gvk } = definition.kind;
  const informer = cluster.acquire({ gvk, fullObjects: { finalizer } });
  try {
    await settled(informer, signal);
    if (informer.state.kind === 'failing') throw informer.state.error;
    const large = [...informer.list()].filter(({ object }) => isIncomplete(object));
    if (large.length === 0) return undefined;
    const all = large.map(({ object }) => `${gvk.kind} "${nameOf(object)}"`).toSorted();
    const more = all.length > maxNamed ? ` and ${all.length - maxNamed} more` : '';
    return `Resources cannot be stored in version "${gvk.version}": the fields that it does not have are too large for annotations in ${all.slice(0, maxNamed).join(', ')}${more}`;
  } finally {
    informer.release();
  }
}

/** Whether an object, read in another version than the stored one, lacks fields: it cannot be written in that version. Pure. */
export function isIncomplete({ metadata: { annotations, labels } }: KubeObject): boolean {
  return (
    annotations?.[preservedAnnotation] !== undefined || labels?.[preservedAnnotation] !== undefined
  );
}

function nameOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
