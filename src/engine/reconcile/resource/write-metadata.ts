import {
  finalizerOf,
  inventoryAnnotationOf,
  onDeleteAnnotationOf,
  orphaningAnnotationOf,
} from '#util/stored-names.ts';
import { type Problem, problemOfWaiting } from '../failure.ts';
import { refOfObject } from '../identity.ts';
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
      refOfObject(resource),
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

/** A change of one of our annotations. */
interface AnnotationEdit {
  readonly name: string;
  /** The new value from the stored one; undefined: none. Pure: called again after a conflict. */
  readonly change: (stored: string | undefined) => string | undefined;
  /** Whether the same request sets our finalizer, if the resource lacks it. */
  readonly setsFinalizer: boolean;
}

/**
 * Changes an annotation of the resource that records what exists elsewhere. A resource that was deleted meanwhile is a problem: nothing may be
 * done on a record that was not written.
 */
export async function editAnnotation(
  pass: Pass,
  { name, change, setsFinalizer }: AnnotationEdit,
): Promise<Problem | undefined> {
  const { context, resource, effects, uid, signal } = pass;
  const finalizer = finalizerOf(context.plan.name);
  let isStored = false;
  try {
    const stored = await context.cluster.editMetadata(
      refOfObject(resource),
      {
        ...clusterWrite(pass),
        uid,
        cached: effects.updatedResource ?? resource,
        change({ annotations = {}, finalizers = [] }) {
          const value = change(annotations[name]);
          const lacksFinalizer = setsFinalizer && !finalizers.includes(finalizer);
          isStored = value === annotations[name] && !lacksFinalizer;
          if (isStored) return undefined;
          return {
            annotations: { [name]: value ?? null },
            ...(lacksFinalizer && { finalizers: [...finalizers, finalizer] }),
          };
        },
      },
      signal,
    );
    if (stored === undefined && !isStored) return problemOfWaiting([deleted], deleted);
    if (stored !== undefined) {
      effects.updatedResource = stored.object;
      effects.hasWritten = true;
    }
    if (setsFinalizer) effects.hasFinalizer = true;
    return undefined;
  } catch (error) {
    return problemOfResource(pass, requestError(error, pass));
  }
}

const deleted = 'The resource was deleted';

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
    inventoryAnnotationOf(plan.name),
    onDeleteAnnotationOf(plan.name),
    orphaningAnnotationOf(plan.name),
    context.others.annotation,
    ...context.features.all.flatMap(({ annotation }) => annotation ?? []),
  ];
  try {
    await cluster.editMetadata(
      refOfObject(resource),
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
