import { type ChildDefinition, kindsOf, type OperatorDefinition } from '#definition';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { AccessRule } from './access-rule.ts';

/** Rights that a definition grants to others and that the runtime therefore needs. */
interface GrantedRights {
  readonly rules: readonly AccessRule[];
  /** Notes about rights that cannot be derived from the definition. */
  readonly notes: readonly string[];
}

const rbacGroup = 'rbac.authorization.k8s.io';

/**
 * Kubernetes prevents privilege escalation: to create a Role, the runtime needs its rules, as far as they are literal; to create a
 * RoleBinding, it needs `bind` on the role. `escalate` is never used, because it grants every right.
 *
 * @param isHere Whether a child is in the cluster of these rights, by its id.
 * @param titleOf A child in notes, by its id.
 */
export function grantedRights(
  definition: OperatorDefinition,
  isHere: (child: string) => boolean,
  titleOf: (child: string) => string = (id) => `child "${id}"`,
): GrantedRights {
  const rules: AccessRule[] = [];
  const notes: string[] = [];
  const children = [...definition.children, ...(definition.onDelete?.children ?? [])];
  const isGranting = (child: ChildDefinition) =>
    kindsOf(child).some(({ group }) => group === rbacGroup) && isHere(child.id);
  for (const child of children.filter(isGranting)) {
    const title = `${definition.name}: ${titleOf(child.id)}`;
    const granted = kindsOf(child).some(({ kind }) => kind.endsWith('Binding'))
      ? boundRoles(definition, child, title)
      : literalRules(child, title);
    rules.push(...granted.rules);
    notes.push(...granted.notes);
  }
  return { rules, notes };
}

function literalRules({ template, gvk }: ChildDefinition, title: string): GrantedRights {
  const unknown = {
    rules: [],
    notes: [
      `${title} creates a ${gvk.kind} with computed rules: the runtime needs these rights, too`,
    ],
  };
  if (!isJsonObject(template) || template.aggregationRule !== undefined) return unknown;
  const written = template.rules ?? [];
  if (!Array.isArray(written)) return unknown;
  const rules = written.map((rule) => literalRule(rule, title));
  const { notes } = unknown;
  return {
    rules: rules.flatMap((each) => each ?? []),
    notes: rules.includes(undefined) ? notes : [],
  };
}

/** Undefined: the rule is not literal. */
function literalRule(rule: unknown, title: string): readonly AccessRule[] | undefined {
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
      reason: `${title} grants it`,
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
    const what = `${title} binds a role with a computed name`;
    const note = `${what}: grant the verb "bind" on the possible roles, by resourceNames`;
    return { rules: [], notes: [note] };
  }
  // The runtime has all rights of a Role that the definition creates.
  if (kind === 'Role' && createsRole(definition, names)) return { rules: [], notes: [] };
  const right = {
    apiGroup: rbacGroup,
    resource: kind === 'ClusterRole' ? 'clusterroles' : 'roles',
    names: [...names].sort(),
    verbs: ['bind'],
    purpose: 'granted-roles',
    reason: `${title} grants these roles`,
  } as const;
  return { rules: [right], notes: [] };
}

function roleRefOf(template: unknown): JsonObject | undefined {
  const roleRef = isJsonObject(template) ? template.roleRef : undefined;
  return isJsonObject(roleRef) ? roleRef : undefined;
}

function createsRole({ children }: OperatorDefinition, names: readonly string[]): boolean {
  const created = children
    .filter(({ gvk: { group, kind } }) => group === rbacGroup && kind === 'Role')
    .map(({ template }) => {
      const metadata = isJsonObject(template) ? template.metadata : undefined;
      return isJsonObject(metadata) ? metadata.name : undefined;
    });
  return names.every((name) => created.includes(name));
}

function isLiteralList(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) && value.every((item) => typeof item === 'string' && !/[{$]/.test(item))
  );
}

/** A template in a child. */
interface TemplateOfChild {
  readonly child: ChildDefinition;
  readonly template: unknown;
}

/** `${ spec.role }`, `${ $item.role }`. */
const plainPath = /^\s*\$\{\s*([$\w]+(?:\.\w+)*)\s*\}\s*$/;
/** The same, with an optional default: */
const listPath = /^\s*\$\{\s*(\w+(?:\.\w+)*)\s*(?:\?\?\s*\[\s*\]\s*)?\}\s*$/;

/** All values that a template can produce: the literal, or the `enum` of the schema at the path that it reads. Undefined: unknown. */
function namesOfTemplate(
  { kind }: OperatorDefinition,
  { child, template }: TemplateOfChild,
): readonly string[] | undefined {
  if (typeof template !== 'string') return undefined;
  if (!/\$\{|\{\{/.test(template)) return [template];
  const path = plainPath.exec(template)?.[1]?.split('.');
  if (kind.source !== 'crd' || path === undefined) return undefined;
  const [first, ...rest] = path;
  const schema =
    first === '$item'
      ? at(itemsOf(forEachSchema(kind.schema, child)), rest)
      : at(kind.schema, path);
  const values = schema?.enum;
  if (!Array.isArray(values) || values.length === 0) return undefined;
  return values.every((value) => typeof value === 'string') ? values : undefined;
}

function forEachSchema(root: JsonObject, { forEach }: ChildDefinition): JsonObject | undefined {
  const path = typeof forEach === 'string' ? listPath.exec(forEach)?.[1] : undefined;
  return path === undefined ? undefined : at(root, path.split('.'));
}

function at(root: JsonObject | undefined, path: readonly string[]): JsonObject | undefined {
  return path.reduce<JsonObject | undefined>((schema, name) => {
    const properties = schema?.properties;
    const property = isJsonObject(properties) ? properties[name] : undefined;
    return isJsonObject(property) ? property : undefined;
  }, root);
}

function itemsOf(schema: JsonObject | undefined): JsonObject | undefined {
  const items = schema?.items;
  return isJsonObject(items) ? items : undefined;
}
