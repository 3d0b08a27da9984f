/** What a right is for. `scripts/deploy` names the test that shows each. */
export type RightPurpose =
  | 'crds'
  | 'crd'
  | 'resources'
  | 'resource-metadata'
  | 'resource-patch'
  | 'resource-gone'
  | 'status'
  | 'owners'
  | 'children'
  | 'reads'
  | 'reads-by-name'
  | 'read-namespaces'
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
  | 'revisions';

/** One right on one resource. */
export interface AccessRule {
  /** The empty string is the core group. */
  readonly apiGroup: string;
  /** Plural, with a subresource: `podsets/status`. */
  readonly resource: string;
  /** Only objects of these names. @default undefined: all */
  readonly names?: readonly string[];
  readonly verbs: readonly string[];
  /** Where it is enough to have it. @default undefined: in the whole cluster */
  readonly namespaces?: readonly string[];
  readonly purpose: RightPurpose;
  /** For people: `podset: its children`. */
  readonly why: string;
}

/** As a role has it: what is said of one resource stands in one rule. */
export interface MergedRule extends Omit<AccessRule, 'purpose' | 'why'> {
  /** In order, each once. */
  readonly purposes: readonly RightPurpose[];
  readonly whys: readonly string[];
}

/** In the order in which roles are read: looking before writing. */
const verbOrder = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'bind'];

/** Joins rules on the same objects, in the order of the first of each. What is given on all objects is not given on some of them again. */
export function mergeRules(rules: readonly AccessRule[]): readonly MergedRule[] {
  const widened = rules.map((rule) => (isGivenOnAll(rule, rules) ? onAll(rule) : rule));
  const groups = Map.groupBy(widened, ({ apiGroup, resource, names, namespaces }) =>
    JSON.stringify([apiGroup, resource, names ?? null, namespaces ?? null]),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { purpose: _, why: __, ...place } = first;
    return [
      {
        ...place,
        verbs: sortedVerbs(group.flatMap(({ verbs }) => verbs)),
        purposes: [...new Set(group.map(({ purpose }) => purpose))],
        whys: [...new Set(group.map(({ why }) => why))],
      },
    ];
  });
}

function isGivenOnAll({ apiGroup, resource, verbs }: AccessRule, rules: readonly AccessRule[]) {
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
