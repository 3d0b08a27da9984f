import { pointerTo } from '#util/json.ts';
import { prunesAfterReady } from '../analysis/prune-time.ts';
import type { CheckContext } from '../check-context.ts';
import type { CompiledChild } from '../compiled-templates.ts';
import type { Reference } from '../language/index.ts';
import { mayHave } from '../template/template.ts';
import { positionInLeaf } from '../template/values.ts';
import { hasFixedItems } from './check-same-elements.ts';

/**
 * Reports `maxSurge` where it has no effect, as elements keep their names whatever changes, and where it cannot work, as the readiness of
 * earlier objects depends on an element that is no longer in the list, or they are kept until all elements are ready.
 */
export function checkSurge(context: CheckContext): void {
  for (const child of context.parts.children) {
    const { updateStrategy } = child.definition;
    if (updateStrategy.rollingUpdate?.maxSurge === undefined || child.forEach === undefined)
      continue;
    checkNames(child, context);
    checkReady(child, context);
    checkPrune(child, context);
  }
}

function checkNames(child: CompiledChild, { uses, diagnostics }: CheckContext): void {
  const { name, forEach, cluster, kind, template, pointer } = child;
  if (name === undefined || forEach === undefined || cluster !== undefined || kind !== undefined)
    return;
  if (mayHave(template.root, ['metadata', 'namespace'])) return;
  const isFixed = hasFixedItems(forEach);
  const { references } = uses.of(name);
  if (references.some(({ reference }) => mayChange(reference, isFixed))) return;
  diagnostics.report({
    code: 'invalid-value',
    path: pointerTo(pointerTo(pointerTo(pointer, 'updateStrategy'), 'rollingUpdate'), 'maxSurge'),
    at: 'key',
    message: '"maxSurge" has no effect: each element has the same name after every change',
    hint: 'Write what changes into the name: "${ metadata.name }-${ $hash(spec.image) }-${ $index }". Objects that keep their names are updated by "maxUnavailable"',
  });
}

/** May the value differ between two states of one resource? */
function mayChange({ root, path }: Reference, hasFixedItems: boolean): boolean {
  switch (root) {
    case 'index':
    // The vars that it uses are among the references.
    case 'vars':
      return false;
    case 'item':
      return !hasFixedItems;
    case 'resource':
      return !(path[0] === 'metadata' && ['name', 'namespace', 'uid'].includes(path[1] ?? ''));
    default:
      return true;
  }
}

function checkReady({ ready }: CompiledChild, { diagnostics }: CheckContext): void {
  for (const { slot, reference } of ready?.references ?? []) {
    if (reference.root !== 'item' && reference.root !== 'index') continue;
    diagnostics.report({
      code: 'invalid-value',
      message: `"$${reference.root}" is not available in "ready" with "maxSurge": the element of an earlier object may no longer be in the list`,
      hint: 'Write the value into the template, and read it from "$child"',
      ...positionInLeaf(slot, reference.offset),
    });
  }
}

/** Elements would wait for the deletion of earlier objects, and these for all elements. */
function checkPrune(child: CompiledChild, { uses, diagnostics }: CheckContext): void {
  if (!prunesAfterReady(child, uses)) return;
  const isDefault = child.definition.prune === undefined;
  const { pointer } = child;
  diagnostics.report({
    code: 'invalid-value',
    path: isDefault
      ? pointerTo(pointerTo(pointerTo(pointer, 'updateStrategy'), 'rollingUpdate'), 'maxSurge')
      : pointerTo(pointer, 'prune'),
    at: 'key',
    message: `"maxSurge" cannot work with "prune: AfterReady"${isDefault ? ', the default of a ConfigMap or Secret with "$hash" in its name' : ''}: new elements wait for the deletion of earlier objects`,
    hint: 'Write "prune: Immediately": with "maxSurge", an earlier object is kept until its successor is ready',
  });
}
