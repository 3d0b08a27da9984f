import {
  type EditableMetadata,
  KubeError,
  type MetadataPatch,
  type StoredObject,
} from '../../kube/roles.ts';
import { isJsonObject } from '../../util/json.ts';
import { problemOfRequest } from '../failure.ts';
import { childIdOf, identityOf, refOfStored } from '../identity.ts';
import {
  annotationsOfChild,
  fieldManagerOf,
  labelsOfChild,
  managedByLabel,
  managedByValue,
} from '../names.ts';
import { aboutObject } from '../ownership/is-child.ts';
import { type Pass, type PrunedObject, worldWrite } from '../pass/pass.ts';

/**
 * Takes off an object all that says it is ours (labels, annotations, owner reference, the apply entry of our field manager), so that
 * nobody collects it and no later resource takes it for its own. Its values stay.
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
        ...worldWrite(pass),
        uid: object.metadata.uid ?? '',
        change: (metadata) => withoutUs(metadata, { manager, ownerUid }),
      },
      signal,
    );
    pass.did.hasWritten = true;
    pass.state.strays.delete(identityOf(ref.gvk, ref.namespace, ref.name));
    return { childId, object, state: 'released' };
  } catch (error) {
    if (!(error instanceof KubeError) || signal.aborted) throw error;
    const problem = problemOfRequest(error, { about: aboutObject(pass, object) });
    return { childId, object, state: 'failed', problem };
  }
}

interface Us {
  readonly manager: string;
  readonly ownerUid: string;
}

/** @internal for its test */
export function withoutUs(metadata: EditableMetadata, { manager, ownerUid }: Us): MetadataPatch {
  const { labels = {}, annotations = {}, ownerReferences, managedFields } = metadata;
  const ourLabels = Object.keys(labels).filter(
    (key) =>
      labelsOfChild.includes(key) || (key === managedByLabel && labels[key] === managedByValue),
  );
  // Not all under our prefix: what people write there (`homeostat.dev/paused`) is theirs.
  const ourAnnotations = Object.keys(annotations).filter((key) => annotationsOfChild.includes(key));
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
  // A server takes an empty list for one that was forgotten, and an empty entry for "nobody has anything".
  return others.length === 0 ? [{}] : others;
}
