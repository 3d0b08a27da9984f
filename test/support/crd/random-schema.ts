/** Random schemas of CRDs, random steps from one to another, and values that may fit them. */
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { SeededRandom } from '../model/seeded-random.ts';

type Node = Record<string, Json>;

const texts = ['', 'a', 'ab', 'abc', 'abcd', 'b', 'b1', 'x'];
const patterns = ['^a', 'b', '^[a-z]*$', '1$'];
const integerFormats = ['int32', 'int64'];
/** Some that are no `int32`. */
const farIntegers = [2 ** 31, -(2 ** 31) - 1, 2 ** 62];
const fieldNames = ['a', 'b', 'c', 'd'];

/** The schema of an object with some fields. */
export function randomObject(random: SeededRandom, depth = 2): Node {
  const names = fieldNames.filter(() => random.chance(0.6));
  const properties = Object.fromEntries(names.map((name) => [name, randomNode(random, depth - 1)]));
  const required = names.filter(() => random.chance(0.3));
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    ...(random.chance(0.15) && { maxProperties: 2 + random.below(3) }),
    ...(random.chance(0.1) && { not: { required: ['a', 'b'] } }),
    ...(random.chance(0.1) && { anyOf: [{ required: ['a'] }, { required: ['c'] }] }),
  };
}

function randomNode(random: SeededRandom, depth: number): Node {
  const kinds = ['string', 'integer', 'boolean', 'intOrString', 'free'];
  const kind = random.pick(depth > 0 ? [...kinds, 'array', 'object', 'map'] : kinds);
  const nullable = random.chance(0.15) && { nullable: true };
  switch (kind) {
    case 'integer':
      return { ...randomInteger(random), ...nullable };
    case 'boolean':
      return { type: 'boolean', ...nullable };
    case 'intOrString':
      return { 'x-kubernetes-int-or-string': true, ...nullable };
    case 'free':
      return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, ...nullable };
    case 'array':
      return { type: 'array', items: randomNode(random, depth - 1), ...bounds(random, 'Items') };
    case 'object':
      return { ...randomObject(random, depth), ...nullable };
    case 'map':
      return {
        type: 'object',
        additionalProperties: randomNode(random, depth - 1),
        ...bounds(random, 'Properties'),
      };
    default:
      return { ...randomText(random), ...nullable };
  }
}

function randomText(random: SeededRandom): Node {
  return {
    type: 'string',
    ...bounds(random, 'Length'),
    ...(random.chance(0.2) && { pattern: random.pick(patterns) ?? '' }),
    ...(random.chance(0.15) && { enum: ['a', 'ab', 'b'] }),
    ...(random.chance(0.15) && { anyOf: [{ pattern: 'a' }, { maxLength: 2 }] }),
    ...(random.chance(0.1) && { allOf: [{ maxLength: 3 }] }),
    ...(random.chance(0.1) && { oneOf: [{ pattern: '^a' }, { pattern: 'b' }] }),
  };
}

function randomInteger(random: SeededRandom): Node {
  const hasMinimum = random.chance(0.4);
  return {
    type: 'integer',
    ...(hasMinimum && { minimum: random.below(4) - 2 }),
    ...(hasMinimum && random.chance(0.3) && { exclusiveMinimum: true }),
    ...(random.chance(0.3) && { maximum: 4 + random.below(8) }),
    ...(random.chance(0.2) && { multipleOf: random.pick([2, 3, 6]) ?? 2 }),
    ...(random.chance(0.2) && { format: random.pick(integerFormats) ?? '' }),
  };
}

function bounds(random: SeededRandom, what: string): Node {
  return {
    ...(random.chance(0.2) && { [`min${what}`]: random.below(3) }),
    ...(random.chance(0.2) && { [`max${what}`]: 2 + random.below(3) }),
  };
}

/** The schema after some random steps, looser or tighter each. */
export function changed(random: SeededRandom, schema: JsonObject, steps: number): JsonObject {
  const copy = structuredClone(schema) as Node;
  for (let step = 0; step < steps; step++) {
    const nodes = [...nodesOf(copy)];
    changeNode(random, random.pick(nodes) ?? copy);
  }
  return copy;
}

function* nodesOf(node: Node): Generator<Node> {
  yield node;
  const { properties, items, additionalProperties } = node;
  const parts = [...(isJsonObject(properties) ? Object.values(properties) : [])];
  for (const part of [...parts, items, additionalProperties]) {
    if (isJsonObject(part)) yield* nodesOf(part as Node);
  }
}

function changeNode(random: SeededRandom, node: Node): void {
  if (random.chance(0.1)) toggle(node, 'nullable', true);
  else if (random.chance(0.05)) Object.assign(node, { description: 'other words' });
  else if (isJsonObject(node.properties)) changeObject(random, node, node.properties as Node);
  else if (node.type === 'string') changeText(random, node);
  else if (node.type === 'integer') changeInteger(random, node);
  else if (node.type === 'array') changeBound(random, node, random.pick(['minItems', 'maxItems']));
  else if (node.type === 'object') changeMap(random, node);
}

function changeObject(random: SeededRandom, node: Node, properties: Node): void {
  const name = random.pick(fieldNames) ?? 'a';
  const required = Array.isArray(node.required) ? node.required.map(String) : [];
  switch (random.below(5)) {
    case 0:
      if (properties[name] === undefined) properties[name] = randomNode(random, 1);
      break;
    case 1:
      delete properties[name];
      node.required = required.filter((each) => each !== name);
      break;
    case 2:
      if (properties[name] !== undefined)
        node.required = required.includes(name)
          ? required.filter((each) => each !== name)
          : [...required, name];
      break;
    case 3:
      changeBound(random, node, 'maxProperties');
      break;
    default:
      toggle(node, random.pick(['not', 'anyOf', 'x-kubernetes-preserve-unknown-fields']), true);
      if (node.not === true) node.not = { required: [name] };
      if (node.anyOf === true) node.anyOf = [{ required: [name] }, { required: ['c'] }];
  }
}

function changeText(random: SeededRandom, node: Node): void {
  const longer = [{ maxLength: 3 }, { pattern: 'a' }];
  const shorter = [{ pattern: 'a' }, { maxLength: 1 }];
  const others = random.chance(0.5) ? ['a', 'b'] : ['a', 'ab', 'abc', 'b', 'x'];
  const steps = [
    () => changeBound(random, node, 'minLength'),
    () => changeBound(random, node, 'maxLength'),
    () => toggle(node, 'pattern', random.pick(patterns)),
    () => Object.assign(node, { enum: others }),
    () => Object.assign(node, { anyOf: random.chance(0.5) ? longer : shorter }),
    () => toggle(node, 'oneOf', [{ pattern: '^a' }, { pattern: 'x' }]),
    () => toggle(node, 'allOf', [{ maxLength: 2 + random.below(3) }]),
  ];
  random.pick(steps)?.();
}

function changeInteger(random: SeededRandom, node: Node): void {
  const keywords = ['minimum', 'maximum', 'multipleOf', 'exclusiveMinimum', 'format'];
  const keyword = random.pick(keywords) ?? '';
  if (keyword === 'format') toggle(node, keyword, random.pick(integerFormats));
  else if (keyword === 'multipleOf') toggle(node, keyword, random.pick([2, 3, 6]));
  else if (keyword === 'exclusiveMinimum') {
    if (node.minimum !== undefined) toggle(node, keyword, true);
  } else changeBound(random, node, keyword);
  if (node.minimum === undefined) delete node.exclusiveMinimum;
}

function changeMap(random: SeededRandom, node: Node): void {
  if (isJsonObject(node.additionalProperties)) changeBound(random, node, 'maxProperties');
  else node.properties = { a: randomNode(random, 1) };
}

function changeBound(random: SeededRandom, node: Node, keyword = 'maxLength'): void {
  const was = node[keyword];
  if (typeof was !== 'number') node[keyword] = keyword.startsWith('min') ? 1 : 4;
  else if (random.chance(0.3)) delete node[keyword];
  else node[keyword] = Math.max(0, was + (random.chance(0.5) ? 1 : -1));
}

function toggle(node: Node, keyword = 'nullable', value: Json = true): void {
  if (node[keyword] === undefined) node[keyword] = value;
  else delete node[keyword];
}

/** A value of about the form that the schema asks for; it may break its rules. */
export function randomValue(random: SeededRandom, schema: JsonObject): Json {
  if (schema.nullable === true && random.chance(0.2)) return null;
  if (schema['x-kubernetes-int-or-string'] === true)
    return random.chance(0.5) ? random.below(5) : (random.pick(texts) ?? '');
  const { items, properties, additionalProperties } = schema;
  switch (schema.type) {
    case 'integer':
      return random.chance(0.1) ? (random.pick(farIntegers) ?? 0) : random.below(16) - 3;
    case 'boolean':
      return random.chance(0.5);
    case 'array':
      return listOf(random, () => randomValue(random, isJsonObject(items) ? items : {}));
    case 'object':
      return {
        ...(isJsonObject(properties) && fieldsOf(random, properties)),
        ...(isJsonObject(additionalProperties) &&
          Object.fromEntries(
            listOf(random, () => [
              random.pick(fieldNames) ?? 'a',
              randomValue(random, additionalProperties),
            ]),
          )),
        ...(schema['x-kubernetes-preserve-unknown-fields'] === true &&
          random.chance(0.7) && { [random.pick(fieldNames) ?? 'a']: random.pick(texts) ?? '' }),
      };
    default:
      return random.pick(texts) ?? '';
  }
}

function fieldsOf(random: SeededRandom, properties: JsonObject): JsonObject {
  const some = Object.entries(properties).filter(() => random.chance(0.7));
  return Object.fromEntries(
    some.map(([name, schema]) => [name, randomValue(random, isJsonObject(schema) ? schema : {})]),
  );
}

function listOf<T>(random: SeededRandom, make: () => T): readonly T[] {
  return Array.from({ length: random.below(4) }, make);
}

/** The same rules in the words of JSON schema, draft 7. */
export function asJsonSchema(node: JsonObject): JsonObject {
  const entries = Object.entries(node).flatMap(([keyword, value]): [string, Json][] => {
    switch (keyword) {
      case 'properties':
        return [[keyword, mapValues(value, asJsonSchema)]];
      case 'items':
      case 'additionalProperties':
        return [[keyword, isJsonObject(value) ? asJsonSchema(value) : (value ?? true)]];
      case 'exclusiveMinimum':
        return [[keyword, node.minimum ?? 0]];
      case 'format':
        return value === 'int32'
          ? [['allOf', [{ minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }]]]
          : [];
      case 'nullable':
      case 'type':
        return [];
      default:
        return keyword.startsWith('x-') ? [] : [[keyword, value ?? null]];
    }
  });
  const schema = Object.fromEntries(entries);
  if (node['x-kubernetes-int-or-string'] === true) schema.type = ['integer', 'string'];
  else if (node.type !== undefined) schema.type = node.type;
  return node.nullable === true ? { anyOf: [{ type: 'null' }, schema] } : schema;
}

function mapValues(value: Json | undefined, change: (node: JsonObject) => JsonObject): JsonObject {
  const entries = Object.entries(isJsonObject(value) ? value : {});
  return Object.fromEntries(
    entries.map(([name, node]) => [name, change(isJsonObject(node) ? node : {})]),
  );
}
