import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '#util/kube-object.ts';
import type { PlaneClient } from '../control-plane/index.ts';
import { objectsOf } from '../helm/index.ts';

/** The objects of deploy/manifests, in the order in which they are applied. */
export function plainManifests(): readonly KubeObject[] {
  const folder = 'deploy/manifests';
  return readdirSync(folder)
    .sort()
    .flatMap((file) => objectsOf(readFileSync(join(folder, file), 'utf8')));
}

/** A resource of each operator of deploy/manifests, with all the children that it can have. `namespace`: of those that have one. */
export function fullSamples(namespace: string): readonly KubeObject[] {
  const changes: Readonly<Record<string, object>> = {
    Database: { replicas: 2, backup: true },
  };
  return (
    readdirSync('operators/samples')
      .flatMap((file) => objectsOf(readFileSync(join('operators/samples', file), 'utf8')))
      // Its versions differ: the manifests have no conversion webhook.
      .filter(({ kind }) => kind !== 'WebApp')
      .map((sample) => ({
        ...sample,
        metadata: sample.kind === 'Tenant' ? sample.metadata : { ...sample.metadata, namespace },
        ...(changes[sample.kind] === undefined
          ? {}
          : { spec: { ...(sample.spec as object), ...changes[sample.kind] } }),
      }))
  );
}

/** A definition that has nothing but its kind: what it had is to go. */
export function withoutChildren(text: string): string {
  const end = /^ {2}(?!crd:)(?:vars|reads|children|patches|status|conditions):/m.exec(text)?.index;
  return text.slice(0, end);
}

/** All objects of these kinds that belong to a resource of a definition. `collections`: paths without a namespace. */
export async function ownedObjects(
  client: PlaneClient,
  collections: readonly string[],
): Promise<readonly { readonly path: string; readonly object: KubeObject }[]> {
  const lists = await Promise.all(
    collections.map(async (collection) => {
      const objects = await client.list(`${collection}?labelSelector=homeostat.dev/owner-uid`);
      return objects.map((object) => ({ path: pathIn(collection, object), object }));
    }),
  );
  return lists.flat();
}

function pathIn(collection: string, { metadata: { namespace, name } }: KubeObject): string {
  if (namespace === undefined) return `${collection}/${name}`;
  const at = collection.lastIndexOf('/');
  return `${collection.slice(0, at)}/namespaces/${namespace}${collection.slice(at)}/${name}`;
}
