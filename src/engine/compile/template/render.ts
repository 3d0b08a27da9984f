import { jsonLength } from '#util/json.ts';
import { coerce, unknownField } from './coerce.ts';
import { evaluateSlots, type SlotOptions } from './evaluate-slots.ts';
import { RenderError, renderErrorOf } from './render-error.ts';
import type { CompiledTemplate, KeySlot, TemplateNode } from './template.ts';
import { fieldBelow, fieldBelowKey } from './values.ts';

/** Size limit of a rendered child as JSON, in bytes. */
const maxManifestBytes = 1024 * 1024;

/**
 * Renders a template. Constant parts of the result are shared and frozen. Returns undefined if there is no result.
 * @throws RenderError
 */
export async function render(template: CompiledTemplate, options: SlotOptions): Promise<unknown> {
  const values = await evaluateSlots(template.slots, options);
  const result = build(template.root, values, options);
  checkSize(template, { values, result }, options);
  return result;
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
    map[name] = coerceKeyed({ key, name, value, options });
  } catch (error) {
    throw renderErrorOf(error, key.place);
  }
}

/** Coerces the value of a computed key, whose type depends on the key. */
function coerceKeyed({ key, name, value, options: { quotes } }: Keyed): unknown {
  const { mapType, mapField } = key;
  if (mapType?.kind === 'map') {
    const field = fieldBelowKey(mapField, name, quotes);
    return coerce(value, { type: mapType.item, field, quotes });
  }
  if (mapType?.kind !== 'struct') return value;
  const known = mapType.fields.get(name);
  if (known === undefined && !mapType.open) {
    throw unknownField(mapType, name, { field: mapField, quotes });
  }
  return coerce(value, { type: known?.type, field: fieldBelow(mapField, name), quotes });
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
    budget?.addRendered(estimate);
  } catch (error) {
    throw renderErrorOf(error, template.place);
  }
  // A character takes at most six bytes. Serializing takes longer than rendering, so it is avoided.
  if (estimate * 6 <= maxManifestBytes) return;
  const size = new TextEncoder().encode(JSON.stringify(result) ?? '').length;
  if (size <= maxManifestBytes) return;
  throw new RenderError('limit-reached', 'Expected at most 1 MiB as JSON', template.place);
}
