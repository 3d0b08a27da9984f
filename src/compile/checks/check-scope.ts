import { type Gvk, gvkKey } from '../../util/gvk.ts';
import { isJsonObject } from '../../util/json.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import type { ChildParts, DefinitionParts } from '../definition-parts.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { OperatorPlan } from '../operator-plan.ts';
import type { PatchParts } from '../reporting-parts.ts';
import type { SchemaSource } from '../schema-source.ts';

export interface ScopeOptions {
  readonly parts: DefinitionParts;
  /** Of the resource. */
  readonly scope: OperatorPlan['scope'];
  readonly schemas: SchemaSource | undefined;
  readonly diagnostics: Diagnostics;
}

/** A child, or what a patch is for. */
interface Placed {
  readonly what: keyof typeof words;
  readonly gvk: Gvk;
  readonly pointer: string;
  /** Where its namespace stands, or would. */
  readonly namespacePointer: string;
  readonly hasNamespace: boolean;
  /** Does it say how far it may reach beyond the resource's namespace? */
  readonly reachesFar: boolean;
}

const words = {
  child: { field: 'template', resource: 'its resource' },
  target: { field: 'target', resource: 'the resource' },
} as const;

/** What is of a namespaced kind is in a namespace, what is of another kind in none; and both as far as the resource may reach. */
export function checkScope({ parts, scope, schemas, diagnostics }: ScopeOptions): void {
  const patches = parts.reporting?.patches ?? [];
  for (const placed of [...parts.children.map(placedChild), ...patches.flatMap(placedTarget)]) {
    const isNamespaced = schemas?.isNamespaced(placed.gvk);
    if (isNamespaced === true) checkNamespaced(placed, scope, diagnostics);
    else if (isNamespaced === false) checkClusterScoped(placed, scope, diagnostics);
  }
}

function placedChild({ definition, pointer }: ChildParts): Placed {
  const { gvk, template, crossNamespace } = definition;
  const metadata = isJsonObject(template) ? template.metadata : undefined;
  const templatePointer = pointerTo(pointer, words.child.field);
  return {
    what: 'child',
    gvk,
    pointer: templatePointer,
    namespacePointer: `${templatePointer}/metadata/namespace`,
    hasNamespace: isJsonObject(metadata) && metadata.namespace !== undefined,
    reachesFar: crossNamespace !== false,
  };
}

function placedTarget({ definition, pointer }: PatchParts): readonly Placed[] {
  const { target, crossNamespace } = definition;
  if (target === undefined) return [];
  const targetPointer = pointerTo(pointer, words.target.field);
  return [
    {
      what: 'target',
      gvk: target.gvk,
      pointer: targetPointer,
      namespacePointer: pointerTo(targetPointer, 'namespace'),
      hasNamespace: target.namespace !== undefined,
      reachesFar: crossNamespace !== false,
    },
  ];
}

function checkNamespaced(
  { what, gvk, namespacePointer, hasNamespace }: Placed,
  scope: ScopeOptions['scope'],
  diagnostics: Diagnostics,
): void {
  if (scope !== 'Cluster' || hasNamespace) return;
  diagnostics.report({
    code: 'missing-field',
    message: `The resource has no namespace, so that a ${what} of kind "${gvkKey(gvk)}" must name one`,
    path: namespacePointer,
    at: 'parent-key',
    hint: 'Write "namespace" beside "name"; a computed one needs "crossNamespace" with globs',
  });
}

function checkClusterScoped(
  { what, gvk, pointer, namespacePointer, hasNamespace, reachesFar }: Placed,
  scope: ScopeOptions['scope'],
  diagnostics: Diagnostics,
): void {
  const kind = gvkKey(gvk);
  if (hasNamespace) {
    diagnostics.report({
      code: 'invalid-value',
      message: `Objects of the cluster-scoped kind "${kind}" have no namespace`,
      path: namespacePointer,
      at: 'key',
      hint: 'Leave it out',
    });
  }
  if (scope === 'Cluster' || reachesFar) return;
  const { field, resource } = words[what];
  diagnostics.report({
    code: 'missing-field',
    message: `A ${what} of the cluster-scoped kind "${kind}" needs "crossNamespace", since ${resource} is namespaced`,
    path: pointerTo(pointer, 'kind'),
    hint: `Write "crossNamespace: true" beside "${field}"`,
  });
}
