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

export const revisionGvk: Gvk = { group: 'apps', version: 'v1', kind: 'ControllerRevision' };
/** The revisions of definitions, and nothing that a definition makes. */
export const revisionSelector = `${managedByLabel}=${managedByValue},${definitionLabel},!${childLabel}`;

/** What one revision of a definition is kept in. `number`: counts up, the newest has the highest. Pure. */
export function revisionObject(
  { definition: { name, revision }, document }: LocatedDefinition,
  { namespace, number }: { readonly namespace: string; readonly number: number },
): KubeObject {
  return {
    apiVersion: apiVersionOf(revisionGvk),
    kind: revisionGvk.kind,
    metadata: {
      name: revisionObjectName(name, revision),
      namespace,
      labels: { [managedByLabel]: managedByValue, [definitionLabel]: name },
    },
    data: asWritten(document),
    revision: number,
  };
}

export function revisionObjectName(definition: string, revision: string): string {
  return `${definition}-${revision}`;
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
