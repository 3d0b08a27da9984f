import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject } from '#util/json.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { reconcileAtAnnotation } from '#util/stored-names.ts';

/** Identity and content of a resource, to detect whether it was recreated or edited. */
export interface ResourceSnapshot {
  readonly uid: string | undefined;
  readonly generation: unknown;
  readonly reconcileAt: string | undefined;
  /** Everything but metadata and status, for kinds without `generation`. */
  readonly content: Readonly<Record<string, unknown>> | undefined;
}

export function snapshotOf(resource: KubeObject): ResourceSnapshot {
  const { uid, generation, annotations } = resource.metadata;
  return {
    uid,
    generation,
    reconcileAt: annotations?.[reconcileAtAnnotation],
    content: generation === undefined ? contentOf(resource) : undefined,
  };
}

/**
 * Whether the resource was recreated, edited or asked to reconcile since the snapshot. A deletion is not an edit, although it increments
 * `generation`.
 */
export function isEdited(snapshot: ResourceSnapshot, resource: KubeObject): boolean {
  const now = snapshotOf(resource);
  if (now.uid !== snapshot.uid) return true;
  if (resource.metadata.deletionTimestamp !== undefined) return false;
  return (
    now.generation !== snapshot.generation ||
    now.reconcileAt !== snapshot.reconcileAt ||
    !deepEqual(now.content, snapshot.content)
  );
}

/** The revision that the resource reports. Undefined: none. */
export function revisionOf({ status }: KubeObject): string | undefined {
  const { definitionRevision } = isJsonObject(status) ? status : {};
  return typeof definitionRevision === 'string' ? definitionRevision : undefined;
}

/** Whether the resource reports `DeletionsHeld`. */
export function holdsDeletions(resource: KubeObject): boolean {
  return conditionsOf(resource).some(
    ({ type, reason }) => type === 'Ready' && reason === 'DeletionsHeld',
  );
}

function contentOf({ metadata: _, status: __, ...content }: KubeObject) {
  return content;
}
