import type { Leaf, Reference } from '../language/index.ts';
import type { SchemaType } from '../schema/schema-type.ts';
import type { Place } from './render-error.ts';

/** A leaf with an expression in it. */
export interface Slot {
  readonly leaf: Exclude<Leaf, { kind: 'literal' }>;
  /** As written. */
  readonly text: string;
  /** Of the string leaf, or of the field whose key it is. */
  readonly pointer: string;
  readonly place: Place;
  /** `spread`: its elements are put into the list around it. */
  readonly role: 'value' | 'key' | 'spread';
  /** What the value (each element, for `spread`) must fit. */
  readonly type: SchemaType | undefined;
}

/** A template of which everything known before a pass is done: what is constant is shared by all renders. */
export type TemplateNode =
  | { readonly kind: 'constant'; readonly value: unknown }
  | { readonly kind: 'slot'; readonly slot: number }
  | { readonly kind: 'map'; readonly entries: readonly MapEntry[] }
  | { readonly kind: 'list'; readonly items: readonly ListItem[] };

export interface MapEntry {
  readonly key: string | KeySlot;
  readonly node: TemplateNode;
}

/** A key that is an expression. */
export interface KeySlot {
  readonly slot: number;
  readonly place: Place;
  /** The map's own field and type: that of the value depends on the key. */
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
  /** Length of the constant parts as JSON. */
  readonly constantSize: number;
  /** Where the template as a whole stands. */
  readonly pointer: string;
  readonly place: Place;
}

/** A name that a slot reads. */
export interface SlotReference {
  readonly slot: Slot;
  readonly reference: Reference;
}

/** Everything that the expressions of a template read. */
export function referencesOf(template: CompiledTemplate): readonly SlotReference[] {
  return template.slots.flatMap((slot) =>
    expressionsOf(slot.leaf).flatMap(({ references }) =>
      references.map((reference) => ({ slot, reference })),
    ),
  );
}

function expressionsOf(leaf: Slot['leaf']): readonly { references: readonly Reference[] }[] {
  return leaf.kind === 'text'
    ? leaf.parts.filter((part) => typeof part !== 'string')
    : [leaf.expression];
}
