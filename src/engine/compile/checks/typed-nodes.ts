import type { SchemaType } from '../schema/schema-type.ts';
import {
  type CompiledTemplate,
  constant,
  fieldsOf,
  literalFields,
  nodeAt,
  type TemplateNode,
} from '../template/template.ts';

/** A node of a manifest, and the type of its field. */
export interface TypedNode {
  readonly node: TemplateNode;
  readonly type: SchemaType;
  /** From the manifest. */
  readonly steps: readonly (string | number)[];
}

/** A manifest and all nodes below it whose place and type are known. The status is left out: nothing applies it. */
export function* typedNodes(
  node: TemplateNode,
  type: SchemaType,
  steps: readonly (string | number)[] = [],
): Generator<TypedNode> {
  yield { node, type, steps };
  if (type.kind === 'list') {
    for (const [index, item] of itemsOf(node).entries())
      if (item !== undefined) yield* typedNodes(item, type.item, [...steps, index]);
    return;
  }
  if (type.kind !== 'map' && type.kind !== 'struct') return;
  for (const [key, value] of literalFields(node)) {
    const inner = type.kind === 'map' ? type.item : type.fields.get(key)?.type;
    if (inner !== undefined && (steps.length > 0 || key !== 'status'))
      yield* typedNodes(value, inner, [...steps, key]);
  }
}

/** The items of a list; undefined in place of those that are spread, which may be any number. */
export function itemsOf(node: TemplateNode): readonly (TemplateNode | undefined)[] {
  if (node.kind === 'constant' && Array.isArray(node.value)) return node.value.map(constant);
  if (node.kind !== 'list') return [];
  return node.items.map(({ node: item, isSpread }) => (isSpread ? undefined : item));
}

/** The value of a literal field. Undefined: there is none, or an expression decides it. */
export function literalAt(node: TemplateNode | undefined, field: string): unknown {
  const found = node && fieldsOf(node)?.get(field);
  return found?.kind === 'constant' ? found.value : undefined;
}

/** A text as it is written: equal ones have equal values. Undefined: there is none at this path. */
export function writtenText(
  { root, slots }: CompiledTemplate,
  steps: readonly string[],
): string | undefined {
  const node = nodeAt(root, steps);
  if (node?.kind === 'slot') return slots[node.slot]?.text;
  return node?.kind === 'constant' && typeof node.value === 'string' ? node.value : undefined;
}
