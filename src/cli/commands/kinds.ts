import type { ApiClient, ResourceType } from '../../kube/index.ts';
import { didYouMean } from '../../util/did-you-mean.ts';
import { gvkOf } from '../../util/gvk.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { CliError } from '../exit-code.ts';

/** A kind that the server serves, with the names that people call it by. */
export interface KindInfo extends ResourceType {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

const flow = { name: 'cli', priority: 'world' } as const;
const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Reads what the server serves, in its preferred versions. @throws KubeError */
export async function loadKinds(api: ApiClient, signal: AbortSignal): Promise<Kinds> {
  const documents = await Promise.all(
    ['/api', '/apis'].map((path) => api.request({ method: 'GET', path, accept, flow }, signal)),
  );
  return new Kinds(documents.flatMap(({ body }) => objectsOf(body, 'items')).flatMap(readGroup));
}

/** The kinds of a server, by all of their names. */
export class Kinds {
  readonly all: readonly KindInfo[];

  constructor(all: readonly KindInfo[]) {
    this.all = all;
  }

  /** What `pods`, `po`, `Pod`, `deployments.apps`, `all` or several of these, with commas, mean. @throws CliError */
  named(text: string): readonly KindInfo[] {
    const found = text.split(',').flatMap((name) => this.#find(name.trim()));
    return [...new Set(found)];
  }

  /** The kind of a manifest; undefined when the server does not serve it. */
  of(apiVersion: string, kind: string): KindInfo | undefined {
    const wanted = gvkOf(apiVersion, kind);
    return this.all.find(
      ({ gvk }) =>
        gvk.kind === kind && gvk.group === wanted.group && gvk.version === wanted.version,
    );
  }

  #find(name: string): readonly KindInfo[] {
    const byCategory = this.all.filter(({ categories }) => categories.includes(name));
    if (byCategory.length > 0) return byCategory;
    const [first = '', ...rest] = name.toLowerCase().split('.');
    const group = rest.join('.');
    const kind = this.all.find(
      (one) =>
        (group === '' || one.gvk.group === group) &&
        (one.plural === first ||
          one.singular === first ||
          one.gvk.kind.toLowerCase() === first ||
          one.shortNames.includes(first)),
    );
    if (kind !== undefined) return [kind];
    const known = this.all.flatMap(({ plural, shortNames }) => [plural, ...shortNames]);
    const hint = didYouMean(first, known);
    throw new CliError(`The server does not serve "${name}"`, hint === undefined ? {} : { hint });
  }
}

/** The first version of a group that has a kind is the preferred one. */
function readGroup(group: JsonObject): readonly KindInfo[] {
  const name = isJsonObject(group.metadata) ? String(group.metadata.name ?? '') : '';
  const byPlural = new Map<string, KindInfo>();
  for (const version of objectsOf(group, 'versions'))
    for (const resource of objectsOf(version, 'resources')) {
      const kind = readResource(name, String(version.version), resource);
      if (!byPlural.has(kind.plural)) byPlural.set(kind.plural, kind);
    }
  return [...byPlural.values()];
}

function readResource(group: string, version: string, resource: JsonObject): KindInfo {
  const { responseKind } = resource;
  const kind = isJsonObject(responseKind) ? String(responseKind.kind) : '';
  const subresources = objectsOf(resource, 'subresources');
  return {
    gvk: { group, version, kind },
    plural: String(resource.resource),
    singular: String(resource.singularResource ?? '') || kind.toLowerCase(),
    namespaced: resource.scope === 'Namespaced',
    hasStatus: subresources.some(({ subresource }) => subresource === 'status'),
    verbs: textsOf(resource.verbs),
    shortNames: textsOf(resource.shortNames),
    categories: textsOf(resource.categories),
  };
}

function objectsOf(value: unknown, field: string): readonly JsonObject[] {
  const list = isJsonObject(value) ? value[field] : undefined;
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
