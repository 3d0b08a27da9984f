import type { ChildPlan, OperatorPlan } from '#compile';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { AccessRule } from './access-rule.ts';
import { grantedRights } from './granted-rights.ts';
import { readRights } from './read-rights.ts';
import { type RequiredRight, type ResourceOf, watchVerbs } from './required-right.ts';

/**
 * On the objects of a definition itself, and what these mean for the cluster.
 * @param titleOf an object in the words of `homeostat rights`, by its id
 */
export function installRights(
  { children, reads, definition }: OperatorPlan,
  name: string,
  resourceOf: ResourceOf,
  titleOf: (id: string) => string = installTitle,
): { readonly rules: readonly AccessRule[]; readonly notes: readonly string[] } {
  const required = children.flatMap((child): readonly RequiredRight[] => {
    const { gvk, id } = child;
    const about = { gvk, purpose: 'children', reason: `its ${titleOf(id)}` } as const;
    return [
      { ...about, verbs: watchVerbs },
      { ...about, verbs: ['get', 'create', 'patch', 'delete'], ...literalPlaceOf(child) },
    ];
  });
  const granted = grantedRights(definition, () => true, titleOf);
  const meanings = meaningsOf(children, titleOf);
  const rules = [...required, ...readRights(reads)].map(
    ({ gvk, subresource: _, isNamespaced: __, reason, ...right }): AccessRule => ({
      ...right,
      apiGroup: gvk.group,
      resource: resourceOf(gvk),
      reason: `${name}: ${reason}`,
    }),
  );
  return {
    rules: [...rules, ...granted.rules],
    notes: [...granted.notes, ...meanings.map((meaning) => `${name}: ${meaning}`)],
  };
}

/** A policy and its binding of the same title mean the same: it is said once. */
function meaningsOf(
  children: readonly ChildPlan[],
  titleOf: (id: string) => string,
): readonly string[] {
  const found = new Map<string, string>();
  for (const child of children) {
    const meaning = meaningOf(child);
    const title = titleOf(child.id);
    const key = `${title} ${meaning ?? ''}`;
    if (meaning !== undefined && !found.has(key))
      found.set(key, `${title} (${child.gvk.kind}): ${meaning}`);
  }
  return [...found.values()];
}

/** An object of `install`, in the words of `homeostat rights`. */
function installTitle(id: string): string {
  return `object of "install" "${id}"`;
}

/** Where an object of `install` is, as far as the definition says it literally. */
function literalPlaceOf({ template }: Pick<ChildPlan, 'template'>): {
  readonly names?: readonly string[];
  readonly namespaces?: readonly string[];
} {
  const { name, namespace } = metadataOf(template);
  return {
    ...(isLiteral(name) && { names: [name] }),
    ...(isLiteral(namespace) && { namespaces: [namespace] }),
  };
}

/** What an object of `install` means for a whole cluster, for the administrator who permits it. Undefined: nothing beyond its own kind. */
function meaningOf(child: ChildPlan): string | undefined {
  const { group, kind } = child.gvk;
  const meanings = byGroup[group];
  return meanings?.(kind, child);
}

type Meaning = (kind: string, child: ChildPlan) => string | undefined;

const byGroup: Readonly<Record<string, Meaning>> = {
  'rbac.authorization.k8s.io': meaningOfRole,
  'admissionregistration.k8s.io': meaningOfAdmission,
  'apiregistration.k8s.io': () =>
    'the API server passes requests for this API group to the service that it names',
  'apiextensions.k8s.io': () => 'it adds or changes a kind for the whole cluster',
};

const aggregationPrefix = 'rbac.authorization.k8s.io/aggregate-to-';

function meaningOfRole(kind: string, { template }: ChildPlan): string {
  if (kind.endsWith('Binding'))
    return 'it grants a role: users who may change the definition decide who has these rights';
  const labels = metadataOf(template).labels;
  const targets = Object.entries(isJsonObject(labels) ? labels : {}).flatMap(([key, value]) =>
    key.startsWith(aggregationPrefix) && value === 'true'
      ? [key.slice(aggregationPrefix.length)]
      : [],
  );
  if (targets.length === 0) return 'the runtime must hold all rights that it contains';
  const names = targets.every(isLiteral)
    ? `the ClusterRole ${targets.map((target) => `"${target}"`).join(', ')}`
    : 'the ClusterRoles that its labels name';
  return `its rules become part of ${names}: everyone who has such a role gets them, and the runtime must hold them`;
}

function meaningOfAdmission(kind: string): string {
  if (kind.endsWith('WebhookConfiguration'))
    return 'the API server sends requests of all users to the webhook that it names, which may reject them and read their objects';
  return kind.startsWith('Mutating')
    ? 'it changes objects in the requests of all users that it matches'
    : 'it decides about the requests of all users that it matches, and may block them';
}

function metadataOf(template: unknown): JsonObject {
  const metadata = isJsonObject(template) ? template.metadata : undefined;
  return isJsonObject(metadata) ? metadata : {};
}

function isLiteral(value: unknown): value is string {
  return typeof value === 'string' && !/\$\{|\{\{/.test(value);
}
