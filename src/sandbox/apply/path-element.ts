import { parseJson } from '#util/exact-json.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { setField } from '#util/set-field.ts';
import { fieldOf, isJsonList, type MutableJsonObject } from '../json-fields.ts';
import { ApplyError } from './apply-error.ts';
import type { ListShape } from './field-type.ts';

/**
 * One element of a path, in the form that `fieldsV1` uses for its keys: `f:<field>`, `k:<keys of a list item as JSON>`,
 * `v:<item of a set as JSON>`, `i:<index>`.
 */
export type PathElement = string;

export type Path = readonly PathElement[];

/** The element for a field. */
export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

/** The element for an item of a list map, with sorted keys. */
function keyElement(keys: JsonObject): PathElement {
  const sorted: MutableJsonObject = {};
  for (const name of Object.keys(keys).sort()) setField(sorted, name, keys[name] ?? null);
  return `k:${JSON.stringify(sorted)}`;
}

/** The element for an item of a set. */
function valueElement(value: Json): PathElement {
  return `v:${JSON.stringify(value)}`;
}

/**
 * The element for an item of a list that is not atomic.
 * @throws ApplyError `invalid-item` when the item has no valid key.
 */
export function itemElement(list: ListShape, item: Json): PathElement {
  return list.keys.length > 0 ? keyedElement(list, item) : setElement(item);
}

function keyedElement(list: ListShape, item: Json): PathElement {
  if (item === null)
    throw new ApplyError('invalid-item', 'associative list with keys may not have a null element');
  if (!isJsonObject(item))
    throw new ApplyError(
      'invalid-item',
      'associative list with keys may not have non-map elements',
    );
  const keys: MutableJsonObject = {};
  for (const name of list.keys) {
    const byDefault = list.item.map?.fields.get(name)?.byDefault ?? undefined;
    const value = fieldOf(item, name);
    const key = value === undefined ? byDefault : value;
    if (key !== undefined) setField(keys, name, key);
  }
  if (Object.keys(keys).length > 0) return keyElement(keys);
  const names = list.keys.map((name) => JSON.stringify(name)).join(' ');
  throw new ApplyError(
    'invalid-item',
    `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
  );
}

function setElement(item: Json): PathElement {
  if (isJsonList(item))
    throw new ApplyError('invalid-item', 'not supported: associative list with lists as elements');
  if (item === null)
    throw new ApplyError(
      'invalid-item',
      "associative list without keys has an element that's an explicit null",
    );
  if (typeof item === 'object')
    throw new ApplyError(
      'invalid-item',
      "associative list without keys has an element that's a map type",
    );
  return valueElement(item);
}

/** Parses a key of `fieldsV1`; undefined when it is not a path element. @throws SyntaxError for invalid JSON in it. */
export function parsePathElement(text: string): PathElement | undefined {
  const rest = text.slice(2);
  switch (text.slice(0, 2)) {
    case 'f:':
    case 'i:':
      return text;
    case 'k:':
      return keyElement(JSON.parse(rest));
    case 'v:':
      return valueElement(parseJson(rest));
    default:
      return undefined;
  }
}

/** The element as the server writes it in messages: `.spec`, `[name="a"]`, `[="x"]`. */
export function describeElement(element: PathElement): string {
  const rest = element.slice(2);
  switch (element.charAt(0)) {
    case 'f':
      return `.${rest}`;
    case 'k': {
      const keys = Object.entries(JSON.parse(rest));
      return `[${keys.map(([name, value]) => `${name}=${isJsonObject(value) ? '' : JSON.stringify(value)}`).join(',')}]`;
    }
    case 'v':
      return `[=${rest}]`;
    default:
      return `[${rest}]`;
  }
}

export function describePath(path: Path): string {
  return path.map(describeElement).join('');
}

/** The server's order: fields, keys, values, indices. */
export function compareElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  const kind = a.charAt(0);
  const byKind = 'fkvi'.indexOf(kind) - 'fkvi'.indexOf(b.charAt(0));
  if (byKind !== 0) return byKind;
  switch (kind) {
    case 'f':
      return compareText(a, b);
    case 'k':
      return compareKeys(
        Object.entries<Json>(JSON.parse(a.slice(2))),
        Object.entries<Json>(JSON.parse(b.slice(2))),
      );
    case 'v':
      return compareScalars(parseJson(a.slice(2)), parseJson(b.slice(2)));
    default:
      return Number(a.slice(2)) - Number(b.slice(2));
  }
}

type Entries = readonly (readonly [string, Json])[];

function compareKeys(a: Entries, b: Entries): number {
  for (const [index, [name, value]] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    const order = compareText(name, other[0]) || compareScalars(value, other[1]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareScalars(a: Json, b: Json): number {
  const byType = typeRank(a) - typeRank(b);
  if (byType !== 0) return byType;
  if (typeof a === 'bigint' || typeof b === 'bigint')
    return Number(BigInt(a as bigint) - BigInt(b as bigint));
  if (typeof a === 'number' || typeof a === 'boolean') return Number(a) - Number(b);
  return compareText(String(a), String(b));
}

function typeRank(value: Json): number {
  const type = typeof value;
  return ['number', 'string', 'boolean', 'object'].indexOf(type === 'bigint' ? 'number' : type);
}

/** Compares by UTF-16 unit. Differs from the server's order by bytes only for characters beyond the basic plane. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
