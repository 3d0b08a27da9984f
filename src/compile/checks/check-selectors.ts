import { pointerTo } from '../../util/json-pointer.ts';
import { isLabelKey, isLabelValue } from '../../util/label-syntax.ts';
import { shapeOfSelector, watchSelectorOf } from '../analysis/selector-shape.ts';
import type { DefinitionParts, ReadParts } from '../definition-parts.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { CompiledTemplate, TemplateNode } from '../template/template.ts';

/** Labels that no object can carry, and selectors that leave nothing to narrow a watch with. */
export function checkSelectors(parts: DefinitionParts, diagnostics: Diagnostics): void {
  for (const read of parts.reads) {
    const { selector, namespaceSelector } = read;
    for (const labels of [selector?.matchLabels, namespaceSelector?.matchLabels]) {
      if (labels !== undefined) checkLabels(labels, diagnostics);
    }
    // One that says nothing has been reported.
    if (selector?.matchLabels === undefined && selector?.matchExpressions === undefined) continue;
    const narrowed = watchSelectorOf(shapeOfSelector(selector, parts.vars));
    if (narrowed === undefined) warn(read, diagnostics);
  }
}

function checkLabels({ root, pointer }: CompiledTemplate, diagnostics: Diagnostics): void {
  for (const [key, value] of literalsOf(root)) {
    const path = pointerTo(pointer, key);
    if (!isLabelKey(key)) {
      const message = `Expected the key of a label, found "${key}"`;
      diagnostics.report({ code: 'invalid-value', message, path, at: 'key' });
    }
    if (typeof value === 'string' && !isLabelValue(value)) {
      const message = `Expected the value of a label, found "${value}"`;
      diagnostics.report({ code: 'invalid-value', message, path });
    }
  }
}

/** The value of computed ones is undefined. */
function literalsOf(root: TemplateNode): readonly (readonly [string, unknown])[] {
  if (root.kind === 'map') {
    return root.entries.flatMap(({ key, node }) =>
      typeof key === 'string' ? [[key, node.kind === 'constant' ? node.value : undefined]] : [],
    );
  }
  const isMap = root.kind === 'constant' && typeof root.value === 'object' && root.value !== null;
  return isMap ? Object.entries(root.value as object) : [];
}

function warn({ definition, pointer }: ReadParts, diagnostics: Diagnostics): void {
  diagnostics.report({
    severity: 'warning',
    code: 'suspicious-expression',
    message: `The selector of "${definition.id}" is computed as a whole: all objects of kind "${definition.gvk.kind}" are watched`,
    hint: 'Write the keys of the labels out',
    path: pointerTo(pointer, 'selector'),
    at: 'key',
  });
}
