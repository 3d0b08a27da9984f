import { KubeError } from '../../kube/roles.ts';
import { type Problem, problemOfRequest } from '../failure.ts';
import { refOfStored } from '../identity.ts';
import {
  finalizerOf,
  inventoryAnnotationOf,
  onDeleteAnnotationOf,
  orphaningAnnotationOf,
} from '../names.ts';
import { type Pass, worldWrite } from '../pass/pass.ts';
import { ofResource } from '../secrecy.ts';

/**
 * Notes on a resource what a later process has to know, in annotations of ours; null takes one off.
 * @returns what stands in the way.
 */
export async function noteOnResource(
  pass: Pass,
  annotations: Readonly<Record<string, string | null>>,
): Promise<Problem | undefined> {
  const { context, resource, did, uid, signal } = pass;
  const from = did.resource ?? resource;
  try {
    const stored = await context.cluster.editMetadata(
      refOfStored(resource),
      { ...worldWrite(pass), uid, from, change: () => ({ annotations }) },
      signal,
    );
    if (stored !== undefined) did.resource = stored.object;
    pass.did.hasWritten = true;
    return undefined;
  } catch (error) {
    if (!(error instanceof KubeError) || signal.aborted) throw error;
    return problemOfRequest(error, { about: ofResource(pass.context.plan) });
  }
}

/**
 * Lets the resource go: takes off our finalizer, and what we have noted beside it, whoever owns them by now (a restore from a backup
 * makes them somebody else's).
 * @returns what stands in the way.
 */
export async function takeOffFinalizer(pass: Pass): Promise<Problem | undefined> {
  const { context, resource, did, uid, signal } = pass;
  const { cluster, plan } = context;
  const finalizer = finalizerOf(plan.name);
  const notes = [inventoryAnnotationOf, onDeleteAnnotationOf, orphaningAnnotationOf].map((nameOf) =>
    nameOf(plan.name),
  );
  try {
    await cluster.editMetadata(
      refOfStored(resource),
      {
        ...worldWrite(pass),
        uid,
        from: did.resource ?? resource,
        change: ({ finalizers = [], annotations = {} }) => {
          if (!finalizers.includes(finalizer)) return undefined;
          const ours = notes.filter((note) => annotations[note] !== undefined);
          return {
            finalizers: finalizers.filter((each) => each !== finalizer),
            ...(ours.length > 0 && {
              annotations: Object.fromEntries(ours.map((note) => [note, null])),
            }),
          };
        },
      },
      signal,
    );
    pass.did.hasWritten = true;
    // The inventory is gone, too.
    context.watches.endBorrowing(pass.key);
    return undefined;
  } catch (error) {
    if (!(error instanceof KubeError) || signal.aborted) throw error;
    const problem = problemOfRequest(error, { about: ofResource(pass.context.plan) });
    return { ...problem, message: `finalizer: ${problem.message}` };
  }
}
