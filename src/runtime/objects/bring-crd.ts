import { createSchemaCompiler } from '../../compile/index.ts';
import { KubeError } from '../../kube/roles.ts';
import { appliedHashOf, covers, pathHash, prepare, stamped } from '../../reconcile/index.ts';
import { backoffMs } from '../../util/backoff.ts';
import type { Clock } from '../../util/clock.ts';
import { crdGvk } from '../crd/index.ts';
import type { RuntimeCluster } from '../runtime-cluster.ts';
import { createDefinitionCrd } from './definition-crd.ts';
import { definitionCrdName, definitionGvk } from './names.ts';

/** The field manager of the CRD of definitions. */
const crdManager = 'homeostat/operatordefinitions.crd';
const flow = { name: 'definitions', priority: 'world' } as const;
/** Between looks at a kind that is to be served. */
const served = { baseDelayMs: 100, maxDelayMs: 10_000 };

/**
 * Brings the CRD of `OperatorDefinition` to the server (nothing is written when it is there as wanted) and waits until it is served. Where we
 * may not, one that is there is left as it is.
 * @returns false: it is not served, and we may not install it
 * @throws KubeError when the server cannot be asked, or refuses for another reason than a missing right.
 */
export async function bringDefinitionCrd(
  { cluster, clock }: { readonly cluster: RuntimeCluster; readonly clock: Clock },
  signal: AbortSignal,
): Promise<boolean> {
  try {
    let hasChanged = false;
    for (let tries = 0; ; tries++) {
      hasChanged = (await applyWhereNeeded(cluster, signal)) || hasChanged;
      if ((await cluster.lookUp(definitionGvk, signal)) !== undefined) break;
      // Established is not yet served; one that is being deleted has to be gone before it can come back.
      await clock.sleep(backoffMs(tries, served), signal);
    }
    if (hasChanged) cluster.kindChanged(definitionGvk);
    return true;
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'forbidden') throw error;
    return (await cluster.lookUp(definitionGvk, signal)) !== undefined;
  }
}

/** Was there something to write? */
async function applyWhereNeeded(cluster: RuntimeCluster, signal: AbortSignal): Promise<boolean> {
  const live = await cluster.get({ gvk: crdGvk, name: definitionCrdName }, { flow }, signal);
  if (live?.object.metadata.deletionTimestamp !== undefined) return false;
  const schema = await cluster.fetchKindSchema(crdGvk, signal);
  const type = schema && createSchemaCompiler().compile(schema);
  const manifest = prepare(createDefinitionCrd(), type, { hasStatus: true });
  const hash = pathHash(manifest, type);
  if (live !== undefined && covers(manifest, live.object, type)) {
    // Whoever has applied it by hand has all of it; of what we have applied an older form may have had more.
    const isOurs = live.appliedBy.includes(crdManager);
    if (!isOurs || appliedHashOf(live.object) === hash) return false;
  }
  const options = { fieldManager: crdManager, force: true, flow };
  await cluster.apply(stamped(manifest, hash), options, signal);
  return true;
}
