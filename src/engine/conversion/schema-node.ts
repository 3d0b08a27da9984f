import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type JsonObject, objectAt } from '#util/json.ts';
import { isTooDeep } from './nesting.ts';

interface Nullable {
  /** The API server keeps a null here; elsewhere it removes it. */
  readonly isNullable: boolean;
}

export interface ObjectNode extends Nullable {
  readonly kind: 'object';
  readonly fields: ReadonlyMap<string, SchemaNode>;
  /** Required fields, without those that the API server sets to a default. */
  readonly required: readonly string[];
  /** Fields that the API server sets to a default: no complete object lacks them. */
  readonly defaulted: readonly string[];
  /** Other fields are kept. */
  readonly isOpen: boolean;
}

export interface MapNode extends Nullable {
  readonly kind: 'map';
  readonly item: SchemaNode;
}

export interface ListNode extends Nullable {
  readonly kind: 'list';
  readonly item: SchemaNode;
  readonly listType: 'atomic' | 'set' | 'map';
  /** The fields that identify an item of a list of type `map`. */
  readonly keys: readonly string[];
}

export interface ScalarNode extends Nullable {
  readonly kind: 'scalar';
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'int-or-string';
  readonly values: readonly unknown[] | undefined;
}

export interface AnyNode extends Nullable {
  readonly kind: 'any';
}

/** What a conversion needs of a structural schema. */
export type SchemaNode = ObjectNode | MapNode | ListNode | ScalarNode | AnyNode;

const any: AnyNode = { kind: 'any', isNullable: true };

/** The node of an object of a version: without its `apiVersion`, `kind` and `metadata`, which are not converted by rules. */
export function rootNode(schema: JsonObject): ObjectNode {
  const node = schemaNode(schema);
  if (node.kind !== 'object')
    return {
      kind: 'object',
      fields: new Map(),
      required: [],
      defaulted: [],
      isOpen: true,
      isNullable: false,
    };
  const fields = [...node.fields].filter(([name]) => !isRootField(name));
  return {
    ...node,
    fields: new Map(fields),
    required: node.required.filter((each) => !isRootField(each)),
  };
}

/** A field that each object has, whatever its schema. */
export function isRootField(name: string): boolean {
  return name === 'apiVersion' || name === 'kind' || name === 'metadata';
}

/** The node of a schema. What no structural schema may contain counts as any value. */
export function schemaNode(schema: unknown): SchemaNode {
  if (!isJsonObject(schema)) return any;
  const isNullable = schema.nullable === true;
  if (schema['x-kubernetes-int-or-string'] === true)
    return { kind: 'scalar', type: 'int-or-string', values: undefined, isNullable };
  if (schema['x-kubernetes-embedded-resource'] === true) return { kind: 'any', isNullable };
  switch (schema.type) {
    case 'object':
      return objectNode(schema, isNullable);
    case 'array':
      return listNode(schema, isNullable);
    case 'string':
    case 'integer':
    case 'number':
    case 'boolean': {
      const values = Array.isArray(schema.enum) ? schema.enum : undefined;
      return { kind: 'scalar', type: schema.type, values, isNullable };
    }
    default:
      return { kind: 'any', isNullable };
  }
}

function objectNode(schema: JsonObject, isNullable: boolean): SchemaNode {
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (isJsonObject(schema.properties)) {
    const fields = Object.entries(schema.properties).map(
      ([name, each]) => [name, schemaNode(each)] as const,
    );
    const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
    const properties = schema.properties;
    const hasDefault = (name: string) => objectAt(properties, name)?.default !== undefined;
    return {
      kind: 'object',
      fields: new Map(fields),
      required: required.filter((name) => !hasDefault(name)),
      defaulted: Object.keys(properties).filter(hasDefault),
      isOpen,
      isNullable,
    };
  }
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== false)
    return { kind: 'map', item: schemaNode(schema.additionalProperties), isNullable };
  if (isOpen) return { kind: 'any', isNullable };
  return { kind: 'object', fields: new Map(), required: [], defaulted: [], isOpen, isNullable };
}

function listNode(schema: JsonObject, isNullable: boolean): ListNode {
  const item = schemaNode(schema.items);
  const keys = schema['x-kubernetes-list-map-keys'];
  const type = schema['x-kubernetes-list-type'];
  if (type === 'map' && Array.isArray(keys))
    return { kind: 'list', item, listType: 'map', keys: keys.map(String), isNullable };
  return { kind: 'list', item, listType: type === 'set' ? 'set' : 'atomic', keys: [], isNullable };
}

/** The node of a field. Undefined: the schema has no such field. */
export function fieldNode(node: SchemaNode, name: string): SchemaNode | undefined {
  switch (node.kind) {
    case 'object':
      return node.fields.get(name) ?? (node.isOpen ? any : undefined);
    case 'map':
      return node.item;
    case 'any':
      return any;
    default:
      return undefined;
  }
}

/** The node of each item of a list, or of each value of a map. */
export function itemNode(node: SchemaNode): SchemaNode | undefined {
  if (node.kind === 'any') return any;
  return node.kind === 'list' || node.kind === 'map' ? node.item : undefined;
}

/** Has a value of the schema a part that may be nested at will? */
export function hasOpenPart(node: SchemaNode): boolean {
  switch (node.kind) {
    case 'any':
      return true;
    case 'scalar':
      return false;
    case 'object':
      return node.isOpen || [...node.fields.values()].some(hasOpenPart);
    default:
      return hasOpenPart(node.item);
  }
}

/** Can each value of one schema be used with another one unchanged, unless it is nested too deep? */
export function canHold(target: SchemaNode, source: SchemaNode): boolean {
  if (source.isNullable && !target.isNullable) return false;
  if (target.kind === 'any') return source.kind === 'any';
  if (target.kind === 'object') {
    if (source.kind !== 'object' || (source.isOpen && !target.isOpen)) return false;
    return [...source.fields].every(([name, each]) => {
      const field = target.fields.get(name);
      return field !== undefined && canHold(field, each);
    });
  }
  if (target.kind === 'map') return source.kind === 'map' && canHold(target.item, source.item);
  if (target.kind === 'list') {
    if (source.kind !== 'list' || !canHold(target.item, source.item)) return false;
    return target.listType === source.listType && deepEqual(target.keys, source.keys);
  }
  if (source.kind !== 'scalar' || source.type !== target.type) return false;
  const { values } = target;
  return values === undefined || (source.values?.every((each) => values.includes(each)) ?? false);
}

/**
 * Does a value fit a schema? Its types, its values of an enum, no unknown field, no item twice where items are unique, and no open field that is
 * nested too deep. Ranges and patterns do not count: the API server accepts values beyond them in stored objects.
 */
export function fits(value: unknown, node: SchemaNode): boolean {
  if (value === null) return node.isNullable;
  switch (node.kind) {
    case 'any':
      return value !== undefined && !isTooDeep(value);
    case 'scalar':
      return isOfType(value, node.type) && (node.values?.includes(value) ?? true);
    case 'list':
      return Array.isArray(value) && fitItems(value, node);
    case 'map':
    case 'object':
      return (
        isJsonObject(value) &&
        Object.entries(value).every(([name, each]) => {
          const field = fieldNode(node, name);
          return field !== undefined && fits(each, field);
        })
      );
  }
}

function fitItems(list: readonly unknown[], node: ListNode): boolean {
  if (!list.every((each) => fits(each, node.item))) return false;
  return node.listType === 'atomic' || identities(list, node) !== undefined;
}

function isOfType(value: unknown, type: ScalarNode['type']): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value) || typeof value === 'bigint';
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint';
    case 'int-or-string':
      return typeof value === 'string' || isOfType(value, 'integer');
    default:
      return typeof value === type;
  }
}

/** What identifies an item of a list of type `map` or `set`, as text. Undefined: it has none. */
export function identityOf(item: unknown, node: ListNode): string | undefined {
  if (node.listType === 'set') return plainText(item);
  if (!isJsonObject(item)) return undefined;
  const [first = '', ...others] = node.keys;
  let text = plainText(item[first]);
  for (const key of others) {
    const part = plainText(item[key]);
    text = text === undefined || part === undefined ? undefined : `${text.length},${text}${part}`;
  }
  return text;
}

/** A text for each value without parts, and another one for a number than for a text. */
function plainText(value: unknown): string | undefined {
  if (typeof value === 'string') return `"${value}`;
  if (typeof value === 'object' || value === undefined) return undefined;
  return String(value);
}

/** The items of a list by what identifies them. Undefined: an item has no identity, or that of another one. */
export function identities(
  list: readonly unknown[],
  node: ListNode,
): ReadonlyMap<string, number> | undefined {
  const found = new Map<string, number>();
  for (let index = 0; index < list.length; index++) {
    const identity = identityOf(list[index], node);
    if (identity === undefined || found.has(identity)) return undefined;
    found.set(identity, index);
  }
  return found;
}
