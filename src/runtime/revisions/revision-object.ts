import type { DefinitionParser, LocatedDefinition } from '../../definition/index.ts';
import {
  childLabel,
  definitionLabel,
  managedByLabel,
  managedByValue,
} from '../../reconcile/index.ts';
import { apiVersionOf, type Gvk } from '../../util/gvk.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { sha256Hex } from '../../util/sha256.ts';
import { sourceLabel, sourceRefAnnotation } from '../objects/index.ts';
import type { DefinitionOrigin } from '../wanted-definition.ts';

export const revisionGvk: Gvk = { group: 'apps', version: 'v1', kind: 'ControllerRevision' };
/** The revisions of definitions, and nothing that a definition makes. */
export const revisionSelector = `${managedByLabel}=${managedByValue},${definitionLabel},!${childLabel}`;

export interface RevisionPlace {
  readonly namespace: string;
  /** Counts up, the newest has the highest. */
  readonly number: number;
  /** Where the text stands. @default undefined: nobody says */
  readonly origin?: DefinitionOrigin | undefined;
  /** The one that is on record: the server takes no other data for it. @default undefined: none */
  readonly recorded?: KubeObject | undefined;
  /** Somebody else, whose text is the same, has the name that it should have. @default false */
  readonly isNameTaken?: boolean;
}

/** What one revision of a definition is kept in. Pure. */
export function revisionObject(
  { definition: { name, revision }, document }: LocatedDefinition,
  { namespace, number, origin, recorded, isNameTaken = false }: RevisionPlace,
): KubeObject {
  const plainName = revisionObjectName(name, revision);
  const freeName = isNameTaken ? `${plainName}-${hashOf(origin)}` : plainName;
  return {
    apiVersion: apiVersionOf(revisionGvk),
    kind: revisionGvk.kind,
    metadata: {
      name: recorded?.metadata.name ?? freeName,
      namespace,
      labels: {
        [managedByLabel]: managedByValue,
        [definitionLabel]: name,
        ...(origin && { [sourceLabel]: origin.source }),
      },
      ...(origin && { annotations: { [sourceRefAnnotation]: origin.ref } }),
    },
    data: recorded?.data ?? asWritten(document),
    revision: number,
  };
}

export function revisionObjectName(definition: string, revision: string): string {
  return `${definition}-${revision}`;
}

/** Is that revision kept in the object, which is one of its definition? */
export function keepsRevision(
  { metadata }: KubeObject,
  { definition: { name, revision } }: LocatedDefinition,
): boolean {
  const plainName = revisionObjectName(name, revision);
  return metadata.name === plainName || metadata.name.startsWith(`${plainName}-`);
}

/** Where its text stood. */
export function originOfRevision({ metadata }: KubeObject): DefinitionOrigin | undefined {
  const source = metadata.labels?.[sourceLabel];
  const ref = metadata.annotations?.[sourceRefAnnotation];
  const isSource = source === 'configmap' || source === 'directory' || source === 'object';
  return isSource && ref !== undefined ? { source, ref } : undefined;
}

/** Of which definition it is. */
export function definitionOf({ metadata }: KubeObject): string {
  return metadata.labels?.[definitionLabel] ?? '';
}

/** The newest first. Pure. */
export function newestFirst(objects: Iterable<KubeObject>): readonly KubeObject[] {
  return [...objects].sort((a, b) => numberOf(b) - numberOf(a));
}

export function numberOf({ revision }: KubeObject): number {
  return typeof revision === 'number' ? revision : 0;
}

/** The definition in it, as far as it can be read by this version of Homeostat; its mistakes else. Pure. */
export function readRevision(
  { metadata, data }: KubeObject,
  parser: DefinitionParser,
): LocatedDefinition | string {
  const file = `controllerrevision ${metadata.namespace}/${metadata.name}`;
  const { definitions, diagnostics } = parser.parse(JSON.stringify(data ?? {}), file);
  const [located] = definitions;
  if (located !== undefined) return located;
  return diagnostics.find(({ severity }) => severity === 'error')?.message ?? 'It is empty';
}

/** Without what a server has added, where the document was copied from one. */
function asWritten({ apiVersion, kind, metadata, spec }: JsonObject): JsonObject {
  const { name, labels, annotations } = isJsonObject(metadata) ? metadata : {};
  return {
    apiVersion,
    kind,
    metadata: { name, ...(labels && { labels }), ...(annotations && { annotations }) },
    spec,
  };
}

function hashOf(origin: DefinitionOrigin | undefined): string {
  return sha256Hex(`${origin?.source} ${origin?.ref}`).slice(0, 10);
}
