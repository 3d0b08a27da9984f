import type { ChildPlan } from '../../compile/index.ts';
import { KubeError } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { ResolvedChild } from '../child/resolve-child.ts';
import { type Problem, problemOfRequest } from '../failure.ts';
import {
  finalizerManagerOf,
  finalizerOf,
  inventoryAnnotationOf,
  onDeleteAnnotationOf,
} from '../names.ts';
import { type Pass, worldWrite } from '../pass/pass.ts';
import { detachedKinds, hasFinalizer, inventoryOf, kindsText, kindText } from './inventory.ts';

/**
 * Sees to it that the resource cannot go without us before anything is made that would stay behind: finalizer and inventory in one
 * apply, before the first child of a new kind. What needs them is not made while they cannot be written.
 */
export async function ensureFinalizer(
  pass: Pass,
  children: readonly ResolvedChild[],
): Promise<readonly ResolvedChild[]> {
  const { plan } = pass.context;
  if (!plan.isFinalizing || !children.some(needsFinalizer) || isEnsured(pass)) return children;
  pass.finalizing.written ??= write(pass);
  const problem = await pass.finalizing.written;
  if (problem === undefined) return children;
  return children.map((child) => (needsFinalizer(child) ? blocked(child, problem) : child));
}

/** What is to be done on deletion is to be done whether there are children or not. */
export async function ensureOnDelete(pass: Pass): Promise<void> {
  if (pass.context.plan.onDelete === undefined || isEnsured(pass)) return;
  pass.finalizing.written ??= write(pass);
  const problem = await pass.finalizing.written;
  if (problem !== undefined) pass.finalizing.problem = problem;
}

function needsFinalizer({ plan, isWanted, elements }: ResolvedChild): boolean {
  return plan.isDetached && isWanted && elements.some(({ kind }) => kind === 'rendered');
}

function blocked({ plan }: { readonly plan: ChildPlan }, problem: Problem): ResolvedChild {
  return { plan, isWanted: true, elements: [{ kind: 'blocked', problem }] };
}

/** Does the resource say all that it is to say? More does no harm: a kind that is not used any more may still have objects. */
function isEnsured({ context: { plan }, resource }: Pass): boolean {
  const known = new Set(inventoryOf(resource, plan.name).map(kindText));
  const isMarked = resource.metadata.annotations?.[onDeleteAnnotationOf(plan.name)] !== undefined;
  return (
    hasFinalizer(resource, plan.name) &&
    isMarked === (plan.onDelete !== undefined) &&
    detachedKinds(plan).every((kind) => known.has(kindText(kind)))
  );
}

/** @returns what stands in the way. */
async function write(pass: Pass): Promise<Problem | undefined> {
  const { context, resource, uid, signal } = pass;
  const { plan, cluster } = context;
  const { name, namespace } = resource.metadata;
  const kinds = [...inventoryOf(resource, plan.name), ...detachedKinds(plan)];
  const manifest: KubeObject = {
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      uid,
      finalizers: [finalizerOf(plan.name)],
      annotations: {
        [inventoryAnnotationOf(plan.name)]: kindsText(kinds),
        ...(plan.onDelete && { [onDeleteAnnotationOf(plan.name)]: 'true' }),
      },
    },
  };
  try {
    const fieldManager = finalizerManagerOf(plan.name);
    await cluster.apply(manifest, { ...worldWrite(pass), fieldManager, force: true }, signal);
    pass.world.hasWritten = true;
    return undefined;
  } catch (error) {
    if (!(error instanceof KubeError) || signal.aborted) throw error;
    return problemOfFinalizer(error);
  }
}

function problemOfFinalizer(error: KubeError): Problem {
  const problem = problemOfRequest(error, { secret: false });
  return { ...problem, message: `finalizer: ${problem.message}` };
}
