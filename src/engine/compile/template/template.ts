import { isJsonObject } from '#util/json.ts';
import type { Expression, Leaf, Reference } from '../language/index.ts';
import type { SchemaType } from '../schema/schema-type.ts';
import type { Place } from './render-error.ts';

/** A string leaf that contains an expression. */
export interface Slot {
  readonly leaf: Exclude<Leaf, { kind: 'literal' }>;
  /** As written. */
  readonly text: string;
  /** Pointer of the string leaf, or of the field if it is a key. */
  readonly pointer: string;
  readonly place: Place;
  /** `spread`: the elements of its value are inserted into the surrounding list. */
  readonly role: 'value' | 'key' | 'spread';
  /** Type to which the value (each element, for `spread`) is coerced. */
  readonly type: SchemaType | undefined;
}

/** A compiled node. Constant nodes are shared by all renders. */
export type TemplateNode =
  | { readonly kind: 'constant'; readonly value: unknown }
  | { readonly kind: 'slot'; readonly slot: number }
  | { readonly kind: 'map'; readonly entries: readonly MapEntry[] }
  | { readonly kind: 'list'; readonly items: readonly ListItem[] };

export interface MapEntry {
  readonly key: string | KeySlot;
  readonly node: TemplateNode;
}

/** A computed key. */
export interface KeySlot {
  readonly slot: number;
  readonly place: Place;
  /** Field and type of the map. The type of the value depends on the key. */
  readonly mapField: string;
  readonly mapType: SchemaType | undefined;
}

export interface ListItem {
  readonly node: TemplateNode;
  readonly isSpread: boolean;
}

export interface CompiledTemplate {
  readonly root: TemplateNode;
  readonly slots: readonly Slot[];
  /** Of all its expressions. */
  readonly references: readonly SlotReference[];
  /** Length of the constant parts as JSON, in characters. */
  readonly constantSize: number;
  /** Pointer of the whole template. */
  readonly pointer: string;
  readonly place: Place;
}

/** Wraps a slot in a template. */
export function slotTemplate(slot: Slot): CompiledTemplate {
  const { pointer, place } = slot;
  const references = referencesOf([slot]);
  return {
    root: { kind: 'slot', slot: 0 },
    slots: [slot],
    references,
    constantSize: 0,
    pointer,
    place,
  };
}

/** The fields of a map with literal keys; empty for other nodes. */
export function literalFields(node: TemplateNode): ReadonlyMap<string, TemplateNode> {
  const fields = new Map<string, TemplateNode>();
  if (node.kind === 'constant' && isJsonObject(node.value)) {
    for (const [key, value] of Object.entries(node.value)) fields.set(key, constant(value));
  } else if (node.kind === 'map') {
    for (const { key, node: field } of node.entries) {
      if (typeof key === 'string') fields.set(key, field);
    }
  }
  return fields;
}

/** All fields of a map; undefined if it is not a map or has computed keys. */
export function fieldsOf(node: TemplateNode): ReadonlyMap<string, TemplateNode> | undefined {
  const isMap =
    node.kind === 'map'
      ? node.entries.every(({ key }) => typeof key === 'string')
      : node.kind === 'constant' && isJsonObject(node.value);
  return isMap ? literalFields(node) : undefined;
}

/** The literal node at a path below a node. */
export function nodeAt(node: TemplateNode, steps: readonly string[]): TemplateNode | undefined {
  let inner: TemplateNode | undefined = node;
  for (const step of steps) inner = inner && literalField(inner, step);
  return inner;
}

function literalField(node: TemplateNode, step: string): TemplateNode | undefined {
  if (node.kind === 'constant' && isJsonObject(node.value) && Object.hasOwn(node.value, step))
    return constant(node.value[step]);
  return node.kind === 'map' ? node.entries.findLast(({ key }) => key === step)?.node : undefined;
}

/** Whether a rendered value can have this field: it is written, or an expression may contain it. */
export function mayHave(node: TemplateNode, steps: readonly string[]): boolean {
  const [step, ...rest] = steps;
  if (step === undefined || !(node.kind === 'constant' || node.kind === 'map')) return true;
  const inner = literalField(node, step);
  if (inner !== undefined) return mayHave(inner, rest);
  return node.kind === 'map' && node.entries.some(({ key }) => typeof key !== 'string');
}

export function constant(value: unknown): Extract<TemplateNode, { kind: 'constant' }> {
  return { kind: 'constant', value };
}

/** A reference and the slot that contains it. */
export interface SlotReference {
  readonly slot: Slot;
  readonly reference: Reference;
}

/** The references of all expressions in these slots. */
export function referencesOf(slots: readonly Slot[]): readonly SlotReference[] {
  return slots.flatMap((slot) =>
    expressionsOf(slot.leaf).flatMap(({ references }) =>
      references.map((reference) => ({ slot, reference })),
    ),
  );
}

/** The expressions of a string leaf. */
export function expressionsOf(leaf: Slot['leaf']): readonly Expression[] {
  return leaf.kind === 'text'
    ? leaf.parts.filter((part) => typeof part !== 'string')
    : [leaf.expression];
}
