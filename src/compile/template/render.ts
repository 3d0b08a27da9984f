import { jsonLength } from '../../util/json.ts';
import { evaluateSlots, type SlotOptions } from './evaluate-slots.ts';
import { fieldBelow, fieldBelowKey } from './field-path.ts';
import { fit, unknownField } from './fit.ts';
import { RenderError, renderErrorOf } from './render-error.ts';
import type { CompiledTemplate, KeySlot, TemplateNode } from './template.ts';
import { then } from './then.ts';

/** A rendered child, as JSON. */
const largest = 1024 * 1024;

/**
 * Renders a template. Constant parts of the result are shared and frozen. Undefined: no result.
 * @throws RenderError (also as a rejection)
 */
export function render(
  template: CompiledTemplate,
  options: SlotOptions,
): unknown | Promise<unknown> {
  const { root, slots } = template;
  if (root.kind === 'constant') {
    checkSize(template, { values: [], result: root.value }, options);
    return root.value;
  }
  return then(evaluateSlots(slots, options), (values) => {
    const result = build(root, values, options);
    checkSize(template, { values, result }, options);
    return result;
  });
}

function build(node: TemplateNode, values: readonly unknown[], options: SlotOptions): unknown {
  switch (node.kind) {
    case 'constant':
      return node.value;
    case 'slot':
      return values[node.slot];
    case 'list': {
      const list: unknown[] = [];
      for (const item of node.items) {
        const value = build(item.node, values, options);
        if (item.isSpread) list.push(...(value as readonly unknown[]));
        else if (value !== undefined) list.push(value);
      }
      return list;
    }
    case 'map': {
      const map: Record<string, unknown> = {};
      for (const { key, node: inner } of node.entries) {
        const value = build(inner, values, options);
        if (value === undefined) continue;
        const name = typeof key === 'string' ? key : values[key.slot];
        if (typeof key === 'string') map[key] = value;
        else if (typeof name === 'string') addKeyed(map, { key, name, value, options });
      }
      return map;
    }
  }
}

interface Keyed {
  readonly key: KeySlot;
  readonly name: string;
  readonly value: unknown;
  readonly options: SlotOptions;
}

function addKeyed(map: Record<string, unknown>, { key, name, value, options }: Keyed): void {
  if (Object.hasOwn(map, name)) {
    const message = options.quotes ? `Two keys are "${name}"` : 'Two keys are equal';
    throw new RenderError('invalid-manifest', message, key.place);
  }
  try {
    map[name] = fitKeyed({ key, name, value, options });
  } catch (error) {
    throw renderErrorOf(error, key.place);
  }
}

/** The type of a field whose name is computed is known only now. */
function fitKeyed({ key, name, value, options: { quotes } }: Keyed): unknown {
  const { mapType, mapField } = key;
  if (mapType?.kind === 'map') {
    const field = fieldBelowKey(mapField, name, quotes);
    return fit(value, { type: mapType.item, field, quotes });
  }
  if (mapType?.kind !== 'struct') return value;
  const known = mapType.fields.get(name);
  if (known === undefined && !mapType.open) {
    throw unknownField(mapType, name, { field: mapField, quotes });
  }
  return fit(value, { type: known?.type, field: fieldBelow(mapField, name), quotes });
}

interface RenderedValue {
  readonly values: readonly unknown[];
  readonly result: unknown;
}

function checkSize(
  template: CompiledTemplate,
  { values, result }: RenderedValue,
  { scope: { budget } }: SlotOptions,
): void {
  const estimate = template.constantSize + jsonLength(values);
  try {
    budget?.hold(estimate);
  } catch (error) {
    throw renderErrorOf(error, template.place);
  }
  // At worst every character takes six bytes; to write all out takes longer than to render.
  if (estimate * 6 <= largest) return;
  const size = new TextEncoder().encode(JSON.stringify(result) ?? '').length;
  if (size <= largest) return;
  throw new RenderError('limit-reached', 'Expected at most 1 MiB as JSON', template.place);
}
