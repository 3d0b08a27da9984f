import { type Gvk, gvkKey } from '#util/gvk.ts';
import { isJsonObject, pointerTo } from '#util/json.ts';
import type { CheckContext } from '../check-context.ts';
import {
  type CompiledChild,
  type CompiledPatch,
  type CompiledRead,
  isRestore,
} from '../compiled-templates.ts';
import type { Diagnostics } from '../diagnostics.ts';

/** A child, the target of a patch, or a read. */
interface Placed {
  readonly what: keyof typeof words;
  readonly gvk: Gvk;
  readonly pointer: string;
  /** Pointer of its namespace, whether present or not. */
  readonly namespacePointer: string;
  readonly hasNamespace: boolean;
  /** Whether it may use other namespaces than the resource's. */
  readonly reachesFar: boolean;
}

const nameOne =
  'Add "namespace" next to "name"; a computed namespace requires "crossNamespace" with globs';
const words = {
  child: { field: 'template', resource: 'its resource', nameOne },
  target: { field: 'target', resource: 'the resource', nameOne },
  read: {
    field: 'kind',
    resource: 'the resource',
    nameOne: 'Add "namespace", "namespaces" or "namespaceSelector"',
  },
} as const;

/**
 * Objects of namespaced kinds have a namespace, objects of other kinds have none, and both are within what
 * `crossNamespace` allows.
 */
export function checkScope({ parts, scope, schemas, diagnostics }: CheckContext): void {
  const all = [
    ...parts.objects.map(placedChild),
    ...parts.reporting.patches.flatMap(placedTarget),
    ...parts.reads.map(placedRead),
  ];
  for (const placed of all) {
    const isNamespaced = schemas?.isNamespaced(placed.gvk);
    if (isNamespaced === true) checkNamespaced(placed, scope, diagnostics);
    else if (isNamespaced === false) checkClusterScoped(placed, scope, diagnostics);
  }
}

function placedChild({ definition, pointer }: CompiledChild): Placed {
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

function placedTarget({ definition, pointer }: CompiledPatch): readonly Placed[] {
  const { target, crossNamespace } = definition;
  // A recorded object is in the scope of its read.
  if (target?.gvk === undefined || isRestore(definition)) return [];
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

/** Reads may use any namespace, because they write nothing. */
function placedRead({ definition, pointer }: CompiledRead): Placed {
  const { gvk, from } = definition;
  return {
    what: 'read',
    gvk,
    pointer,
    namespacePointer: pointerTo(pointer, namespaceFields[from.kind]),
    hasNamespace: from.kind !== 'own',
    reachesFar: true,
  };
}

const namespaceFields: Readonly<Record<CompiledRead['definition']['from']['kind'], string>> = {
  own: 'namespace',
  one: 'namespace',
  list: 'namespaces',
  selector: 'namespaceSelector',
};

function checkNamespaced(
  { what, gvk, namespacePointer, hasNamespace }: Placed,
  scope: CheckContext['scope'],
  diagnostics: Diagnostics,
): void {
  if (scope !== 'Cluster' || hasNamespace) return;
  diagnostics.report({
    code: 'missing-field',
    message: `The resource is cluster-scoped: a ${what} of kind "${gvkKey(gvk)}" must set a namespace`,
    path: namespacePointer,
    at: 'parent-key',
    hint: words[what].nameOne,
  });
}

function checkClusterScoped(
  { what, gvk, pointer, namespacePointer, hasNamespace, reachesFar }: Placed,
  scope: CheckContext['scope'],
  diagnostics: Diagnostics,
): void {
  const kind = gvkKey(gvk);
  if (hasNamespace) {
    diagnostics.report({
      code: 'invalid-value',
      message: `Objects of the cluster-scoped kind "${kind}" have no namespace`,
      path: namespacePointer,
      at: 'key',
      hint: 'Remove it',
    });
  }
  if (scope === 'Cluster' || reachesFar) return;
  const { field, resource } = words[what];
  diagnostics.report({
    code: 'missing-field',
    message: `A ${what} of the cluster-scoped kind "${kind}" requires "crossNamespace", because ${resource} is namespaced`,
    path: pointerTo(pointer, 'kind'),
    hint: `Add "crossNamespace: true" next to "${field}"`,
  });
}
