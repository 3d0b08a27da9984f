import { gvkKey } from '../../util/gvk.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import type { DefinitionParts } from '../definition-parts.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { SchemaSource } from '../schema-source.ts';

/** Children live in the namespace of their resource; those that have none come later. */
export function checkScope(
  parts: DefinitionParts,
  schemas: SchemaSource | undefined,
  diagnostics: Diagnostics,
): void {
  for (const { definition, pointer } of parts.children) {
    if (schemas?.isNamespaced(definition.gvk) !== false) continue;
    diagnostics.report({
      code: 'not-supported-yet',
      message: `A child of the cluster-scoped kind "${gvkKey(definition.gvk)}" is not supported yet`,
      path: pointerTo(pointerTo(pointer, 'template'), 'kind'),
    });
  }
}
