import {
  type EditableMetadata,
  KubeError,
  type MetadataPatch,
  type StoredObject,
} from '../../kube/roles.ts';
import { isJsonObject } from '../../util/json.ts';
import { problemOfRequest } from '../failure.ts';
import { childIdOf, identityOfRef, refOfStored } from '../identity.ts';
import {
  childAnnotations,
  childLabels,
  fieldManagerOf,
  managedByLabel,
  managedByValue,
} from '../names.ts';
import { disclosureOf } from '../ownership/is-child.ts';
import { clusterWrite, type Pass, type PrunedObject } from '../pass/pass.ts';

/**
 * Removes our labels, annotations, owner reference and apply entry from an object, so that the garbage collector keeps it and no later
 * resource takes it for its child. Its values are kept.
 */
export async function releaseObject(pass: Pass, stored: StoredObject): Promise<PrunedObject> {
  const { context, uid: ownerUid, signal } = pass;
  const { object } = stored;
  const childId = childIdOf(object);
  const ref = refOfStored(object);
  const manager = fieldManagerOf(context.plan.name);
  try {
    await context.cluster.editMetadata(
      ref,
      {
        ...clusterWrite(pass),
        uid: object.metadata.uid ?? '',
        change: (metadata) => withoutOwnership(metadata, { manager, ownerUid }),
      },
      signal,
    );
    pass.effects.hasWritten = true;
    pass.state.untracked.delete(identityOfRef(ref));
    return { childId, object, state: 'released' };
  } catch (error) {
    if (!(error instanceof KubeError) || signal.aborted) throw error;
    const problem = problemOfRequest(error, { about: disclosureOf(pass, object) });
    return { childId, object, state: 'failed', problem };
  }
}

interface Owner {
  readonly manager: string;
  readonly ownerUid: string;
}

/** @internal for its test */
export function withoutOwnership(
  metadata: EditableMetadata,
  { manager, ownerUid }: Owner,
): MetadataPatch {
  const { labels = {}, annotations = {}, ownerReferences, managedFields } = metadata;
  const ourLabels = Object.keys(labels).filter(
    (key) =>
      childLabels.includes(key) || (key === managedByLabel && labels[key] === managedByValue),
  );
  // Not all under our prefix: some annotations belong to users (`homeostat.dev/paused`).
  const ourAnnotations = Object.keys(annotations).filter((key) => childAnnotations.includes(key));
  return {
    labels: nulls(ourLabels),
    annotations: nulls(ourAnnotations),
    ...(ownerReferences && {
      ownerReferences: ownerReferences.filter(({ uid }) => uid !== ownerUid),
    }),
    ...(Array.isArray(managedFields) && { managedFields: withoutManager(managedFields, manager) }),
  };
}

function nulls(keys: readonly string[]): Readonly<Record<string, null>> {
  return Object.fromEntries(keys.map((key) => [key, null]));
}

function withoutManager(entries: readonly unknown[], manager: string): readonly unknown[] {
  const others = entries.filter(
    (entry) => !isJsonObject(entry) || entry.manager !== manager || entry.operation !== 'Apply',
  );
  // A server ignores an empty list; a list with one empty entry removes all managers.
  return others.length === 0 ? [{}] : others;
}
