import { readdirSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '#util/kube-object.ts';

const folder = new URL('../../fixtures/manifests/', import.meta.url);

/** The manifests of the corpus as people write them, in an order in which a server takes them. */
export function readCorpus(): readonly KubeObject[] {
  const manifests = readdirSync(folder)
    .sort()
    .flatMap((file) => parseAllDocuments(readFileSync(new URL(file, folder), 'utf8')))
    .map((document) => document.toJS() as KubeObject);
  return manifests.toSorted((a, b) => rank(a) - rank(b));
}

/** For messages: `apps/v1 Deployment corpus/web`. */
export function nameOf({ apiVersion, kind, metadata }: KubeObject): string {
  return `${apiVersion} ${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
}

export function isCustom({ apiVersion }: KubeObject): boolean {
  return apiVersion.startsWith('fixtures.homeostat.dev/');
}

function rank(manifest: KubeObject): number {
  if (manifest.kind === 'Namespace') return 0;
  if (manifest.kind === 'CustomResourceDefinition') return 1;
  return isCustom(manifest) ? 3 : 2;
}
