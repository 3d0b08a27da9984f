import { type EditMetadataOptions, KubeError } from '#kube/roles.ts';
import { type Gvk, gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { CrdContext } from './crd-definition.ts';
import { withSynced } from './wait-for-crd.ts';

/** Parallel writes; they have low priority. */
const concurrency = 4;
/** Maximum number of rejected resources that are named. */
const maxNamed = 5;

interface EditResourcesOptions extends Pick<EditMetadataOptions, 'change'> {
  /** The resources' kind, in a version that is served. */
  readonly gvk: Gvk;
  /** Whether `change` needs `managedFields`: then each resource is read first. @default false */
  readonly readsFields?: boolean;
  /** Called before the first one, and after each one that is written. @default nothing */
  readonly onProgress?: (progress: { readonly written: number; readonly total: number }) => void;
}

/** What became of the resources of a kind. */
interface EditedResources {
  readonly count: number;
  /** Resources that the API server rejects; sorted, at most five. */
  readonly rejected: readonly string[];
  /** Why it rejects one of them. */
  readonly reason: string;
}

/**
 * Edits the metadata of every resource of a kind, in all namespaces.
 * @throws KubeError other than a rejection of one resource
 */
export async function editResources(
  context: CrdContext,
  options: EditResourcesOptions,
  signal: AbortSignal,
): Promise<EditedResources> {
  const informer = context.cluster.acquire({ gvk: options.gvk });
  const resources = await withSynced(informer, signal, async () => [...informer.list()]);
  const rejected = new Map<string, string>();
  const remaining = [...resources];
  const total = resources.length;
  let written = 0;
  options.onProgress?.({ written, total });
  const work = async () => {
    for (let next = remaining.pop(); next !== undefined; next = remaining.pop()) {
      const reason = await edit(context, next.object, options, signal);
      if (reason !== undefined) rejected.set(nameOf(next.object), reason);
      else options.onProgress?.({ written: ++written, total });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  const names = [...rejected.keys()].toSorted().slice(0, maxNamed);
  const reason = rejected.get(names[0] ?? '') ?? '';
  return { count: resources.length, rejected: names, reason };
}

/** Returns why the API server rejects the resource, if it does. */
async function edit(
  { definition, cluster }: CrdContext,
  object: KubeObject,
  { change, readsFields = false }: EditResourcesOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { name, namespace, uid = '' } = object.metadata;
  const gvk = gvkOf(object.apiVersion, object.kind);
  const ref = { gvk, name, ...(namespace === undefined ? {} : { namespace }) };
  const flow = { name: definition.name, priority: 'status' } as const;
  const cached = readsFields ? {} : { cached: object };
  try {
    await cluster.editMetadata(ref, { flow, uid, ...cached, change }, signal);
    return undefined;
  } catch (error) {
    if (error instanceof KubeError && error.isPermanent && error.right === undefined)
      return error.message;
    throw error;
  }
}

function nameOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
