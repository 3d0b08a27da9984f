import type { UsesFinder } from '../analysis/uses.ts';
import type { DefinitionParts } from '../definition-parts.ts';
import type { Diagnostics } from '../diagnostics.ts';
import { positionInLeaf } from '../template/slot-position.ts';
import type { CompiledTemplate } from '../template/template.ts';

export interface ForEachOptions {
  readonly parts: DefinitionParts;
  readonly uses: UsesFinder;
  readonly diagnostics: Diagnostics;
}

/** `forEach` is a list, and what it reads can be told: a missing value must not be taken for "none". */
export function checkForEach({ parts, uses, diagnostics }: ForEachOptions): void {
  for (const { forEach } of parts.children) {
    if (forEach === undefined) continue;
    checkVars(forEach, { uses, diagnostics });
    const found = notAList(forEach);
    if (found === undefined) continue;
    diagnostics.report({
      code: 'wrong-type',
      message: `Expected a list at forEach, found ${found}`,
      hint: 'Write "${ }" around an expression, or "[ ]" around the elements',
      path: forEach.pointer,
    });
  }
}

/** Vars are looked through for what is missing, and only a path tells which of them are meant. Also in those vars. */
function checkVars(
  forEach: CompiledTemplate,
  { uses, diagnostics }: Omit<ForEachOptions, 'parts'>,
): void {
  for (const { slot, reference } of uses.of(forEach).references) {
    if (reference.isIndirect !== true) continue;
    diagnostics.report({
      code: 'forbidden-expression',
      message: 'Expected a path to one var where "forEach" reads "vars"',
      hint: `Write "vars.${reference.path[0] ?? '<name>'}"`,
      ...positionInLeaf(slot, reference.offset),
    });
  }
}

function notAList({ root, slots }: CompiledTemplate): string | undefined {
  if (root.kind === 'map') return 'a map';
  if (root.kind === 'slot') return slots[root.slot]?.leaf.kind === 'value' ? undefined : 'a text';
  if (root.kind === 'list' || Array.isArray(root.value) || root.value === undefined) {
    return undefined;
  }
  return typeof root.value === 'object' && root.value !== null ? 'a map' : 'a single value';
}
