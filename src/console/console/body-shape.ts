import { isJsonObject } from '#util/json.ts';

/** What a value must be. Returns what is wrong, with the path of the field; undefined: nothing. Pure. */
export type Shape = (value: unknown, path: string) => string | undefined;

/** @param pattern that the whole text matches. @default any text */
export function text(pattern?: RegExp): Shape {
  return (value, path) => {
    if (typeof value !== 'string') return expected('a text', value, path);
    return pattern === undefined || pattern.test(value) ? undefined : `Invalid text${at(path)}`;
  };
}

export const flag: Shape = (value, path) =>
  typeof value === 'boolean' ? undefined : expected('true or false', value, path);

/** A number that is not negative. */
export const count: Shape = (value, path) =>
  typeof value === 'number' && value >= 0 ? undefined : expected('a number', value, path);

export const anything: Shape = () => undefined;

/** A map from names to texts. */
export const texts: Shape = (value, path) => {
  if (!isJsonObject(value)) return expected('a map', value, path);
  return firstOf(Object.entries(value), ([name, each]) => text()(each, below(path, name)));
};

/** A map from names to numbers. */
export const numbers: Shape = (value, path) => {
  if (!isJsonObject(value)) return expected('a map', value, path);
  return firstOf(Object.entries(value), ([name, each]) => count(each, below(path, name)));
};

/** @param max how many items there may be. @default any number */
export function listOf(shape: Shape, max = Number.POSITIVE_INFINITY): Shape {
  return (value, path) => {
    if (!Array.isArray(value)) return expected('a list', value, path);
    if (value.length > max) return `Expected at most ${max} items${at(path)}`;
    return firstOf([...value.entries()], ([index, item]) => shape(item, below(path, `${index}`)));
  };
}

export function oneOf(...words: readonly string[]): Shape {
  return (value, path) =>
    words.some((word) => word === value)
      ? undefined
      : `Expected one of "${words.join('", "')}"${at(path)}`;
}

export function optional(shape: Shape): Shape {
  return (value, path) => (value === undefined ? undefined : shape(value, path));
}

/** A map with these fields; others are ignored. */
export function record(fields: Readonly<Record<string, Shape>>): Shape {
  return (value, path) => {
    if (!isJsonObject(value)) return expected('a map', value, path);
    return firstOf(Object.entries(fields), ([name, shape]) =>
      shape(Object.hasOwn(value, name) ? value[name] : undefined, below(path, name)),
    );
  };
}

/** One of several maps, by the value of a field. */
export function choice(field: string, shapes: Readonly<Record<string, Shape>>): Shape {
  return (value, path) => {
    if (!isJsonObject(value)) return expected('a map', value, path);
    const wrong = oneOf(...Object.keys(shapes))(value[field], below(path, field));
    return wrong ?? shapes[String(value[field])]?.(value, path);
  };
}

function firstOf<Item>(
  items: readonly Item[],
  check: (item: Item) => string | undefined,
): string | undefined {
  for (const item of items) {
    const wrong = check(item);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function expected(what: string, found: unknown, path: string): string {
  if (found === undefined && path !== '') return `Missing field${at(path)}`;
  return `Expected ${what}${at(path)}, found ${typeOf(found)}`;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}

/** Names of fields come from the request: a long one is not repeated. */
const maxNameLength = 100;

function below(path: string, name: string): string {
  const short = name.length > maxNameLength ? `${name.slice(0, maxNameLength)}...` : name;
  return path === '' ? short : `${path}.${short}`;
}

function at(path: string): string {
  return path === '' ? '' : ` "${path}"`;
}
