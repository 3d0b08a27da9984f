import type { OperatorPlan } from '#compile';
import { type Gvk, groupKindKey, gvkKey } from '#util/gvk.ts';
/** Purpose of a right. `scripts/deploy` names the test that verifies each. */
export type RightPurpose =
  | 'crds'
  | 'crd'
  | 'resources'
  | 'resource-metadata'
  | 'resource-finished'
  | 'resource-patch'
  | 'resource-gone'
  | 'status'
  | 'owners'
  | 'children'
  | 'reads'
  | 'reads-by-name'
  | 'read-namespaces'
  | 'history'
  | 'history-keys'
  | 'patch-targets'
  | 'namespace-going'
  | 'granted-rules'
  | 'granted-roles'
  | 'events'
  | 'definition-crd'
  | 'definitions'
  | 'definition-status'
  | 'lease'
  | 'lease-new'
  | 'configmaps'
  | 'clusters'
  | 'cluster-secrets'
  | 'http'
  | 'http-values'
  | 'http-logins'
  | 'conversion'
  | 'conversion-bundle'
  | 'member';

/** One right on one resource. */
export interface AccessRule {
  /** The empty string is the core group. */
  readonly apiGroup: string;
  /** Plural, with a subresource: `podsets/status`. */
  readonly resource: string;
  /** `resourceNames`. @default undefined: all */
  readonly names?: readonly string[];
  readonly verbs: readonly string[];
  /** Namespaces that are sufficient. @default undefined: cluster-wide */
  readonly namespaces?: readonly string[];
  readonly purpose: RightPurpose;
  /** Shown to users: `podset: its children`. */
  readonly reason: string;
}

/** A rule of a role: all rights on one resource. */
export interface MergedRule extends Omit<AccessRule, 'purpose' | 'reason'> {
  /** Unique, in order. */
  readonly purposes: readonly RightPurpose[];
  readonly reasons: readonly string[];
}

/** Order of verbs in a rule: reads before writes. */
const verbOrder = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'bind'];

/** Merges rules on the same objects, in order of first occurrence. Rights on all objects replace the same rights on named objects. */
export function mergeRules(rules: readonly AccessRule[]): readonly MergedRule[] {
  const widened = rules.map((rule) => (isGrantedOnAll(rule, rules) ? onAll(rule) : rule));
  const groups = Map.groupBy(widened, ({ apiGroup, resource, names, namespaces }) =>
    JSON.stringify([apiGroup, resource, names ?? null, namespaces ?? null]),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { purpose: _, reason: __, ...place } = first;
    return [
      {
        ...place,
        verbs: sortedVerbs(group.flatMap(({ verbs }) => verbs)),
        purposes: [...new Set(group.map(({ purpose }) => purpose))],
        reasons: [...new Set(group.map(({ reason }) => reason))],
      },
    ];
  });
}

function isGrantedOnAll({ apiGroup, resource, verbs }: AccessRule, rules: readonly AccessRule[]) {
  const given = rules.filter(
    (rule) =>
      rule.apiGroup === apiGroup &&
      rule.resource === resource &&
      rule.names === undefined &&
      rule.namespaces === undefined,
  );
  return verbs.every((verb) => given.some((rule) => rule.verbs.includes(verb)));
}

function onAll({ names: _, namespaces: __, ...rule }: AccessRule): AccessRule {
  return rule;
}

function sortedVerbs(verbs: readonly string[]): readonly string[] {
  return [...new Set(verbs)].sort((a, b) => verbOrder.indexOf(a) - verbOrder.indexOf(b));
}

const rbacGroup = 'rbac.authorization.k8s.io';
const roles: readonly string[] = ['roles', 'clusterroles'];

/** Why a rule grants more than it names; undefined: it does not. */
export function privilegeWarning({
  apiGroup,
  resource,
  names,
  verbs,
}: Pick<MergedRule, 'apiGroup' | 'resource' | 'names' | 'verbs'>): string | undefined {
  if ([apiGroup, resource, ...verbs].some((word) => word.includes('*')))
    return isClusterAdmin({ apiGroup, resource, verbs })
      ? 'this grants cluster-admin'
      : 'a wildcard also grants resources that are added later';
  if (verbs.includes('impersonate'))
    return `it can impersonate ${names === undefined ? 'every user' : names.join(', ')} with all their rights`;
  if (apiGroup !== rbacGroup || !roles.includes(resource)) return undefined;
  if (verbs.includes('escalate')) return '"escalate" allows to grant every right';
  if (!verbs.includes('bind')) return undefined;
  if (names === undefined) return 'it can bind any role, including cluster-admin';
  const isAdmin = resource === 'clusterroles' && names.includes('cluster-admin');
  return isAdmin ? 'it can bind cluster-admin' : undefined;
}

function isClusterAdmin({
  apiGroup,
  resource,
  verbs,
}: Pick<MergedRule, 'apiGroup' | 'resource' | 'verbs'>): boolean {
  return apiGroup === '*' && resource === '*' && verbs.includes('*');
}

/** The plural of a kind, and whether it is guessed. */
export interface Plural {
  readonly plural: string;
  readonly isGuessed: boolean;
}

/** Known plurals, without a cluster. */
export type KnownPlurals = (gvk: Gvk) => string | undefined;

/** Of the kinds of Homeostat, by group and kind. */
const ownPlurals: readonly (readonly [string, string])[] = [
  [groupKindKey({ group: 'homeostat.dev', kind: 'Cluster' }), 'clusters'],
  [groupKindKey({ group: 'homeostat.dev', kind: 'OperatorDefinition' }), 'operatordefinitions'],
  [groupKindKey({ group: 'homeostat.dev', kind: 'HttpEndpoint' }), 'httpendpoints'],
  [groupKindKey({ group: 'homeostat.dev', kind: 'HttpObject' }), 'httpobjects'],
];

/** Looks up plurals in the definitions and in `known`; guesses others with the rule that most CRDs follow. */
export function createPluralOf(
  plans: readonly OperatorPlan[],
  known: KnownPlurals,
): (gvk: Gvk) => Plural {
  const own = new Map(ownPlurals);
  for (const { definition } of plans) {
    if (definition.kind.source !== 'crd') continue;
    own.set(groupKindKey(definition.kind.gvk), definition.kind.plural);
  }
  const remembered = new Map<string, Plural>();
  return (gvk) => {
    const key = gvkKey(gvk);
    const before = remembered.get(key);
    if (before !== undefined) return before;
    const certain = own.get(groupKindKey(gvk)) ?? known(gvk);
    const plural = { plural: certain ?? guessPlural(gvk.kind), isGuessed: certain === undefined };
    remembered.set(key, plural);
    return plural;
  };
}

/** The rule of CRD code generators. */
function guessPlural(kind: string): string {
  const singular = kind.toLowerCase();
  if (/(?:s|x|z|ch|sh)$/.test(singular)) return `${singular}es`;
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  return `${singular}s`;
}
