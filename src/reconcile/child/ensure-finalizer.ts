import type { ChildPlan } from '../../compile/index.ts';
import { KubeError } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { type Problem, problemOfRequest } from '../failure.ts';
import {
  finalizerManagerOf,
  finalizerOf,
  inventoryAnnotationOf,
  onDeleteAnnotationOf,
} from '../names.ts';
import { hasFinalizer } from '../owner.ts';
import { leftOnRecord } from '../ownership/inventory-after.ts';
import { entriesFor } from '../pass/inventory.ts';
import { type Given, type Pass, worldWrite } from '../pass/pass.ts';
import { noteOnResource } from '../resource/write-metadata.ts';
import { ofResource } from '../secrecy.ts';
import { isForeign } from '../status-fields.ts';
import { lookUp, mayTake } from './apply-element.ts';
import { heldBy } from './readiness.ts';
import type { ResolvedChild } from './resolve-child.ts';

/**
 * Sees to it that the resource cannot go without us before anything is made that would stay behind. What needs the finalizer is not made
 * while it cannot be written. On a kind whose status is not ours, what is to be made is put on record in the same apply.
 */
export async function ensureFinalizer(
  pass: Pass,
  children: readonly ResolvedChild[],
): Promise<readonly ResolvedChild[]> {
  const { plan } = pass.context;
  const needy = children.filter(needsFinalizer);
  if (!plan.isFinalizing || needy.length === 0) return children;
  const unrecorded = isForeign(plan) ? await unrecordedOf(pass, needy) : [];
  if (isEnsured(pass) && unrecorded.length === 0) return children;
  const problem = await write(pass, unrecorded);
  if (problem === undefined) return children;
  return children.map((child) => (needsFinalizer(child) ? blocked(child, problem) : child));
}

/** What is to be done on deletion is to be done whether there are children or not. */
export async function ensureOnDelete(pass: Pass): Promise<void> {
  if (pass.context.plan.onDelete === undefined || isEnsured(pass)) return;
  const problem = await write(pass, []);
  if (problem !== undefined) pass.did.finalizerProblem = problem;
}

/** The inventory that an earlier version has written into an annotation goes once there is one in the status. */
export async function dropOldInventory(pass: Pass): Promise<void> {
  const {
    context,
    resource,
    found: { inventory },
  } = pass;
  const annotation = inventoryAnnotationOf(context.plan.name);
  if (isForeign(context.plan) || !inventory.isKept) return;
  if (resource.metadata.annotations?.[annotation] === undefined) return;
  const problem = await noteOnResource(pass, { [annotation]: null });
  if (problem !== undefined) pass.did.finalizerProblem ??= problem;
}

function needsFinalizer({ plan, isWanted, elements }: ResolvedChild): boolean {
  return plan.isDetached && isWanted && elements.some(({ kind }) => kind === 'rendered');
}

function blocked({ plan }: { readonly plan: ChildPlan }, problem: Problem): ResolvedChild {
  return { plan, isWanted: true, elements: [{ kind: 'blocked', problem }] };
}

/** What may be made now and is not on record. What has to wait is not: somebody could put his own object in its place meanwhile. */
async function unrecordedOf(
  pass: Pass,
  children: readonly ResolvedChild[],
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { plan, elements } of children) {
    if ((await heldBy(pass, plan)).length > 0) continue;
    for (const each of elements) {
      if (each.kind !== 'rendered' || pass.found.inventory.has(each.intent.identity)) continue;
      const live = lookUp(pass, each.intent);
      if (live === undefined || mayTake(pass, plan, live)) found.push(each.intent.identity);
    }
  }
  return found;
}

/** Does the resource say all that it is to say? */
function isEnsured({ context: { plan }, resource, did }: Pass): boolean {
  if (did.hasFinalizer === true) return true;
  const isMarked = resource.metadata.annotations?.[onDeleteAnnotationOf(plan.name)] !== undefined;
  return hasFinalizer(resource, plan.name) && isMarked === (plan.onDelete !== undefined);
}

/** @returns what stands in the way. */
async function write(pass: Pass, unrecorded: readonly string[]): Promise<Problem | undefined> {
  const {
    context,
    resource,
    uid,
    signal,
    found: { inventory },
  } = pass;
  const { plan, cluster } = context;
  const { name, namespace } = resource.metadata;
  const left = leftOnRecord(pass);
  const manifest: KubeObject = {
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      uid,
      finalizers: [finalizerOf(plan.name)],
      annotations: {
        ...(isForeign(plan) &&
          left !== undefined && {
            [inventoryAnnotationOf(plan.name)]: JSON.stringify(
              entriesFor([...left, ...unrecorded]),
            ),
          }),
        ...(plan.onDelete && { [onDeleteAnnotationOf(plan.name)]: 'true' }),
      },
    },
  };
  try {
    const fieldManager = finalizerManagerOf(plan.name);
    await cluster.apply(manifest, { ...worldWrite(pass), fieldManager, force: true }, signal);
    pass.did.hasWritten = true;
    pass.did.hasFinalizer = true;
    for (const identity of unrecorded) inventory.noteMade(identity);
    return undefined;
  } catch (error) {
    if (!(error instanceof KubeError) || signal.aborted) throw error;
    return problemOfFinalizer(pass, error);
  }
}

function problemOfFinalizer({ context }: Given, error: KubeError): Problem {
  const problem = problemOfRequest(error, { about: ofResource(context.plan) });
  return { ...problem, message: `finalizer: ${problem.message}` };
}
