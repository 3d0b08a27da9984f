import type { OperatorPlan } from '#compile';
import type { Gvk } from '#util/gvk.ts';
import type { AccessRule } from './access-rule.ts';

/** Read-only verbs. A watch covers a whole kind in all namespaces, or one name. */
export const watchVerbs = ['list', 'watch'];

/** A right that a definition needs. */
export interface RequiredRight
  extends Pick<AccessRule, 'names' | 'namespaces' | 'verbs' | 'purpose' | 'reason'> {
  readonly gvk: Gvk;
  /** With a leading slash. */
  readonly subresource?: string;
  /** Whether the right is limited to the definition's namespaces. @default true */
  readonly isNamespaced?: boolean;
}

/** The resource (plural) of a kind. */
export type ResourceOf = (gvk: Gvk) => string;

/** The rights as rules, limited to the definition's namespaces. */
export function rulesOf(
  plan: OperatorPlan,
  required: readonly RequiredRight[],
  resourceOf: ResourceOf,
): readonly AccessRule[] {
  const { name } = plan;
  const namespaces = writeNamespacesOf(plan);
  const right = ({
    gvk,
    subresource = '',
    reason,
    isNamespaced = true,
    ...desired
  }: RequiredRight) => ({
    ...(namespaces !== undefined && isNamespaced ? { namespaces } : {}),
    ...desired,
    apiGroup: gvk.group,
    resource: `${resourceOf(gvk)}${subresource}`,
    reason: `${name}: ${reason}`,
  });
  return required.map(right);
}

/** Namespaces that a definition writes to, if RBAC can express them: literal names, and no cross-namespace writes. Undefined: all. */
function writeNamespacesOf(plan: OperatorPlan): readonly string[] | undefined {
  const { controller } = plan.definition;
  const { include, exclude = [] } = controller.namespaces ?? {};
  if (include === undefined || plan.scope === 'Cluster' || include.some(isGlob)) return undefined;
  const writes = [
    ...plan.children,
    ...(plan.onDelete?.children ?? []),
    ...(plan.reporting?.patches ?? []),
  ];
  if (writes.some(({ crossNamespace }) => crossNamespace !== false)) return undefined;
  return include.filter((name) => !exclude.includes(name)).sort();
}

/** Checks the wildcards of `matchesGlob`. */
function isGlob(text: string): boolean {
  return /[*?]/.test(text);
}
