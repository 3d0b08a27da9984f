import type { DefinitionParts } from '../definition-parts.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { CompiledTemplate } from '../template/template.ts';

/** `forEach` and `when` are what they can be: a list; a condition. */
export function checkForEach(parts: DefinitionParts, diagnostics: Diagnostics): void {
  for (const { forEach } of parts.children) {
    if (forEach === undefined) continue;
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

function notAList({ root, slots }: CompiledTemplate): string | undefined {
  if (root.kind === 'map') return 'a map';
  if (root.kind === 'slot') return slots[root.slot]?.leaf.kind === 'value' ? undefined : 'a text';
  if (root.kind === 'list' || Array.isArray(root.value) || root.value === undefined) {
    return undefined;
  }
  return typeof root.value === 'object' && root.value !== null ? 'a map' : 'a single value';
}
