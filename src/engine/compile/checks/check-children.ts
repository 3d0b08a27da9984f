import type { CheckContext } from '../check-context.ts';
import { isNumeric, type SchemaType, typeAt } from '../schema/schema-type.ts';
import type { CompiledTemplate } from '../template/template.ts';
import { positionInLeaf } from '../template/values.ts';

/** `forEach` is a list and its dependencies are known, so that a missing value is not treated as an empty list. */
export function checkForEach({ parts, uses, types, diagnostics }: CheckContext): void {
  for (const { forEach } of [...parts.children, ...parts.reporting.patches]) {
    if (forEach === undefined) continue;
    checkVars(forEach, { uses, diagnostics });
    const problem = fieldProblem(forEach, types.resource);
    if (problem !== undefined) {
      diagnostics.report({ code: 'wrong-type', ...problem, path: forEach.pointer });
      continue;
    }
    checkNesting(forEach, diagnostics);
    const found = notAList(forEach);
    if (found === undefined) continue;
    diagnostics.report({
      code: 'wrong-type',
      message: `Expected a list for "forEach", found ${found}`,
      hint: 'Wrap an expression in "${ }", or the elements in "[ ]"',
      path: forEach.pointer,
    });
  }
}

/** `forEach` must read vars by path: only then can missing values be found in the vars and in the vars they use. */
function checkVars(
  forEach: CompiledTemplate,
  { uses, diagnostics }: Pick<CheckContext, 'uses' | 'diagnostics'>,
): void {
  for (const { slot, reference } of uses.of(forEach).references) {
    if (reference.isIndirect !== true) continue;
    diagnostics.report({
      code: 'forbidden-expression',
      message: '"forEach" must read each var by its path',
      hint: `Write "vars.${reference.path[0] ?? '<name>'}"`,
      ...positionInLeaf(slot, reference.offset),
    });
  }
}

/** What is wrong where the template consists of a field of the resource that is no list. */
function fieldProblem(
  template: CompiledTemplate,
  resource: SchemaType,
): { readonly message: string; readonly hint: string } | undefined {
  const { root, slots } = template;
  const leaf = root.kind === 'slot' ? slots[root.slot]?.leaf : undefined;
  if (leaf?.kind !== 'value' || !leaf.expression.isPlainPath) return undefined;
  const [first] = template.references;
  if (first?.reference.root !== 'resource') return undefined;
  const type = typeAt(resource, first.reference.path);
  const name = first.reference.path.join('.');
  if (isNumeric(type))
    return {
      message: `Expected a list for "forEach", but "${name}" is a number`,
      hint: `Write "\${ [0..${name} - 1] }" for that many elements`,
    };
  if (type?.kind === 'map')
    return {
      message: `Expected a list for "forEach", but "${name}" is a map`,
      hint: `Write "\${ $keys(${name} ?? {}) }" for its keys, and "$lookup(${name}, $item)" for a value`,
    };
  return undefined;
}

/** `$map` in `$map` gives a list of lists, but for each list of one element that element. */
function checkNesting(
  { root, slots }: CompiledTemplate,
  diagnostics: CheckContext['diagnostics'],
): void {
  const slot = root.kind === 'slot' ? slots[root.slot] : undefined;
  const at = slot?.leaf.kind === 'value' ? slot.leaf.expression.nestedList : undefined;
  if (slot === undefined || at === undefined) return;
  diagnostics.report({
    code: 'wrong-type',
    message: 'Expected no list as an element of "forEach", but "$map" inside "$map" returns one',
    hint: 'Write a path with parentheses, which gives one list: "spec.groups.($group := $; members.{ "name": name })"',
    ...positionInLeaf(slot, at),
  });
}

function notAList({ root, slots }: CompiledTemplate): string | undefined {
  if (root.kind === 'map') return 'a map';
  if (root.kind === 'slot') return slots[root.slot]?.leaf.kind === 'value' ? undefined : 'a string';
  if (root.kind === 'list' || Array.isArray(root.value) || root.value === undefined) {
    return undefined;
  }
  return typeof root.value === 'object' && root.value !== null ? 'a map' : 'a scalar';
}

/**
 * Children of `onDelete` exist only during deletion: other children that read them, also through vars, would wait
 * forever.
 */
export function checkOnDelete({ parts, uses, diagnostics }: CheckContext): void {
  const late = parts.children.filter(({ stage }) => stage === 'onDelete');
  const ids = new Set(late.map(({ definition }) => definition.id));
  if (ids.size === 0) return;
  for (const { stage, when, forEach, cluster, kind, template, gate } of parts.children) {
    if (stage === 'onDelete') continue;
    for (const { slot, reference } of uses.of(when, forEach, cluster, kind, template, gate)
      .references) {
      const [id] = reference.path;
      if (reference.root !== 'children' || id === undefined || !ids.has(id)) continue;
      diagnostics.report({
        code: 'unknown-name',
        message: `Child "${id}" of "onDelete" only exists while the resource is being deleted`,
        hint: 'Only children of "onDelete" can read it',
        ...positionInLeaf(slot, reference.offset),
      });
    }
  }
}
