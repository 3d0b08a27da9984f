import { gvkKey } from '../../util/gvk.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import type { PatchParts } from '../reporting-parts.ts';
import type { ScopeOptions } from './check-scope.ts';

/** As with children: a target is where its kind has objects, and a namespaced resource reaches beyond its namespace on purpose only. */
export function checkPatchScope({ parts, scope, schemas, diagnostics }: ScopeOptions): void {
  for (const patch of parts.reporting?.patches ?? []) {
    const { target } = patch.definition;
    if (target === undefined) continue;
    const isNamespaced = schemas?.isNamespaced(target.gvk);
    const kind = gvkKey(target.gvk);
    const pointer = pointerTo(patch.pointer, 'target');
    if (isNamespaced === true && scope === 'Cluster' && target.namespace === undefined) {
      diagnostics.report({
        code: 'missing-field',
        message: `The resource has no namespace, so that a target of kind "${kind}" must name one`,
        path: pointerTo(pointer, 'namespace'),
        at: 'parent-key',
        hint: 'Write "namespace" beside "name"; a computed one needs "crossNamespace" with globs',
      });
    }
    if (isNamespaced === false) checkClusterScoped(patch, { pointer, kind });
  }

  function checkClusterScoped(
    { definition }: PatchParts,
    { pointer, kind }: { readonly pointer: string; readonly kind: string },
  ): void {
    if (definition.target?.namespace !== undefined) {
      diagnostics.report({
        code: 'invalid-value',
        message: `Objects of the cluster-scoped kind "${kind}" have no namespace`,
        path: pointerTo(pointer, 'namespace'),
        at: 'key',
        hint: 'Leave it out',
      });
    }
    if (scope === 'Cluster' || definition.crossNamespace !== false) return;
    diagnostics.report({
      code: 'missing-field',
      message: `A target of the cluster-scoped kind "${kind}" needs "crossNamespace", since the resource is namespaced`,
      path: pointerTo(pointer, 'kind'),
      hint: 'Write "crossNamespace: true" beside "target"',
    });
  }
}
