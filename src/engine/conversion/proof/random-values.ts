import { identities, type ListNode, type SchemaNode } from '../schema-node.ts';

/** A number in [0, 1). */
export type Fraction = () => number;

/** The same numbers for the same seed (mulberry32). */
export function seededFractions(seed: number): Fraction {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface ValueOptions {
  readonly fraction: Fraction;
  /** The share of optional fields that a value has. */
  readonly share: number;
  /** Required fields may be missing, too, and anything may be null: as in the objects that server-side apply compares. */
  readonly isPartial: boolean;
  /** Texts besides the usual ones. */
  readonly texts: readonly string[];
  /** How many items of lists and values of maps the value may have, at all levels together. */
  readonly room: { left: number };
}

/** Many more than a value of a usual schema has. With lists in lists, their number grows exponentially with the levels. */
export const mostItems = 500;

/** How often a key is generated that may be null, or of an enum without values. */
const mostTries = 20;

/** Durations, YAML, names and odd texts: what fields of resources contain. */
const usualTexts: readonly string[] = [
  ...['', 'a', 'b', 'web', 'eu-1', 'ünï ☃', 'true', '5', '0'],
  ...['30s', '90s', '1m30s', '1.5h', '1h0m0s', '1500ms', '-5s', '0s', '250ms', '1d'],
  ...['a: 1\n', '# why\na: [1, 2]\n', '{"b": {"c": "d"}}', '- x\n- y\n', '{', 'k: v\nk: w\n'],
];
const usualKeys = ['a', 'b', 'c', 'eu-1', 'x.y/z', '10', ''];
const integers = [0, 1, 2, 3, 30, 90, 3_600, -1, 80, 8_080, 2 ** 31];
const numbers = [0, 1, 1.5, 0.25, -2.75, 1e6];

/** A random value of a schema. */
export function randomValue(node: SchemaNode, options: ValueOptions): unknown {
  const { fraction, isPartial } = options;
  if (node.isNullable && fraction() < 0.1) return null;
  if (isPartial && fraction() < 0.02) return null;
  switch (node.kind) {
    case 'any':
      return randomAny(options, 3);
    case 'scalar':
      return node.values ? pick(node.values, fraction) : randomScalar(node.type, options);
    case 'list':
      return randomList(node, options);
    case 'map':
      return Object.fromEntries(
        times(options).map(() => [pick(usualKeys, fraction), randomValue(node.item, options)]),
      );
    case 'object': {
      const object: Record<string, unknown> = {};
      const needed = [...node.required, ...node.defaulted];
      for (const [name, field] of node.fields) {
        const isRequired = needed.includes(name) && !isPartial;
        if (isRequired || fraction() < options.share) object[name] = randomValue(field, options);
      }
      if (node.isOpen && fraction() < 0.3) object.other = randomAny(options, 2);
      return object;
    }
  }
}

function randomList(node: ListNode, options: ValueOptions): unknown {
  const items: unknown[] = [];
  for (const _ of times(options)) {
    const item = randomValue(node.item, options);
    const whole = node.listType === 'map' ? withKeys(item, node, options) : item;
    if (node.listType === 'atomic' ? whole !== null : identities([...items, whole], node))
      items.push(whole);
  }
  return items;
}

function withKeys(item: unknown, node: ListNode, options: ValueOptions): unknown {
  const object = { ...(item as Record<string, unknown> | null) };
  for (const key of node.keys) {
    const field = node.item.kind === 'object' ? node.item.fields.get(key) : undefined;
    for (let tries = 0; field && !hasValue(object[key]) && tries < mostTries; tries++)
      object[key] = randomValue(field, options);
  }
  return object;
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function randomScalar(type: string, { fraction, texts }: ValueOptions): unknown {
  switch (type) {
    case 'string':
      return pick(texts.length > 0 && fraction() < 0.4 ? texts : usualTexts, fraction);
    case 'integer':
      return pick(integers, fraction);
    case 'number':
      return pick(numbers, fraction);
    case 'boolean':
      return fraction() < 0.5;
    default:
      return fraction() < 0.5 ? pick(integers, fraction) : pick(['80', 'http', '25%'], fraction);
  }
}

function randomAny(options: ValueOptions, depth: number): unknown {
  const { fraction } = options;
  const kind = fraction();
  if (depth > 0 && kind < 0.4)
    return Object.fromEntries(
      times(options).map(() => [pick(usualKeys, fraction), randomAny(options, depth - 1)]),
    );
  if (depth > 0 && kind < 0.6) return times(options).map(() => randomAny(options, depth - 1));
  if (kind < 0.65) return null;
  return randomScalar(kind < 0.8 ? 'string' : kind < 0.9 ? 'number' : 'boolean', options);
}

function times({ fraction, room }: ValueOptions): readonly undefined[] {
  const length = Math.min(Math.floor(fraction() * 4), room.left);
  room.left -= length;
  return Array.from({ length }, () => undefined);
}

function pick<T>(list: readonly T[], fraction: Fraction): T {
  return list[Math.floor(fraction() * list.length)] as T;
}
