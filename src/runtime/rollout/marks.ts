import { conditionsOf } from '../../util/conditions-of.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';

const reconcileAt = 'homeostat.dev/reconcile-at';

/** How a resource was when a newer revision came: enough to tell whether somebody has made it anew or edited it since. */
export interface Mark {
  readonly uid: string | undefined;
  readonly generation: unknown;
  readonly reconcileAt: string | undefined;
  /** All but metadata and status, of a kind that counts no generations. */
  readonly content: Readonly<Record<string, unknown>> | undefined;
}

export function markOf(resource: KubeObject): Mark {
  const { uid, generation, annotations } = resource.metadata;
  return {
    uid,
    generation,
    reconcileAt: annotations?.[reconcileAt],
    content: generation === undefined ? contentOf(resource) : undefined,
  };
}

/**
 * Is it another object than the one that was marked, or did somebody edit it, or ask for a look at it? One that is being deleted is not
 * being edited (its generation rises): it ends as it has lived.
 */
export function isTouched(mark: Mark, resource: KubeObject): boolean {
  const now = markOf(resource);
  if (now.uid !== mark.uid) return true;
  if (resource.metadata.deletionTimestamp !== undefined) return false;
  return (
    now.generation !== mark.generation ||
    now.reconcileAt !== mark.reconcileAt ||
    !deepEqual(now.content, mark.content)
  );
}

/** The revision that its last report was made by. Undefined: there is none. */
export function revisionOf({ status }: KubeObject): string | undefined {
  const { definitionRevision } = isJsonObject(status) ? status : {};
  return typeof definitionRevision === 'string' ? definitionRevision : undefined;
}

/** Does its last report say that deletions of a change wait for an approval? */
export function holdsDeletions(resource: KubeObject): boolean {
  return conditionsOf(resource).some(
    ({ type, reason }) => type === 'Ready' && reason === 'DeletionsHeld',
  );
}

function contentOf({ metadata: _, status: __, ...content }: KubeObject) {
  return content;
}
