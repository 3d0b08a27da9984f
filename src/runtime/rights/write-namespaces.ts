import type { OperatorPlan } from '../../compile/index.ts';

/**
 * The namespaces in which a definition writes, where RBAC can say so: those that it serves, if they are names and none of its writes
 * leaves them. Undefined: anywhere.
 */
export function writeNamespacesOf(plan: OperatorPlan): readonly string[] | undefined {
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

/** The characters of `matchesGlob`. */
function isGlob(text: string): boolean {
  return /[*?]/.test(text);
}
