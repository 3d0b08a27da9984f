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
    const wanted = name.toLowerCase();
    const isCalled = (one: KindInfo, words: readonly string[]) =>
      words.some((word) => isMeant(one, word, wanted));
    const byName = this.all.filter((one) => isCalled(one, wordsOf(one)));
    const byShortName = this.all.filter((one) => isCalled(one, one.shortNames));
    const found = byName.length > 0 ? byName : byShortName;
    const [kind] = [...[...byName, ...byShortName].filter(isOfKubernetes), ...found];
    if (kind === undefined) throw this.#notServed(name);
    if (found.length > 1 && !isOfKubernetes(kind)) throw ambiguous(name, found);
    return [kind];
  }

  #notServed(name: string): CliError {
    const [first = ''] = name.toLowerCase().split('.');
    const known = this.all.flatMap(({ plural, shortNames }) => [plural, ...shortNames]);
    const hint = didYouMean(first, known);
    return new CliError(`The server does not serve "${name}"`, hint === undefined ? {} : { hint });
  }
}

/** Groups of Kubernetes itself have no dot, or are below k8s.io. */
export function isOfKubernetes({ gvk: { group } }: Pick<KindInfo, 'gvk'>): boolean {
  return !group.includes('.') || group.endsWith('.k8s.io');
}

function wordsOf({ plural, singular, gvk }: KindInfo): readonly string[] {
  return [plural, singular, gvk.kind.toLowerCase()];
}

/** `podsets`, `podsets.apps.example.com`, `podsets.v1.apps.example.com`. */
function isMeant({ gvk }: KindInfo, word: string, wanted: string): boolean {
  return [word, `${word}.${gvk.group}`, `${word}.${gvk.version}.${gvk.group}`].includes(wanted);
}

/** Whoever deletes must not hit what another operator has called by the same name. */
function ambiguous(name: string, found: readonly KindInfo[]): CliError {
  const names = found.map(({ plural, gvk }) => `"${plural}.${gvk.group}"`);
  return new CliError(`Several kinds are called "${name}"`, {
    hint: `Write which: ${names.join(' or ')}`,
  });
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
