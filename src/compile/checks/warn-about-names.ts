import { pointerTo } from '../../util/json-pointer.ts';
import type { ChildParts, DefinitionParts } from '../definition-parts.ts';
import type { Diagnostics } from '../diagnostics.ts';
import { type CompiledTemplate, referencesOf } from '../template/template.ts';

/** Elements that all have one name: with two of them none is made. */
export function warnAboutNames({ children }: DefinitionParts, diagnostics: Diagnostics): void {
  for (const child of children) {
    if (child.forEach === undefined || !mayBeMany(child.forEach) || isNamedByElement(child))
      continue;
    diagnostics.report({
      severity: 'warning',
      code: 'suspicious-expression',
      message: `All elements of "${child.definition.id}" have the same name: two of them are an error`,
      hint: 'Let the name depend on "$item" or "$index"',
      path: pointerTo(pointerTo(child.template.pointer, 'metadata'), 'name'),
    });
  }
}

function mayBeMany({ root }: CompiledTemplate): boolean {
  switch (root.kind) {
    case 'slot':
      return true;
    case 'list':
      return root.items.length > 1 || root.items.some(({ isSpread }) => isSpread);
    case 'constant':
      return Array.isArray(root.value) && root.value.length > 1;
    case 'map':
      return false;
  }
}

/** Where an object is, is a part of its name. */
function isNamedByElement({ template }: ChildParts): boolean {
  const metadata = pointerTo(template.pointer, 'metadata');
  const places: readonly string[] = [
    template.pointer,
    metadata,
    ...['name', 'namespace'].map((field) => pointerTo(metadata, field)),
  ];
  return referencesOf(template).some(
    ({ slot, reference: { root } }) =>
      (root === 'item' || root === 'index') && places.includes(slot.pointer),
  );
}
