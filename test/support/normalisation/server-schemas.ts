import { setTimeout as delay } from 'node:timers/promises';
import { createSchemaCompiler, type KindSchema, type SchemaType } from '#compile';
import { type Gvk, gvkKey, gvkOf } from '#util/gvk.ts';
import type { PlaneClient } from '../control-plane/index.ts';
import { patienceMs } from '../patience.ts';

/** The types and subresources of a server's kinds, from its own documents. */
export interface ServerSchemas {
  typeOf(gvk: Gvk): SchemaType | undefined;
  hasStatus(gvk: Gvk): boolean;
}

/** Reads the documents of all groups, once they have the expected kinds (`apps/v1/Deployment`). */
export async function readServerSchemas(
  client: PlaneClient,
  expectedKinds: readonly string[],
): Promise<ServerSchemas> {
  const { components, paths } = await untilPublished(client, expectedKinds);
  const withStatus = new Set<string>();
  for (const path of paths) {
    for (const key of await kindsWithStatus(client, path)) withStatus.add(key);
  }
  const roots = rootsOf(components);
  const compiler = createSchemaCompiler();
  return {
    typeOf(gvk) {
      const root = roots.get(gvkKey(gvk));
      return root === undefined ? undefined : compiler.compile({ root, components });
    },
    hasStatus: (gvk) => withStatus.has(gvkKey(gvk)),
  };
}

interface Published {
  readonly components: Readonly<Record<string, Component>>;
  /** `api/v1`, `apis/apps/v1`. */
  readonly paths: readonly string[];
}

/** The document of a new kind appears some time after the kind is served, and nothing announces it. */
async function untilPublished(
  client: PlaneClient,
  expectedKinds: readonly string[],
): Promise<Published> {
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    const published = await readDocuments(client);
    const roots = rootsOf(published.components);
    const missing = expectedKinds.filter((kind) => !roots.has(kind));
    if (missing.length === 0) return published;
    if (performance.now() > deadlineMs) throw new Error(`Expected documents of ${missing}`);
    await delay(100);
  }
}

async function readDocuments(client: PlaneClient): Promise<Published> {
  const { paths } = await client.must<Index>({ method: 'GET', path: '/openapi/v3' });
  const entries = Object.entries(paths).filter(([path]) => /\/v[^/]+$/.test(path));
  const documents = await Promise.all(
    // Without the hash of the URL: to one that is not the newest the server answers with a redirection.
    entries.map(([path]) => client.must<Document>({ method: 'GET', path: `/openapi/v3/${path}` })),
  );
  return {
    components: Object.assign({}, ...documents.map(({ components }) => components.schemas)),
    paths: entries.map(([path]) => path),
  };
}

async function kindsWithStatus(client: PlaneClient, group: string): Promise<readonly string[]> {
  const answer = await client.request({ method: 'GET', path: `/${group}` });
  const { groupVersion, resources } = answer.body as ResourceList;
  return resources
    .filter(({ name }) => name.endsWith('/status'))
    .map(({ kind }) => gvkKey(gvkOf(groupVersion, kind)));
}

function rootsOf(components: Readonly<Record<string, Component>>): ReadonlyMap<string, string> {
  const roots = new Map<string, string>();
  for (const [name, component] of Object.entries(components)) {
    for (const gvk of component['x-kubernetes-group-version-kind'] ?? [])
      roots.set(gvkKey(gvk), name);
  }
  return roots;
}

type Component = KindSchema['components'][string] & {
  readonly 'x-kubernetes-group-version-kind'?: readonly Gvk[];
};

interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, Component>> };
}

interface Index {
  readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
}

interface ResourceList {
  readonly groupVersion: string;
  readonly resources: readonly { readonly name: string; readonly kind: string }[];
}
