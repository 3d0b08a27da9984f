import type { LocatedDefinition } from '#definition';
import {
  appliedAnnotation,
  approveDeletionsAnnotation,
  managedByLabel,
  managedByValue,
  pausedAnnotation,
} from '#reconcile';
import { deepEqual } from '#util/deep-equal.ts';
import { apiVersionOf } from '#util/gvk.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { isLabelKey, isLabelValue } from '#util/label-selector.ts';
import {
  definitionFinalizer,
  rejectedAnnotation,
  runtimeLabel,
  sourceLabel,
  sourceRefAnnotation,
  withdrawnAnnotation,
} from '#util/stored-names.ts';
import type { DefinitionOrigin } from '../desired-definition.ts';
import { truncated } from '../error-message.ts';
import { definitionGvk } from '../objects/names.ts';
import { controlAnnotations, manifestControls } from './definition-controls.ts';

/** Field manager of published content: `spec`, labels and annotations of a manifest. */
export const publishManager = 'homeostat/operatordefinitions.text';
/** Field manager of notes about the manifest: rejected or withdrawn. */
export const noteManager = 'homeostat/operatordefinitions.note';

/** Written by kubectl: a second copy of the manifest. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** Controls in a manifest are published as separate annotations, see {@link manifestControls}. */
const notPublished: ReadonlySet<string> = new Set([
  lastAppliedAnnotation,
  appliedAnnotation,
  approveDeletionsAnnotation,
  pausedAnnotation,
  rejectedAnnotation,
  withdrawnAnnotation,
  ...controlAnnotations,
]);

interface PublicationOptions {
  readonly name: string;
  readonly origin: DefinitionOrigin;
  /** Of this runtime, as a label value. */
  readonly runtime: string;
  /** As written. Undefined: not publishable; the object only shows that the definition exists. */
  readonly document?: JsonObject;
}

/** Builds the object of a manifest: `spec`, labels and annotations as written, origin and runtime. Pure. */
export function publicationOf({ name, origin, runtime, document }: PublicationOptions): KubeObject {
  const metadata = isJsonObject(document?.metadata) ? document.metadata : {};
  return {
    apiVersion: apiVersionOf(definitionGvk),
    kind: definitionGvk.kind,
    metadata: {
      name,
      labels: {
        ...validEntries(metadata.labels, (key, value) => isLabelKey(key) && isLabelValue(value)),
        [managedByLabel]: managedByValue,
        [sourceLabel]: origin.source,
        [runtimeLabel]: runtime,
      },
      annotations: {
        ...validEntries(metadata.annotations, (key) => isLabelKey(key) && !notPublished.has(key)),
        ...manifestControls(document),
        [sourceRefAnnotation]: origin.ref,
      },
      finalizers: [definitionFinalizer],
    },
    spec: isJsonObject(document?.spec) ? document.spec : {},
  };
}

/** Whether the object contains the publication, ignoring other fields. Pure. */
export function showsPublication(live: KubeObject, { spec, metadata }: KubeObject): boolean {
  return (
    deepEqual(live.spec, spec) &&
    covers(live.metadata.labels, metadata.labels) &&
    covers(live.metadata.annotations, metadata.annotations) &&
    controlAnnotations.every(
      (key) => live.metadata.annotations?.[key] === metadata.annotations?.[key],
    )
  );
}

/** Note about a manifest on its object. */
export interface ManifestNote {
  /** Errors: `file:line:column: message. Hint`, one each. @default none */
  readonly rejected?: readonly string[];
  /** Controls in a manifest with errors, see {@link manifestControls}. @default none */
  readonly controls?: Readonly<Record<string, string>>;
  /** When the manifest was removed, in ms since the epoch. @default undefined: it exists */
  readonly withdrawnAtMs?: number;
}

/** Converts a note to annotations. Pure. */
export function noteAnnotations({
  rejected = [],
  controls: marks,
  withdrawnAtMs: atMs,
}: ManifestNote): Readonly<Record<string, string>> {
  return {
    ...marks,
    ...(rejected.length > 0 && {
      [rejectedAnnotation]: truncated(rejected.join('\n')).toWellFormed(),
    }),
    ...(atMs !== undefined && { [withdrawnAnnotation]: new Date(atMs).toISOString() }),
  };
}

/** Whether the object has exactly this note. Pure. */
export function hasNote({ metadata }: KubeObject, note: ManifestNote): boolean {
  const desired = noteAnnotations(note);
  const exact = [rejectedAnnotation, withdrawnAnnotation].every(
    (key) => metadata.annotations?.[key] === desired[key],
  );
  return exact && covers(metadata.annotations, note.controls);
}

/** Origin of an object's manifest, from its labels. Undefined: a user's object. */
export function originOfPublished({ metadata }: KubeObject): DefinitionOrigin | undefined {
  const source = metadata.labels?.[sourceLabel];
  if (source !== 'configmap' && source !== 'directory') return undefined;
  return { source, ref: metadata.annotations?.[sourceRefAnnotation] ?? '' };
}

/** The runtime that owns an object. Undefined: none. */
export function runtimeOf({ metadata }: KubeObject): string | undefined {
  return metadata.labels?.[runtimeLabel];
}

/** When an object's manifest was removed. Undefined: it exists, or the annotation is no time. */
export function withdrawnAtMs({ metadata }: KubeObject): number | undefined {
  const atMs = Date.parse(metadata.annotations?.[withdrawnAnnotation] ?? '');
  return Number.isNaN(atMs) ? undefined : atMs;
}

function covers(
  live: Readonly<Record<string, string>> | undefined,
  desired: Readonly<Record<string, string>> = {},
): boolean {
  return Object.entries(desired).every(([key, value]) => live?.[key] === value);
}

/** Entries of a map as written that the API server accepts. */
function validEntries(
  written: unknown,
  isTaken: (key: string, value: string) => boolean,
): Readonly<Record<string, string>> {
  if (!isJsonObject(written)) return {};
  return Object.fromEntries(
    Object.entries(written).filter(
      (entry): entry is [string, string] =>
        typeof entry[1] === 'string' && entry[1].isWellFormed() && isTaken(entry[0], entry[1]),
    ),
  );
}

/** A manifest that its object matches. */
export interface Confirmation {
  /** With positions in the manifest. */
  readonly located: LocatedDefinition;
  /** `file:line:column: message. Hint`, one each. */
  readonly warnings: readonly string[];
}
