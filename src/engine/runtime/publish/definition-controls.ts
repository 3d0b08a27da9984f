import { approveDeletionsAnnotation, pausedAnnotation } from '#reconcile';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject, ObjectMeta } from '#util/kube-object.ts';
import { approveDeletionsInTextAnnotation, pausedInTextAnnotation } from '#util/stored-names.ts';

/**
 * Controls in a manifest have their own annotations on the object: with the same annotation they would override the users'. Stored on the
 * object, so that they survive a manifest that cannot be read.
 */
const inManifest = {
  [pausedAnnotation]: pausedInTextAnnotation,
  [approveDeletionsAnnotation]: approveDeletionsInTextAnnotation,
} as const;

/** Annotations for the controls in a manifest. */
export const controlAnnotations: readonly string[] = Object.values(inManifest);

/** The controls of the manifest that an object was published from. Pure. */
export function publishedControls({
  metadata: { annotations = {} },
}: KubeObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    controlAnnotations.flatMap((key) => {
      const value = annotations[key];
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

/** What users control through annotations. */
interface Controls {
  readonly isPaused: boolean;
  /** Revision whose deletions are approved. */
  readonly approvedDeletions: string | undefined;
}

type Annotations = Readonly<Record<string, unknown>>;

/** Converts the control annotations of a manifest to those of its object. Pure. */
export function manifestControls(
  document: JsonObject | undefined,
): Readonly<Record<string, string>> {
  const metadata = isJsonObject(document?.metadata) ? document.metadata : {};
  const { isPaused, approvedDeletions } = controlsUnder(
    isJsonObject(metadata.annotations) ? metadata.annotations : {},
    (key) => key,
  );
  return {
    ...(isPaused && { [inManifest[pausedAnnotation]]: 'true' }),
    ...(approvedDeletions !== undefined && {
      [inManifest[approveDeletionsAnnotation]]: approvedDeletions,
    }),
  };
}

/**
 * Combines the controls of users and of the manifest. Users' approvals take precedence. While the object is being deleted, only users'
 * controls count. Pure.
 */
export function controlsOf({ annotations = {}, deletionTimestamp }: ObjectMeta): Controls {
  const users = controlsUnder(annotations, (key) => key);
  if (deletionTimestamp !== undefined) return users;
  const text = controlsUnder(annotations, (key) => inManifest[key]);
  return {
    isPaused: users.isPaused || text.isPaused,
    approvedDeletions: users.approvedDeletions ?? text.approvedDeletions,
  };
}

function controlsUnder(
  annotations: Annotations,
  nameOf: (key: keyof typeof inManifest) => string,
): Controls {
  const approved = annotations[nameOf(approveDeletionsAnnotation)];
  return {
    isPaused: annotations[nameOf(pausedAnnotation)] === 'true',
    approvedDeletions: typeof approved === 'string' && approved !== '' ? approved : undefined,
  };
}
