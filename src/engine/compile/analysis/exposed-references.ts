import type { CompiledTemplate, SlotReference } from '../template/template.ts';
import { expressionsOf, type Slot } from '../template/template.ts';
import { idsOfPath } from './dependencies.ts';

/**
 * The references of templates, and of the vars they use, whose values the result may contain: without those of which only a hash, a number
 * or a test is used.
 */
export function exposedReferences(
  templates: readonly (CompiledTemplate | undefined)[],
  vars: ReadonlyMap<string, CompiledTemplate>,
): readonly SlotReference[] {
  const names = [...vars.keys()];
  const exposed: SlotReference[] = [];
  const entered = new Set<string>();

  /** @param isReduced only a hash, a number or a test of the result is used */
  function visit(template: CompiledTemplate | undefined, isReduced: boolean): void {
    for (const each of template?.references ?? []) {
      const { root, path, isReduced: isTest = false } = each.reference;
      const isHidden = isTest || (isReduced && hasWholeValues(each.slot));
      if (root !== 'vars') {
        if (!isHidden) exposed.push(each);
        continue;
      }
      for (const name of idsOfPath(path, names)) visitVar(name, isHidden);
    }
  }

  function visitVar(name: string, isReduced: boolean): void {
    const key = `${name} ${isReduced}`;
    if (entered.has(key)) return;
    entered.add(key);
    visit(vars.get(name), isReduced);
  }

  for (const template of templates) visit(template, false);
  return exposed;
}

/** The hash of a part of a value, or of a comparison with it, would reveal it. */
function hasWholeValues({ leaf }: Slot): boolean {
  return expressionsOf(leaf).every(({ isPlainPath }) => isPlainPath);
}
