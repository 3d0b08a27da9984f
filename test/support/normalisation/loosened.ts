import type { ScalarType, SchemaType } from '#compile';
import { isFields } from '#reconcile/intent/intent.ts';
import type { SeededRandom } from '../model/seeded-random.ts';

/** How often a place that can be written in another way is. */
const often = 0.5;

export interface LooseningOptions {
  readonly random: SeededRandom;
  /** Also quantities as numbers: those stay numbers, which is another spelling of the same. */
  readonly quantities: boolean;
}

/**
 * A value as an expression may give it where the field wants `value`: lists of one as their element, numbers and booleans as text and
 * the other way round, and fields without a value. Fitting must give the value back.
 */
export function loosened(value: unknown, type: SchemaType, options: LooseningOptions): unknown {
  const { random } = options;
  if (value === null) return value;
  switch (type.kind) {
    case 'any':
      return value;
    case 'scalar':
      return random.chance(often) ? otherwise(value, type, options) : value;
    case 'list': {
      if (!Array.isArray(value)) return value;
      const items = value.map((item) => loosened(item, type.item, options));
      const [only] = items;
      // A list inside of a list is not distinguished from it.
      const isPlain = items.length === 1 && only !== null && !Array.isArray(only);
      return isPlain && random.chance(often) ? only : items;
    }
    case 'map':
    case 'struct': {
      if (!isFields(value)) return value;
      const entries = Object.entries(value).map(([key, field]) => {
        const inner = type.kind === 'map' ? type.item : type.fields.get(key)?.type;
        return [key, inner === undefined ? field : loosened(field, inner, options)] as const;
      });
      return Object.fromEntries([...entries, ...missingFields(value, type, random)]);
    }
    case 'branch':
      return isFields(value) ? loosened(value, type.either, options) : value;
  }
}

/** A field that is there, and has no value. */
function missingFields(
  value: Readonly<Record<string, unknown>>,
  type: SchemaType,
  random: SeededRandom,
): readonly (readonly [string, null])[] {
  if (type.kind !== 'struct') return [];
  const absent = [...type.fields].filter(([key, { keepsNull }]) => !keepsNull && !(key in value));
  const picked = random.chance(0.2) ? random.pick(absent) : undefined;
  return picked === undefined ? [] : [[picked[0], null]];
}

function otherwise(
  value: unknown,
  { accepts, format, builtIn }: ScalarType,
  { quantities }: LooseningOptions,
): unknown {
  if (format === 'quantity' && !quantities) return value;
  if (typeof value === 'number' || typeof value === 'boolean') {
    const isText = accepts.includes('string') && !builtIn;
    return isText || accepts.includes('unknown') ? value : String(value);
  }
  if (typeof value !== 'string' || format === 'time' || format === 'base64') return value;
  if (accepts.includes('unknown') || accepts.includes('integer')) return value;
  if (String(Number(value)) === value) return Number(value);
  // No quantity is a boolean.
  return format === 'exact' && (value === 'true' || value === 'false') ? value === 'true' : value;
}
