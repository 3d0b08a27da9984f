import { deepEqual } from './deep-equal.ts';
import { isJsonObject } from './json.ts';

/** One step to a value: a field or map key, an index of an atomic list, the keys of a list-map item, the item of a set. */
export type FieldStep =
  | string
  | number
  | { readonly keys: Readonly<Record<string, unknown>> }
  | { readonly item: unknown };

/** The steps to a field of an object, from its root. */
export type FieldSteps = readonly FieldStep[];

/** `.name`, `["a key"]` or `[name=web,port=80]`. */
const stepPattern =
  /^(?:\.([^.[\]"=,\s]+)|\[("(?:[^"\\]|\\.)*")\]|\[((?:[^"[\]]|"(?:[^"\\]|\\.)*")+)\])/;
const pairPattern = /^([^="',\s]+)=("(?:[^"\\]|\\.)*"|[^",\s]+)(?:,|$)/;

/**
 * Parses a path as messages write it: `spec.replicas`, `metadata.annotations["example.com/a"]`, `spec.containers[name=web].image`. An item
 * of a list is named by its keys; a key is a number or boolean if it looks like one, and a text in double quotes. Undefined: it is no path.
 */
export function parseFieldPath(text: string): FieldSteps | undefined {
  const steps: FieldStep[] = [];
  let rest = `.${text}`;
  while (rest !== '') {
    const [found, name, quoted, pairs] = stepPattern.exec(rest) ?? [];
    if (found === undefined) return undefined;
    const step = name ?? (quoted === undefined ? keysOf(pairs ?? '') : textOf(quoted));
    if (step === undefined) return undefined;
    steps.push(step);
    rest = rest.slice(found.length);
  }
  return steps;
}

function keysOf(text: string): FieldStep | undefined {
  const keys: [string, unknown][] = [];
  for (let rest = text; rest !== ''; ) {
    const [found, key = '', value = ''] = pairPattern.exec(rest) ?? [];
    if (found === undefined) return undefined;
    keys.push([key, keyValueOf(value)]);
    rest = rest.slice(found.length);
  }
  return keys.length === 0 ? undefined : { keys: Object.fromEntries(keys) };
}

function keyValueOf(text: string): unknown {
  if (text.startsWith('"')) return textOf(text);
  return /^(?:true|false|-?(?:0|[1-9]\d*))$/.test(text) ? JSON.parse(text) : text;
}

function textOf(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The path as text: `spec.containers[name="web"].image`. Keys that are not identifiers are quoted. */
export function fieldName(path: FieldSteps): string {
  return path.map(stepName).join('').replace(/^\./, '');
}

function stepName(step: FieldStep): string {
  if (typeof step === 'number') return `[${step}]`;
  if (typeof step === 'string')
    return /^[A-Za-z_][\w-]*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
  if ('item' in step) return `[${JSON.stringify(step.item)}]`;
  const keys = Object.entries(step.keys).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return `[${keys.join(',')}]`;
}

/** The value at these steps. Undefined: none. */
export function valueAtSteps(root: unknown, steps: FieldSteps): unknown {
  let value = root;
  for (const step of steps) value = childAt(value, step);
  return value;
}

/** A copy without the field at these steps; other parts are shared. The same object if it has no such field. */
export function withoutField<T>(root: T, [step, ...rest]: FieldSteps): T {
  if (step === undefined) return root;
  const index = Array.isArray(root) ? indexOf(root, step) : -1;
  if (Array.isArray(root)) {
    if (index < 0) return root;
    if (rest.length === 0) return root.toSpliced(index, 1) as T;
    const item = withoutField(root[index], rest);
    return (item === root[index] ? root : root.with(index, item)) as T;
  }
  if (!isJsonObject(root) || typeof step !== 'string' || !Object.hasOwn(root, step)) return root;
  const { [step]: value, ...others } = root;
  if (rest.length === 0) return others as T;
  const inner = withoutField(value, rest);
  return inner === value ? root : ({ ...root, [step]: inner } as T);
}

/** A copy with this value at these steps; other parts are shared. Maps are created where they are missing, items of lists are not. */
export function withFieldAt<T>(root: T, [step, ...rest]: FieldSteps, value: unknown): T {
  if (step === undefined) return value as T;
  if (Array.isArray(root)) {
    const index = indexOf(root, step);
    const items = [...root];
    if (index < 0) return root;
    items[index] = withFieldAt(root[index], rest, value);
    return items as T;
  }
  if (typeof step !== 'string' || (root !== undefined && !isJsonObject(root))) return root;
  const fields: Readonly<Record<string, unknown>> = root ?? {};
  const inner = withFieldAt(fields[step], rest, value);
  return (inner === fields[step] ? root : { ...fields, [step]: inner }) as T;
}

export function childAt(value: unknown, step: FieldStep): unknown {
  if (Array.isArray(value)) return value[indexOf(value, step)];
  return isJsonObject(value) && typeof step === 'string' ? value[step] : undefined;
}

function indexOf(items: readonly unknown[], step: FieldStep): number {
  if (typeof step === 'number') return step;
  if (typeof step === 'string') return -1;
  if ('item' in step) return items.findIndex((item) => deepEqual(item, step.item));
  const keys = Object.entries(step.keys);
  // A key that the item lacks has its default, which is part of the server's path.
  const isMeant = (item: unknown) =>
    isJsonObject(item) &&
    keys.every(([key, value]) => item[key] === undefined || deepEqual(item[key], value));
  return items.findIndex(isMeant);
}
