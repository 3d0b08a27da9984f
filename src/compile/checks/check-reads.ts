import { pointerTo } from '../../util/json.ts';
import { isLabelKey, isLabelValue } from '../../util/label-selector.ts';
import { shapeOfSelector, watchSelectorOf } from '../analysis/selector-shape.ts';
import type { CheckContext } from '../check-context.ts';
import type { CompiledRead } from '../compiled-templates.ts';
import type { Diagnostics } from '../diagnostics.ts';
import { type CompiledTemplate, literalFields } from '../template/template.ts';

/** Reports invalid labels, and warns about selectors that cannot narrow a watch. */
export function checkSelectors({ parts, diagnostics }: CheckContext): void {
  for (const read of parts.reads) {
    const { selector, namespaceSelector } = read;
    for (const labels of [selector?.matchLabels, namespaceSelector?.matchLabels]) {
      if (labels !== undefined) checkLabels(labels, diagnostics);
    }
    // Empty selectors have been reported.
    if (selector?.matchLabels === undefined && selector?.matchExpressions === undefined) continue;
    const narrowed = watchSelectorOf(shapeOfSelector(selector, parts.vars));
    if (narrowed === undefined) warn(read, diagnostics);
  }
}

function checkLabels({ root, pointer }: CompiledTemplate, diagnostics: Diagnostics): void {
  for (const [key, node] of literalFields(root)) {
    const value = node.kind === 'constant' ? node.value : undefined;
    const path = pointerTo(pointer, key);
    if (!isLabelKey(key)) {
      const message = `Expected a label key, found "${key}"`;
      diagnostics.report({ code: 'invalid-value', message, path, at: 'key' });
    }
    if (typeof value === 'string' && !isLabelValue(value)) {
      const message = `Expected a label value, found "${value}"`;
      diagnostics.report({ code: 'invalid-value', message, path });
    }
  }
}

function warn({ definition, pointer }: CompiledRead, diagnostics: Diagnostics): void {
  diagnostics.report({
    severity: 'warning',
    code: 'suspicious-expression',
    message: `The selector of read "${definition.id}" is completely computed, so all objects of kind "${definition.gvk.kind}" are watched`,
    hint: 'Use literal label keys',
    path: pointerTo(pointer, 'selector'),
    at: 'key',
  });
}
