import { type LocatedDefinition, printYaml } from '#definition';
import type { KubeCluster } from '#kube';
import { recordOf } from '#runtime';
import { isJsonObject, type Json } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { ManifestText } from '#web';

/** Files with definitions that this home may read, and perhaps write. */
export interface SourceFiles {
  /** Undefined: not a file of this home. */
  read(path: string): Promise<string | undefined>;
  /** Replaces a file that {@link read} returns. Undefined: files are only read. @throws Error with a message for people */
  write?(path: string, text: string): Promise<void>;
}

export interface WrittenSource extends ManifestText {
  /** As the user wrote it; otherwise printed from the object. */
  readonly isWritten: boolean;
}

const flow = { name: 'console', priority: 'object' } as const;

/** The manifest of a definition: a file of this home, a key of a ConfigMap, or the object itself. @throws KubeError */
export async function sourceOf(
  object: KubeObject,
  { cluster, files }: { readonly cluster: KubeCluster; readonly files: SourceFiles | undefined },
  signal: AbortSignal,
): Promise<WrittenSource> {
  const { origin } = recordOf(object);
  if (origin.source === 'directory') {
    const text = await files?.read(origin.ref);
    if (text !== undefined) return { file: origin.ref, text, isWritten: true };
  }
  if (origin.source === 'configmap') {
    const [namespace = '', name = '', ...key] = origin.ref.split('/');
    const gvk = { group: '', version: 'v1', kind: 'ConfigMap' };
    const stored = await cluster.get({ gvk, namespace, name }, { flow }, signal);
    const data = isJsonObject(stored?.object.data) ? stored.object.data : {};
    const text = data[key.join('/')];
    if (typeof text === 'string') return { file: origin.ref, text, isWritten: true };
  }
  return { file: object.metadata.name, text: printedSource(object), isWritten: false };
}

/** The manifest of the accepted revision, printed. Pure. */
export function printedSource(object: KubeObject): string {
  const { apiVersion, kind, metadata } = object;
  const spec = (recordOf(object).revisions[0]?.spec ?? object.spec ?? {}) as Json;
  return printYaml({ apiVersion, kind, metadata: { name: metadata.name }, spec });
}

/** The kind of resources that a definition serves. */
export function servesKind(
  { definition }: LocatedDefinition,
  apiVersion: string,
  kind: string,
): boolean {
  const { gvk } = definition.kind;
  return gvk.kind === kind && apiVersion.startsWith(gvk.group === '' ? 'v' : `${gvk.group}/`);
}
