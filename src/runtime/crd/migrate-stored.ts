import { KubeError, type StoredObject } from '../../kube/roles.ts';
import { statusManagerOf } from '../../reconcile/index.ts';
import { gvkOf } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { storedVersionsOf } from './check-change.ts';
import { type CrdContext, crdFlowOf } from './crd-definition.ts';
import { isGoing, whyNotOurs } from './crd-owner.ts';
import { crdGvk } from './stored-kind.ts';
import { whenUsable } from './when-crd.ts';

/** What became of resources that may be stored in another version than the one that is stored now. */
export type Migration =
  | { readonly kind: 'current' }
  | { readonly kind: 'migrated'; readonly from: readonly string[]; readonly resources: number }
  /** Some could not be written: the versions stay on record. */
  | {
      readonly kind: 'left';
      readonly from: readonly string[];
      readonly refused: readonly string[];
    };

/** The other servers of a cluster learn of a new storage version a little later, and write in the old one until then. */
const spreadMs = 5_000;
/** Written at once; they are in nobody's way. */
const parallel = 4;
/** So many of those that are refused are named. */
const namedAtMost = 5;

/**
 * Writes every resource anew, unchanged, where some may be stored in a version that is not the stored one any more, and takes those
 * versions off the CRD's record (`status.storedVersions`): only then they can be taken out of the definition. Costs no request where there
 * is nothing to do.
 * @throws KubeError
 */
export async function migrateStored(context: CrdContext, signal: AbortSignal): Promise<Migration> {
  const { definition, cluster, clock } = context;
  const { version } = definition.kind.gvk;
  const before = await readCrd(context, signal);
  const from = others(before, version);
  if (before === undefined || from.length === 0) return { kind: 'current' };
  await clock.sleep(spreadMs, signal);
  const resources = cluster.acquire({ gvk: definition.kind.gvk });
  try {
    await whenUsable(resources, signal);
    const refused: string[] = [];
    const left = [...resources.list()];
    const count = left.length;
    const work = async () => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) {
        if (!(await rewrite(context, next, signal))) refused.push(nameOf(next.object));
      }
    };
    await Promise.all(Array.from({ length: parallel }, work));
    if (refused.length > 0)
      return { kind: 'left', from, refused: refused.toSorted().slice(0, namedAtMost) };
    await trim(context, before, signal);
    return { kind: 'migrated', from, resources: count };
  } finally {
    resources.release();
  }
}

/** The CRD as it is known here, where it is the definition's and stays. */
async function readCrd(
  { definition, cluster }: CrdContext,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const { name } = definition.kind.crd.metadata;
  const crds = cluster.acquire({ gvk: crdGvk, fieldSelector: `metadata.name=${name}` });
  try {
    await whenUsable(crds, signal);
    const live = crds.get(undefined, name)?.object;
    const isOurs = live !== undefined && whyNotOurs(live, definition) === undefined;
    return isOurs && !isGoing(live) ? live : undefined;
  } finally {
    crds.release();
  }
}

function others(crd: KubeObject | undefined, version: string): readonly string[] {
  return crd === undefined ? [] : storedVersionsOf(crd).filter((each) => each !== version);
}

/** One write that changes nothing: the server stores the object anew. False: it refuses the object as it is. */
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
    await cluster.editMetadata(ref, { flow, uid, from: object, change: () => ({}) }, signal);
    return true;
  } catch (error) {
    if (error instanceof KubeError && error.isPermanent && error.right === undefined) return false;
    throw error;
  }
}

/** Only of the CRD as it was before: a version that was stored meanwhile stays on record. */
async function trim(
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
