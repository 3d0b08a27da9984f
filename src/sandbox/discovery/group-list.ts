import type { JsonObject } from '#util/json.ts';
import type { ServedKind } from '../kinds/served-kind.ts';

/** `/api`: the versions of the core group. */
export function coreVersions(): JsonObject {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1' }],
  };
}

/** `/apis`: all other groups. */
export function groupList(kinds: readonly ServedKind[]): JsonObject {
  const groups = groupNames(kinds)
    .filter((group) => group !== '')
    .map((group) => groupEntry(kinds, group));
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

/** `/apis/GROUP`; undefined when the group is not served. */
export function groupDocument(kinds: readonly ServedKind[], group: string): JsonObject | undefined {
  if (group === '' || !groupNames(kinds).includes(group)) return undefined;
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(kinds, group) };
}

/** `/apis/GROUP/VERSION`; undefined when the version is not served. */
export function resourceList(
  kinds: readonly ServedKind[],
  group: string,
  version: string,
): JsonObject | undefined {
  const served = kinds.filter(({ names }) => names.group === group && names.version === version);
  const [first] = served;
  if (first === undefined) return undefined;
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: first.apiVersion,
    resources: served.flatMap(resourceEntries),
  };
}

/** Groups in the order in which their kinds are served. */
function groupNames(kinds: readonly ServedKind[]): readonly string[] {
  return [...new Set(kinds.map(({ names }) => names.group))];
}

/** The versions of a group, the preferred one first. */
function versionsOfGroup(kinds: readonly ServedKind[], group: string): readonly string[] {
  const versions = kinds
    .filter(({ names }) => names.group === group)
    .map(({ names }) => names.version);
  return [...new Set(versions)].sort(compareVersions);
}

function groupEntry(kinds: readonly ServedKind[], group: string): JsonObject {
  const versions = versionsOfGroup(kinds, group).map((version) => ({
    groupVersion: `${group}/${version}`,
    version,
  }));
  return { name: group, versions, preferredVersion: versions[0] ?? {} };
}

function resourceEntries(kind: ServedKind): readonly JsonObject[] {
  const { names, hasStatus, scale } = kind;
  const { plural, singular, namespaced, shortNames, categories } = names;
  const own = { namespaced, kind: names.kind };
  const entry: JsonObject = {
    name: plural,
    singularName: singular,
    ...own,
    verbs: verbsOf(kind),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  };
  const status = { name: `${plural}/status`, singularName: '', ...own, verbs: subresourceVerbs };
  const scaleEntry = {
    name: `${plural}/scale`,
    singularName: '',
    namespaced,
    group: 'autoscaling',
    version: 'v1',
    kind: 'Scale',
    verbs: subresourceVerbs,
  };
  return [entry, ...(hasStatus ? [status] : []), ...(scale === undefined ? [] : [scaleEntry])];
}

/** v2 before v1 before v1beta2 before v1alpha1; other names last, by name. */
function compareVersions(a: string, b: string): number {
  const [x, y] = [versionRank(a), versionRank(b)];
  for (const [index, rank] of x.entries()) {
    const order = (y[index] ?? 0) - rank;
    if (order !== 0) return order;
  }
  return a < b ? -1 : 1;
}

function versionRank(version: string): readonly number[] {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return [0, 0, 0];
  const [, major, stage, minor] = match;
  const stageRank = stage === undefined ? 3 : stage === 'beta' ? 2 : 1;
  return [stageRank, Number(major), Number(minor ?? 0)];
}

const resourceVerbs = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
] as const;

const customVerbs = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
] as const;

const subresourceVerbs = ['get', 'patch', 'update'] as const;

/** The verbs of a resource, in the server's order. */
function verbsOf({ isCustom, names, review }: ServedKind): readonly string[] {
  if (review !== undefined) return ['create'];
  if (isCustom) return customVerbs;
  if (names.kind !== 'Namespace') return resourceVerbs;
  return resourceVerbs.filter((verb) => verb !== 'deletecollection');
}

type AggregatedVersion = 'v2' | 'v2beta1';

/** All resources of `/api` (the core group) or `/apis` (all others) in one document. */
export function aggregatedDiscovery(
  kinds: readonly ServedKind[],
  root: 'api' | 'apis',
  version: AggregatedVersion,
): JsonObject {
  const groups = groupNames(kinds).filter((group) => (group === '') === (root === 'api'));
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map((group) => groupItem(kinds, group)),
  };
}

function groupItem(kinds: readonly ServedKind[], group: string): JsonObject {
  const versions = versionsOfGroup(kinds, group).map((version) => ({
    version,
    resources: kinds
      .filter(({ names }) => names.group === group && names.version === version)
      .map(resourceItem),
    freshness: 'Current',
  }));
  const metadata = { creationTimestamp: null };
  return { metadata: group === '' ? metadata : { name: group, ...metadata }, versions };
}

function resourceItem(kind: ServedKind): JsonObject {
  const { names, hasStatus, scale } = kind;
  const { group, version, plural, singular, namespaced, shortNames, categories } = names;
  const responseKind = { group, version, kind: names.kind };
  const status = { subresource: 'status', responseKind, verbs: subresourceVerbs };
  const scaleItem = {
    subresource: 'scale',
    responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    verbs: subresourceVerbs,
  };
  const subresources = [
    ...(hasStatus ? [status] : []),
    ...(scale === undefined ? [] : [scaleItem]),
  ];
  return {
    resource: plural,
    responseKind,
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: verbsOf(kind),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}
