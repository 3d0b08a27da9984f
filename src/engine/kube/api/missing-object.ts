import type { KubeObject } from '#util/kube-object.ts';
import type { KubeError, MissingObject, NotFoundObject } from '../kube-error.ts';
import type { ObjectRef } from '../roles.ts';
import type { PathDiscovery } from './discovery.ts';

const rbacGroup = 'rbac.authorization.k8s.io';
/** The plurals of roles by kind. */
const rolePlurals: Readonly<Record<string, string>> = {
  Role: 'roles',
  ClusterRole: 'clusterroles',
};

interface WrittenObject {
  readonly ref: ObjectRef;
  readonly manifest: KubeObject;
}

/**
 * The object besides its own that a write to a main resource needs and that does not exist. Undefined: the server named
 * none.
 */
export function missingObject(
  { code, notFound }: KubeError,
  { ref, manifest }: WrittenObject,
  discovery: Pick<PathDiscovery, 'withPlural' | 'resourceFor'>,
): MissingObject | undefined {
  if (code !== 'not-found' || notFound === undefined) return undefined;
  const role = missingRole(notFound, manifest);
  const named = role ?? notFound;
  const { group, resource, name } = named;
  const own = discovery.resourceFor(ref.gvk);
  const isItself =
    role === undefined && own?.plural === resource && own.gvk.group === group && name === ref.name;
  if (isItself) return undefined;
  const type = discovery.withPlural(group, resource);
  const { namespace } = ref;
  return {
    ...named,
    ...(type && { gvk: type.gvk }),
    ...(type?.namespaced === true && namespace !== undefined && { namespace }),
  };
}

/**
 * The role of a binding. Before it grants a role, the server reads it to compare its rules with those of the client. If
 * that role does not exist, the 404 has the name of the role and the plural of the binding (seen on 1.36).
 */
function missingRole(
  { group, resource, name }: NotFoundObject,
  { roleRef }: KubeObject,
): NotFoundObject | undefined {
  const isBinding = resource === 'rolebindings' || resource === 'clusterrolebindings';
  if (group !== rbacGroup || !isBinding) return undefined;
  const { kind, name: roleName } = (roleRef ?? {}) as {
    readonly kind?: unknown;
    readonly name?: unknown;
  };
  const plural = typeof kind === 'string' ? rolePlurals[kind] : undefined;
  return plural === undefined || roleName !== name
    ? undefined
    : { group: rbacGroup, resource: plural, name };
}
