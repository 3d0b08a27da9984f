import type { KubeObject } from '#util/kube-object.ts';
import type { AuditedRequest } from './audited-request.ts';

/** One verb on one resource, as a role gives it. */
export interface GrantedRight {
  /** The role, for people. */
  readonly role: string;
  /** Of a Role. @default undefined: everywhere */
  readonly namespace?: string;
  readonly apiGroup: string;
  readonly resource: string;
  /** @default undefined: all names */
  readonly names?: readonly string[];
  readonly verb: string;
}

export interface RoleObject extends KubeObject {
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

/** Every right of these roles for itself. */
export function rightsOfRoles(roles: readonly KubeObject[]): readonly GrantedRight[] {
  return (roles as readonly RoleObject[]).flatMap(
    ({ kind, metadata: { name, namespace }, rules }) =>
      rules.flatMap(({ apiGroups, resources, resourceNames: names, verbs }) =>
        apiGroups.flatMap((apiGroup) =>
          resources.flatMap((resource) =>
            verbs.map((verb) => ({
              role: `${kind} ${name}`,
              ...(namespace === undefined ? {} : { namespace }),
              apiGroup,
              resource,
              ...(names === undefined ? {} : { names }),
              verb,
            })),
          ),
        ),
      ),
  );
}

/** Did a request need the right? An apply that has created is asked for both verbs, and logged as one. */
export function isUsedBy(right: GrantedRight, request: AuditedRequest): boolean {
  const { verb, apiGroup, resource, namespace, names } = right;
  const isVerb =
    request.verb === verb ||
    (verb === 'create' && request.verb === 'patch' && request.code === 201);
  return (
    isVerb &&
    request.apiGroup === apiGroup &&
    request.resource === resource &&
    (namespace === undefined || request.namespace === namespace) &&
    (names === undefined || names.includes(request.name)) &&
    request.code !== 403
  );
}

export function rightText({
  role,
  namespace,
  apiGroup,
  resource,
  names,
  verb,
}: GrantedRight): string {
  const group = apiGroup === '' ? '' : `.${apiGroup}`;
  const named = names === undefined ? '' : ` [${names.join(' ')}]`;
  return `${role}: ${verb} ${resource}${group}${named}${namespace === undefined ? '' : ` in ${namespace}`}`;
}
