import type { ChildDefinition, OperatorDefinition } from '../../definition/index.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import type { AccessRule } from './access-rule.ts';
import { namesOfTemplate } from './names-of-template.ts';

/** What a definition hands on to others, which the runtime must have itself. */
export interface GrantedRights {
  readonly rules: readonly AccessRule[];
  /** What nobody can tell from the definition, for people. */
  readonly notes: readonly string[];
}

const rbacGroup = 'rbac.authorization.k8s.io';

/**
 * Kubernetes lets nobody give rights that he does not have. The rules of a Role that a definition makes are held by the runtime, as far
 * as they are written out; of a RoleBinding the role is one that the runtime may bind. Never `escalate`, which is every right there is.
 */
export function grantedRights(definition: OperatorDefinition): GrantedRights {
  const rules: AccessRule[] = [];
  const notes: string[] = [];
  const children = [...definition.children, ...(definition.onDelete?.children ?? [])];
  for (const child of children.filter(({ gvk }) => gvk.group === rbacGroup)) {
    const title = `${definition.name}: child "${child.id}"`;
    const granted = child.gvk.kind.endsWith('Binding')
      ? boundRoles(definition, child, title)
      : heldRules(child, title);
    rules.push(...granted.rules);
    notes.push(...granted.notes);
  }
  return { rules, notes };
}

function heldRules({ template, gvk }: ChildDefinition, title: string): GrantedRights {
  const unknown = {
    rules: [],
    notes: [
      `${title} makes a ${gvk.kind} with rules that are computed: the runtime must have these rights, too`,
    ],
  };
  if (!isJsonObject(template) || template.aggregationRule !== undefined) return unknown;
  const written = template.rules ?? [];
  if (!Array.isArray(written)) return unknown;
  const rules = written.map((rule) => heldRule(rule, title));
  const { notes } = unknown;
  return {
    rules: rules.flatMap((each) => each ?? []),
    notes: rules.includes(undefined) ? notes : [],
  };
}

/** Undefined: it is not written out. */
function heldRule(rule: unknown, title: string): readonly AccessRule[] | undefined {
  if (!isJsonObject(rule) || rule.nonResourceURLs !== undefined) return undefined;
  const { apiGroups, resources, verbs, resourceNames } = rule;
  if (!isLiteralList(apiGroups) || !isLiteralList(resources) || !isLiteralList(verbs))
    return undefined;
  if (resourceNames !== undefined && !isLiteralList(resourceNames)) return undefined;
  return apiGroups.flatMap((apiGroup) =>
    resources.map((resource) => ({
      apiGroup,
      resource,
      verbs,
      ...(resourceNames === undefined ? {} : { names: resourceNames }),
      purpose: 'granted-rules' as const,
      why: `${title} gives it to others`,
    })),
  );
}

function boundRoles(
  definition: OperatorDefinition,
  child: ChildDefinition,
  title: string,
): GrantedRights {
  const roleRef = roleRefOf(child.template);
  const { kind, name } = roleRef ?? {};
  const names = namesOfTemplate(definition, { child, template: name });
  if ((kind !== 'ClusterRole' && kind !== 'Role') || names === undefined) {
    const what = `${title} binds a role whose name is computed`;
    const note = `${what}: give the verb "bind" on the roles that it may be, by resourceNames`;
    return { rules: [], notes: [note] };
  }
  // Of a role that the definition makes itself the runtime has all the rights.
  if (kind === 'Role' && makesRole(definition, names)) return { rules: [], notes: [] };
  const right = {
    apiGroup: rbacGroup,
    resource: kind === 'ClusterRole' ? 'clusterroles' : 'roles',
    names: [...names].sort(),
    verbs: ['bind'],
    purpose: 'granted-roles',
    why: `${title} gives these roles to others`,
  } as const;
  return { rules: [right], notes: [] };
}

function roleRefOf(template: unknown): JsonObject | undefined {
  const roleRef = isJsonObject(template) ? template.roleRef : undefined;
  return isJsonObject(roleRef) ? roleRef : undefined;
}

function makesRole({ children }: OperatorDefinition, names: readonly string[]): boolean {
  const made = children
    .filter(({ gvk: { group, kind } }) => group === rbacGroup && kind === 'Role')
    .map(({ template }) => {
      const metadata = isJsonObject(template) ? template.metadata : undefined;
      return isJsonObject(metadata) ? metadata.name : undefined;
    });
  return names.every((name) => made.includes(name));
}

function isLiteralList(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) && value.every((item) => typeof item === 'string' && !/[{$]/.test(item))
  );
}
