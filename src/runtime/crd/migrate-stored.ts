import { KubeError, type StoredObject } from '../../kube/roles.ts';
import { statusManagerOf } from '../../reconcile/index.ts';
import type { Logger } from '../../telemetry/roles.ts';
import { gvkOf } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { storedVersionsOf } from './check-change.ts';
import {
  acquireCrd,
  type CrdContext,
  crdFlowOf,
  isTerminating,
  ownershipConflict,
} from './crd-definition.ts';
import { withSynced } from './wait-for-crd.ts';

/** Other API servers still write the old storage version for a short time. */
const propagationMs = 5_000;
/** Parallel writes; they have low priority. */
const concurrency = 4;
/** Maximum number of rejected resources that are named. */
const maxNamed = 5;

/**
 * Rewrites every resource unchanged if some may be stored in an old version, then removes these versions from `status.storedVersions`: only
 * then they can be removed from the definition. Sends no request if there is nothing to do. If resources are rejected, the versions stay.
 * @throws KubeError
 */
export async function migrateStored(
  context: CrdContext & { readonly logger: Logger },
  signal: AbortSignal,
): Promise<void> {
  const { definition, cluster, clock, logger } = context;
  const { version } = definition.kind.gvk;
  const before = await readCrd(context, signal);
  const from = otherVersions(before, version);
  if (before === undefined || from.length === 0) return;
  await clock.sleep(propagationMs, signal);
  const informer = cluster.acquire({ gvk: definition.kind.gvk });
  const resources = await withSynced(informer, signal, async () => [...informer.list()]);
  const rejected: string[] = [];
  const remaining = [...resources];
  const work = async () => {
    for (let next = remaining.pop(); next !== undefined; next = remaining.pop()) {
      if (!(await rewrite(context, next, signal))) rejected.push(nameOf(next.object));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  if (rejected.length > 0) {
    logger.warn(
      { from, rejected: rejected.toSorted().slice(0, maxNamed) },
      'Resources that are invalid in the new storage version keep the old one',
    );
    return;
  }
  await trimStoredVersions(context, before, signal);
  logger.info(
    { from, resources: resources.length },
    'Resources migrated to the new storage version',
  );
}

/** The live CRD from the cache. Undefined: absent, of another owner, or being deleted. */
async function readCrd(
  { definition, cluster, hub }: CrdContext,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const { name } = definition.kind.crd.metadata;
  return withSynced(acquireCrd(cluster, name), signal, async (crds) => {
    const live = crds.get(undefined, name)?.object;
    const isOurs = live !== undefined && ownershipConflict(live, definition, hub) === undefined;
    return isOurs && !isTerminating(live) ? live : undefined;
  });
}

function otherVersions(crd: KubeObject | undefined, version: string): readonly string[] {
  return crd === undefined ? [] : storedVersionsOf(crd).filter((each) => each !== version);
}

/** Sends an empty patch, so that the API server stores the object in the current version. False: the object was rejected. */
async function rewrite(
  { definition, cluster }: CrdContext,
  { object }: StoredObject,
  signal: AbortSignal,
): Promise<boolean> {
  const { name, namespace, uid = '' } = object.metadata;
  const ref = {
    gvk: gvkOf(object.apiVersion, object.kind),
    name,
    ...(namespace === undefined ? {} : { namespace }),
  };
  const flow = { name: definition.name, priority: 'status' } as const;
  try {
    await cluster.editMetadata(ref, { flow, uid, cached: object, change: () => ({}) }, signal);
    return true;
  } catch (error) {
    if (error instanceof KubeError && error.isPermanent && error.right === undefined) return false;
    throw error;
  }
}

/** Guarded by `resourceVersion`: a version that was added meanwhile is kept. */
async function trimStoredVersions(
  { definition, cluster }: CrdContext,
  before: KubeObject,
  signal: AbortSignal,
): Promise<void> {
  const { name, resourceVersion = '' } = before.metadata;
  await cluster.apply(
    {
      apiVersion: before.apiVersion,
      kind: before.kind,
      metadata: { name, resourceVersion },
      status: { storedVersions: [definition.kind.gvk.version] },
    },
    {
      fieldManager: statusManagerOf(definition.name),
      force: true,
      subresource: 'status',
      flow: crdFlowOf(definition),
    },
    signal,
  );
}

function nameOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
