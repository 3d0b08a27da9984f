import type { Json, JsonObject } from '#util/json.ts';
import type { SeededRandom } from '../../support/model/seeded-random.ts';
import type { WidgetSchema } from './widget-schema.ts';

/** Few words, so that writers meet. */
const words = ['a', 'b', 'c'];

/** A value that a schema allows, or almost: sometimes an item twice, sometimes nothing where something is needed. */
export function randomValue(schema: WidgetSchema, random: SeededRandom): Json {
  if (schema.nullable === true && random.chance(0.3)) return null;
  if (schema['x-kubernetes-int-or-string'] === true)
    return random.chance(0.5) ? random.below(3) : (random.pick(words) ?? '');
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) return freeForm(random, 2);
  switch (schema.type) {
    case 'object':
      return randomObject(schema, random);
    case 'array':
      return randomList(schema, random);
    case 'integer':
      return random.below(3);
    case 'boolean':
      return random.chance(0.5);
    default:
      return random.pick(words) ?? '';
  }
}

function randomObject(schema: WidgetSchema, random: SeededRandom): JsonObject {
  const { properties, additionalProperties, required = [] } = schema;
  const share = random.pick([0.15, 0.4, 0.8]) ?? 0.4;
  const names = properties === undefined ? words : Object.keys(properties);
  const entries: [string, Json][] = [];
  for (const name of names) {
    const field = properties?.[name] ?? additionalProperties;
    if (field === undefined) continue;
    if (required.includes(name) || random.chance(share))
      entries.push([name, randomValue(field, random)]);
  }
  return Object.fromEntries(shuffled(entries, random));
}

function randomList(schema: WidgetSchema, random: SeededRandom): readonly Json[] {
  const { items = {} } = schema;
  const list = Array.from({ length: random.below(4) }, () => randomValue(items, random));
  if (schema['x-kubernetes-list-type'] === 'atomic' || random.chance(0.03)) return list;
  const keys = schema['x-kubernetes-list-map-keys'];
  const seen = new Set<string>();
  return list.filter((item) => {
    const key = JSON.stringify(keys?.map((name) => (item as JsonObject)[name] ?? 'TCP') ?? item);
    return !seen.has(key) && seen.add(key);
  });
}

function freeForm(random: SeededRandom, depth: number): Json {
  const entries = words
    .filter(() => random.chance(0.5))
    .map((name) => [
      name,
      depth > 0 && random.chance(0.4) ? freeForm(random, depth - 1) : leaf(random),
    ]);
  return Object.fromEntries(entries);
}

function leaf(random: SeededRandom): Json {
  return random.pick<Json>([1, 2, 'x', true, null, ['x', 'y'], [], {}]) ?? null;
}

function shuffled<T>(items: readonly T[], random: SeededRandom): readonly T[] {
  return items
    .map((item) => ({ item, at: random.fraction() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
