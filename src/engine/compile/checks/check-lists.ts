import { pointerTo } from '#util/json.ts';
import type { CheckContext } from '../check-context.ts';
import type { CompiledChild } from '../compiled-templates.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { ListType } from '../schema/schema-type.ts';
import { fieldsOf, type TemplateNode } from '../template/template.ts';
import { fieldBelow } from '../template/values.ts';
import { itemsOf, literalAt, type TypedNode, typedNodes } from './typed-nodes.ts';

/** Reports two items of a list with the same literal keys: the API server rejects an apply of such a list. */
export function checkLists({ parts, diagnostics }: CheckContext): void {
  for (const child of parts.objects) {
    const { template, type } = child;
    if (type === undefined) continue;
    for (const found of typedNodes(template.root, type)) checkList(found, child, diagnostics);
  }
}

function checkList(
  { node, type, steps }: TypedNode,
  { template }: CompiledChild,
  diagnostics: Diagnostics,
): void {
  if (type.kind !== 'list' || type.list !== 'map') return;
  const known = new Map<string, number>();
  for (const [index, item] of itemsOf(node).entries()) {
    const keys = item && keysOf(item, type);
    if (keys === undefined) continue;
    const text = keys.map(([key, value]) => `${key} ${JSON.stringify(value)}`).join(', ');
    const other = known.get(text);
    if (other === undefined) {
      known.set(text, index);
      continue;
    }
    const list = steps.reduce<string>(fieldBelow, '');
    const [first = ''] = keys.find(([key]) => literalAt(item, key) !== undefined) ?? [];
    diagnostics.report({
      code: 'invalid-value',
      message: `The API server rejects two items with ${text} in ${list}`,
      hint: `${list}[${other}] has it already`,
      path: [...steps, index, first].reduce<string>(pointerTo, template.pointer),
    });
  }
}

/** The keys of an item, with those that the schema sets. Undefined: an expression decides one, or one is missing. */
function keysOf(
  item: TemplateNode,
  { item: type, keys }: ListType,
): readonly (readonly [string, unknown])[] | undefined {
  const fields = fieldsOf(item);
  if (fields === undefined || type.kind !== 'struct') return undefined;
  const values = keys.map((key): readonly [string, unknown] => [
    key,
    fields.has(key) ? literalAt(item, key) : type.fields.get(key)?.defaultValue,
  ]);
  return values.some(([, value]) => value === undefined) ? undefined : values;
}
