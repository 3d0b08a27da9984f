import type { JsonObject } from '../../util/json.ts';
import type { ServedKind } from '../kinds/index.ts';
import { groupNames, versionsOfGroup } from './legacy.ts';
import { subresourceVerbs, verbsOf } from './verbs.ts';

export type AggregatedVersion = 'v2' | 'v2beta1';

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
