import {
  clustersAnnotationOf,
  finalizerOf,
  historyAnnotationOf,
  inventoryAnnotationOf,
  onDeleteAnnotationOf,
  orphaningAnnotationOf,
} from '../../util/stored-names.ts';
import type { Problem } from '../failure.ts';
import { refOfStored } from '../identity.ts';
import { clusterWrite, type Pass, problemOfResource, requestError } from '../pass/pass.ts';

/**
 * Writes annotations to the resource that a later process needs; null removes one.
 * @returns the error, if any.
 */
export async function annotateResource(
  pass: Pass,
  annotations: Readonly<Record<string, string | null>>,
): Promise<Problem | undefined> {
  const { context, resource, effects, uid, signal } = pass;
  const from = effects.updatedResource ?? resource;
  try {
    const stored = await context.cluster.editMetadata(
      refOfStored(resource),
      { ...clusterWrite(pass), uid, cached: from, change: () => ({ annotations }) },
      signal,
    );
    if (stored !== undefined) effects.updatedResource = stored.object;
    pass.effects.hasWritten = true;
    return undefined;
  } catch (error) {
    return problemOfResource(pass, requestError(error, pass));
  }
}

/** Stores the records that have changed. One request for all children of a tier. */
export async function saveFinished(pass: Pass): Promise<void> {
  const change = pass.findings.finished.takeChange();
  if (change === undefined) return;
  const problem = await annotateResource(pass, change);
  if (problem !== undefined) pass.effects.finalizerProblem ??= problem;
}

/**
 * Removes our finalizer and its annotations, regardless of the field manager (a restore from a backup changes the field manager).
 * @returns the error, if any.
 */
export async function removeFinalizer(pass: Pass): Promise<Problem | undefined> {
  const { context, resource, effects, uid, signal } = pass;
  const { cluster, plan } = context;
  const finalizer = finalizerOf(plan.name);
  const ourAnnotations = [
    inventoryAnnotationOf,
    onDeleteAnnotationOf,
    orphaningAnnotationOf,
    historyAnnotationOf,
    clustersAnnotationOf,
  ].map((nameOf) => nameOf(plan.name));
  try {
    await cluster.editMetadata(
      refOfStored(resource),
      {
        ...clusterWrite(pass),
        uid,
        cached: effects.updatedResource ?? resource,
        change: ({ finalizers = [], annotations = {} }) => {
          if (!finalizers.includes(finalizer)) return undefined;
          const ours = ourAnnotations.filter((key) => annotations[key] !== undefined);
          return {
            finalizers: finalizers.filter((each) => each !== finalizer),
            ...(ours.length > 0 && {
              annotations: Object.fromEntries(ours.map((key) => [key, null])),
            }),
          };
        },
      },
      signal,
    );
    pass.effects.hasWritten = true;
    // The inventory is deleted, too.
    context.watches.releaseInventoryKinds(pass.key);
    return undefined;
  } catch (error) {
    return problemOfResource(pass, requestError(error, pass), 'finalizer');
  }
}
