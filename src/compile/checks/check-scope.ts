import { gvkKey } from '../../util/gvk.ts';
import { isJsonObject } from '../../util/json.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import type { ChildParts, DefinitionParts } from '../definition-parts.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { OperatorPlan } from '../operator-plan.ts';
import type { SchemaSource } from '../schema-source.ts';

export interface ScopeOptions {
  readonly parts: DefinitionParts;
  /** Of the resource. */
  readonly scope: OperatorPlan['scope'];
  readonly schemas: SchemaSource | undefined;
  readonly diagnostics: Diagnostics;
}

/** A child of a namespaced kind is in a namespace, one of another kind in none; and both as far as its resource may reach. */
export function checkScope({ parts, scope, schemas, diagnostics }: ScopeOptions): void {
  for (const child of parts.children) {
    const isNamespaced = schemas?.isNamespaced(child.definition.gvk);
    if (isNamespaced === true) checkNamespaced(child, scope, diagnostics);
    else if (isNamespaced === false) checkClusterScoped(child, scope, diagnostics);
  }
}

function checkNamespaced(
  { definition, pointer }: ChildParts,
  scope: ScopeOptions['scope'],
  diagnostics: Diagnostics,
): void {
  if (scope !== 'Cluster' || hasNamespace(definition.template)) return;
  diagnostics.report({
    code: 'missing-field',
    message: `The resource has no namespace, so that a child of kind "${gvkKey(definition.gvk)}" must name one`,
    path: `${pointerTo(pointer, 'template')}/metadata/namespace`,
    at: 'parent-key',
    hint: 'Write "namespace" beside "name"; a computed one needs "crossNamespace" with globs',
  });
}

function checkClusterScoped(
  { definition, pointer }: ChildParts,
  scope: ScopeOptions['scope'],
  diagnostics: Diagnostics,
): void {
  const kind = gvkKey(definition.gvk);
  const template = pointerTo(pointer, 'template');
  if (hasNamespace(definition.template)) {
    diagnostics.report({
      code: 'invalid-value',
      message: `Objects of the cluster-scoped kind "${kind}" have no namespace`,
      path: `${template}/metadata/namespace`,
      at: 'key',
      hint: 'Leave it out',
    });
  }
  if (scope === 'Cluster' || definition.crossNamespace !== false) return;
  diagnostics.report({
    code: 'missing-field',
    message: `A child of the cluster-scoped kind "${kind}" needs "crossNamespace", since its resource is namespaced`,
    path: pointerTo(template, 'kind'),
    hint: 'Write "crossNamespace: true" beside "template"',
  });
}

function hasNamespace(template: unknown): boolean {
  const metadata = isJsonObject(template) ? template.metadata : undefined;
  return isJsonObject(metadata) && metadata.namespace !== undefined;
}
