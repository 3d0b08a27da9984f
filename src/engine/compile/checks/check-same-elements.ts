import { isJsonObject, pointerTo } from '#util/json.ts';
import type { CheckContext } from '../check-context.ts';
import type { CompiledChild } from '../compiled-templates.ts';
import { elementKey } from '../phase/element-key.ts';
import type { SchemaType } from '../schema/schema-type.ts';
import type { CompiledTemplate } from '../template/template.ts';
import { itemTypeOf } from './check-types.ts';

/** Reports `element: same` where no element of one list can have the key of an element of the other one: it would wait forever. */
export function checkSameElements(context: CheckContext): void {
  const { parts, diagnostics } = context;
  for (const child of parts.children) {
    for (const id of child.definition.afterSame ?? []) {
      const other = parts.children.find(({ definition }) => definition.id === id);
      if (other?.forEach === undefined || child.forEach === undefined) continue;
      const reason = mismatch([child.forEach, other.forEach], context);
      if (reason === undefined) continue;
      diagnostics.report({
        code: 'wrong-type',
        message: `No element has the same key as one of child "${id}": ${reason}`,
        hint: 'The key is "$item", or its "name" if it is a map: write the same list in both "forEach"',
        path: placeOf(child, id),
      });
    }
  }
}

function placeOf({ pointer, definition: { after } }: CompiledChild, id: string): string {
  return pointerTo(pointerTo(pointer, 'after'), after.indexOf(id));
}

/** Why no key of one list is a key of the other one. Undefined: one may be. */
function mismatch(
  lists: readonly [CompiledTemplate, CompiledTemplate],
  context: CheckContext,
): string | undefined {
  const [own, theirs] = lists.map((list) => keyTypesOf(list, context));
  if (own !== undefined && theirs !== undefined && ![...own].some((type) => theirs.has(type)))
    return `its keys are ${nameOf(theirs)}, and those here are ${nameOf(own)}`;
  const [here, there] = lists.map(literalItems);
  if (here === undefined || there === undefined) return undefined;
  const known = new Set(there.map(elementKey));
  return here.some((item) => known.has(elementKey(item)))
    ? undefined
    : 'the lists have no key in common';
}

type KeyType = 'strings' | 'numbers' | 'booleans' | 'maps' | 'lists';

/** Undefined: they may have any type. */
function keyTypesOf(
  forEach: CompiledTemplate,
  context: CheckContext,
): ReadonlySet<KeyType> | undefined {
  const items = literalItems(forEach);
  if (items !== undefined) return new Set(items.map(typeOfKey));
  if (isRange(forEach)) return new Set(['numbers'] as const);
  const type = itemTypeOf(forEach, context);
  return type && keyTypes(type);
}

function literalItems({ root }: CompiledTemplate): readonly unknown[] | undefined {
  return root.kind === 'constant' && Array.isArray(root.value) ? root.value : undefined;
}

/** Whether the same elements come first in every state of the resource: a literal list, or the first integers. */
export function hasFixedItems(forEach: CompiledTemplate): boolean {
  return literalItems(forEach) !== undefined || isRange(forEach);
}

/** `[0..spec.size - 1]`, `$range(spec.size)` */
function isRange({ root, slots }: CompiledTemplate): boolean {
  const leaf = root.kind === 'slot' ? slots[root.slot]?.leaf : undefined;
  return leaf?.kind === 'value' && ranges.test(leaf.expression.source);
}

const ranges = /^\s*(?:\[[^[\],]*\.\.[^[\],]*\]|\$range\([^()]*\))\s*$/;

function typeOfKey(item: unknown): KeyType {
  if (Array.isArray(item)) return 'lists';
  if (isJsonObject(item)) return typeof item.name === 'string' ? 'strings' : 'maps';
  return typeof item === 'number' ? 'numbers' : typeof item === 'boolean' ? 'booleans' : 'strings';
}

function keyTypes(type: SchemaType): ReadonlySet<KeyType> | undefined {
  switch (type.kind) {
    case 'scalar':
      return scalarKeyTypes(type.accepts);
    case 'list':
      return new Set(['lists'] as const);
    case 'struct':
      if (type.fields.has('name') || type.open) return new Set(['strings', 'maps'] as const);
      return new Set(['maps'] as const);
    case 'map':
      return new Set(['strings', 'maps'] as const);
    default:
      return undefined;
  }
}

const scalarKeys = {
  string: 'strings',
  integer: 'numbers',
  number: 'numbers',
  boolean: 'booleans',
} as const;

function scalarKeyTypes(
  accepts: Extract<SchemaType, { kind: 'scalar' }>['accepts'],
): ReadonlySet<KeyType> | undefined {
  const found = new Set<KeyType>();
  for (const name of accepts) {
    if (name === 'unknown') return undefined;
    found.add(scalarKeys[name]);
  }
  return found;
}

function nameOf(types: ReadonlySet<KeyType>): string {
  return [...types].join(' or ');
}
