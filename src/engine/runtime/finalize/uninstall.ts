import { type CrdDefinition, childKindsOf, definesCrd } from '#definition';
import type { Logger } from '#telemetry/roles.ts';
import type { GroupKind } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { crdFlowOf, crdGvk, isTerminating } from '../crd/crd-definition.ts';
import type { UninstallRequest } from '../desired-definition.ts';
import { definitionCrdName, definitionGvk } from '../objects/names.ts';
import { preparePrevious } from '../prepare/prepare-definition.ts';
import { originOfPublished } from '../publish/publication.ts';
import { type FinalizedKind, type FinalizeOptions, finalizeKind } from './finalize-kind.ts';
import { removeCrd } from './remove-crd.ts';

interface UninstallOptions extends FinalizeOptions, UninstallRequest {
  /** Kinds of current and previous children. */
  readonly childKinds: readonly GroupKind[];
  /** Called with a message about what it waits for. */
  readonly onProgress: (message: string, remaining: number) => void;
}

/**
 * Deletes the children of a definition's resources, then its CRD, according to the policy. Each step can be resumed by another process.
 * Nothing is deleted if no user deleted this definition.
 * @returns whether the CRD is deleted, with all resources
 * @throws KubeError
 */
export async function uninstall(options: UninstallOptions, signal: AbortSignal): Promise<boolean> {
  const { policy, logger, located, cluster } = options;
  const { definition } = located;
  if (!(await isDeletedByUser(options, signal))) {
    logger.warn(
      { definition: options.name },
      'The CustomResourceDefinition of OperatorDefinition is being deleted: resources and children are orphaned',
    );
    return false;
  }
  // A previous attempt may have deleted the CRD with all resources.
  if (definesCrd(definition) && (await crdOf(definition, cluster, signal)) === undefined)
    return true;
  logger.info({ definition: options.name, ...policy }, 'Uninstalling definition');
  if (policy.children) await removeChildren(options, signal);
  return policy.crd && (await deleteCrd(options, signal));
}

/** Checks with the API server: if the CRD of definitions is being deleted, no user has deleted this definition. */
async function isDeletedByUser(
  { cluster: own, hub, name }: UninstallOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const cluster = hub?.cluster ?? own;
  const flow = { name, priority: 'object' } as const;
  const live = await cluster.get({ gvk: definitionGvk, name }, { flow }, signal);
  const object = live?.object;
  if (object === undefined || !isTerminating(object) || originOfPublished(object) !== undefined)
    return false;
  const crd = await cluster.get({ gvk: crdGvk, name: definitionCrdName }, { flow }, signal);
  return crd !== undefined && !wasDeletedWithItsKind(object, crd.object);
}

/**
 * Whether the object was deleted with its CRD, which may have been recreated since. Objects with finalizers stay in storage and reappear
 * under the recreated CRD. All times are from the API server's clock, in whole seconds.
 */
function wasDeletedWithItsKind(object: KubeObject, crd: KubeObject): boolean {
  if (isTerminating(crd)) return true;
  const { creationTimestamp: madeAt = '', deletionTimestamp: deletedAt = '' } = object.metadata;
  const kindMs = Date.parse(crd.metadata.creationTimestamp ?? '');
  return Date.parse(madeAt) < kindMs && Date.parse(deletedAt) <= kindMs;
}

async function crdOf(
  definition: CrdDefinition,
  cluster: UninstallOptions['cluster'],
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const ref = { gvk: crdGvk, name: definition.kind.crd.metadata.name };
  return (await cluster.get(ref, { flow: crdFlowOf(definition) }, signal))?.object;
}

async function removeChildren(options: UninstallOptions, signal: AbortSignal): Promise<void> {
  const { onProgress, logger } = options;
  onProgress('Listing the children of its resources', 0);
  const onRemaining = (remaining: number) => {
    if (remaining > 0) onProgress(`${countText(remaining)} with children to delete`, remaining);
  };
  await finalize(options, { onRemaining }, signal);
  signal.throwIfAborted();
  logger.info({ definition: options.name }, 'Children deleted');
}

/** @returns whether it is deleted */
async function deleteCrd(options: UninstallOptions, signal: AbortSignal): Promise<boolean> {
  const { located, cluster, hub, onProgress, name } = options;
  const logger: Logger = options.logger.child({ definition: name });
  const { definition } = located;
  if (!definesCrd(definition)) return false;
  onProgress('Deleting its CustomResourceDefinition', 0);
  const onRemaining = (remaining: number) => {
    if (remaining > 0)
      onProgress(`${countText(remaining)} to delete with the CustomResourceDefinition`, remaining);
  };
  const reason = await removeCrd(
    {
      definition,
      cluster,
      ...(hub && { hub }),
      finalizeResources: (ending) =>
        finalize(options, { onRemaining, staysWhenEmpty: true }, ending),
    },
    signal,
  );
  if (reason === undefined) logger.info({}, 'CustomResourceDefinition deleted');
  else logger.warn({ reason }, 'CustomResourceDefinition is kept');
  return reason === undefined;
}

/** Finalizes the resources of the definition's kind. */
async function finalize(
  options: UninstallOptions,
  reporting: Pick<FinalizedKind, 'onRemaining' | 'staysWhenEmpty'>,
  signal: AbortSignal,
): Promise<void> {
  const { located, cluster, policy, sinceMs, childKinds } = options;
  const { definition } = located;
  const { kind, controller } = definition;
  // No resources without a served kind.
  if ((await cluster.lookUp(kind.gvk, signal)) === undefined) return;
  const prepared = await preparePrevious(located, { cluster }, signal);
  await finalizeKind(
    options,
    {
      kind,
      childKinds: [...childKindsOf(definition), ...childKinds],
      ...(controller.namespaces && { namespaces: controller.namespaces }),
      uninstall: { deletesChildren: policy.children, sinceMs },
      ...(prepared && { plan: prepared.plan }),
      ...reporting,
    },
    signal,
  );
}

function countText(remaining: number): string {
  return remaining === 1 ? 'One resource' : `${remaining} resources`;
}
