import type { MergedRule } from './access-rule.ts';

const rbacGroup = 'rbac.authorization.k8s.io';
const roles: readonly string[] = ['roles', 'clusterroles'];

/** Why a rule gives more than what it names; undefined: it does not. */
export function whyFarReaching({
  apiGroup,
  resource,
  names,
  verbs,
}: Pick<MergedRule, 'apiGroup' | 'resource' | 'names' | 'verbs'>): string | undefined {
  if ([apiGroup, resource, ...verbs].some((word) => word.includes('*')))
    return isEverything({ apiGroup, resource, verbs })
      ? 'these are the rights of cluster-admin'
      : 'a wildcard also gives what is added to the API later';
  if (verbs.includes('impersonate'))
    return `it acts as ${names === undefined ? 'anybody' : names.join(', ')}, with all rights that are given there`;
  if (apiGroup !== rbacGroup || !roles.includes(resource)) return undefined;
  if (verbs.includes('escalate')) return 'who may escalate a role can give every right there is';
  if (!verbs.includes('bind')) return undefined;
  if (names === undefined) return 'any role can be bound, cluster-admin included';
  const isAdmin = resource === 'clusterroles' && names.includes('cluster-admin');
  return isAdmin ? 'binding cluster-admin gives every right there is' : undefined;
}

function isEverything({
  apiGroup,
  resource,
  verbs,
}: Pick<MergedRule, 'apiGroup' | 'resource' | 'verbs'>): boolean {
  return apiGroup === '*' && resource === '*' && verbs.includes('*');
}
