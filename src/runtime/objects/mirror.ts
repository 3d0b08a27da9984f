import {
  appliedAnnotation,
  approveDeletionsAnnotation,
  managedByLabel,
  managedByValue,
  pausedAnnotation,
  stamped,
} from '../../reconcile/index.ts';
import { canonicalJson } from '../../util/canonical-json.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { apiVersionOf } from '../../util/gvk.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { isLabelKey, isLabelValue } from '../../util/label-syntax.ts';
import { sha256Hex } from '../../util/sha256.ts';
import type { DefinitionOrigin } from '../wanted-definition.ts';
import {
  definitionGvk,
  isMirror,
  sourceLabel,
  sourceRefAnnotation,
  sourceRuntimeAnnotation,
} from './names.ts';
import { originText } from './told-definitions.ts';

/** The field manager of mirrors. */
export const mirrorManager = 'homeostat/operatordefinitions.mirror';

/** Left by kubectl: a second copy of the text. */
export const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** In a text the marks count as they stand there; on a mirror they would take back what users have put on it. */
const notMirrored: ReadonlySet<string> = new Set([
  lastApplied,
  appliedAnnotation,
  approveDeletionsAnnotation,
  pausedAnnotation,
]);

/**
 * The object that shows a text of a file or a ConfigMap: its `spec` as written, its labels and annotations without the marks
 * (those on the object are the users'), and where it stands. `runtime`: who reads the directory, if it is one. Pure.
 */
export function mirrorOf(
  name: string,
  origin: DefinitionOrigin,
  document: JsonObject,
  runtime?: string,
): KubeObject {
  const metadata = isJsonObject(document.metadata) ? document.metadata : {};
  const manifest = {
    apiVersion: apiVersionOf(definitionGvk),
    kind: definitionGvk.kind,
    metadata: {
      name,
      labels: {
        ...textsIn(metadata.labels, (key, value) => isLabelKey(key) && isLabelValue(value)),
        [managedByLabel]: managedByValue,
        [sourceLabel]: origin.source,
      },
      annotations: {
        ...textsIn(metadata.annotations, (key) => isLabelKey(key) && !notMirrored.has(key)),
        [sourceRefAnnotation]: origin.ref,
      },
    },
    spec: isJsonObject(document.spec) ? document.spec : {},
  };
  const mirror = stamped(manifest, sha256Hex(canonicalJson(manifest)).slice(0, 10));
  return runtime === undefined || origin.source !== 'directory' ? mirror : madeBy(runtime, mirror);
}

/** Not part of what is stamped: two that read the same text would write it back and forth. */
function madeBy(runtime: string, mirror: KubeObject): KubeObject {
  const annotations = { ...mirror.metadata.annotations, [sourceRuntimeAnnotation]: runtime };
  return { ...mirror, metadata: { ...mirror.metadata, annotations } };
}

/** The runtime whose directory a mirror shows. Undefined: of no directory, or nobody has said. */
export function runtimeOfMirror({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[sourceRuntimeAnnotation];
}

/** What a mirror is where the server does not take the text: its name and where it stands. Pure. */
export function emptied(mirror: KubeObject): KubeObject {
  return { ...mirror, spec: {} };
}

/** Does the object show the mirror, whatever else was written on it, and whoever made it? Pure. */
export function isAsMirrored(live: KubeObject, mirror: KubeObject): boolean {
  const { labels = {}, annotations: { [sourceRuntimeAnnotation]: _, ...annotations } = {} } =
    mirror.metadata;
  return (
    deepEqual(live.spec, mirror.spec) &&
    covers(live.metadata.labels, labels) &&
    covers(live.metadata.annotations, annotations)
  );
}

/** Where the text of a mirror stands, for people. */
export function placeOfMirror(live: KubeObject, origin: DefinitionOrigin): string {
  const runtime = runtimeOfMirror(live);
  return runtime === undefined ? originText(origin) : `${originText(origin)} of ${runtime}`;
}

/** Where the text of a mirror stands, by what it says itself. */
export function originOfMirror(live: KubeObject): DefinitionOrigin | undefined {
  const source = live.metadata.labels?.[sourceLabel];
  const ref = live.metadata.annotations?.[sourceRefAnnotation];
  if (!isMirror(live) || ref === undefined) return undefined;
  return source === 'configmap' || source === 'directory' ? { source, ref } : undefined;
}

function covers(
  live: Readonly<Record<string, string>> | undefined,
  wanted: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(wanted).every(([key, value]) => live?.[key] === value);
}

/** Of a map as it was written, what a server takes. */
function textsIn(
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
