import type { ChildPlan } from '#compile';
import { isJsonObject, type JsonObject } from '#util/json.ts';

/** An object of `install`, in the words of `homeostat rights`. */
export function installTitle(id: string): string {
  return `object of "install" "${id}"`;
}

/** Where an object of `install` is, as far as the definition says it literally. */
export function literalPlaceOf({ template }: Pick<ChildPlan, 'template'>): {
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
export function meaningOf(child: ChildPlan): string | undefined {
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
