import { deepEqual } from '../../util/deep-equal.ts';
import { parseJson } from '../../util/exact-json.ts';
import type { PathStep } from './difference.ts';
import { type Fields, isFields } from './intent.ts';

/** Steps to a field, as {@link PathStep}s. */
export type FieldSteps = readonly PathStep[];

/**
 * Parses a path from a conflict message of the server, `.spec.containers[name="web"].image`. It follows the object, because names may contain
 * dots. Undefined: the object has no such field.
 */
export function stepsOf(text: string, root: unknown): FieldSteps | undefined {
  if (text === '') return [];
  return text.startsWith('[') ? itemSteps(text, root) : nameSteps(text, root);
}

function nameSteps(text: string, root: unknown): FieldSteps | undefined {
  if (!isFields(root) || !text.startsWith('.')) return undefined;
  // The longest name first: a label "a.b" beside a label "a".
  const names = Object.keys(root).sort((a, b) => b.length - a.length);
  for (const name of names) {
    const rest = text.slice(name.length + 1);
    if (!text.startsWith(name, 1) || !/^(?:$|[.[])/.test(rest)) continue;
    const below = stepsOf(rest, root[name]);
    if (below !== undefined) return [name, ...below];
  }
  return undefined;
}

function itemSteps(text: string, root: unknown): FieldSteps | undefined {
  const [bracket, inner = ''] = /^\[((?:"(?:[^"\\]|\\.)*"|[^\]"])*)\]/.exec(text) ?? [];
  if (bracket === undefined || !Array.isArray(root)) return undefined;
  const step = itemStep(inner);
  const item = step === undefined ? undefined : childAt(root, step);
  if (step === undefined || item === undefined) return undefined;
  const below = stepsOf(text.slice(bracket.length), item);
  return below === undefined ? undefined : [step, ...below];
}

/** `0`, `="value"` or `name="web",port=80`. */
function itemStep(inner: string): PathStep | undefined {
  if (/^\d+$/.test(inner)) return Number(inner);
  try {
    if (inner.startsWith('=')) return { item: parseJson(inner.slice(1)) };
    const pairs = inner.match(/[^=,]+=(?:"(?:[^"\\]|\\.)*"|[^,]*)/g) ?? [];
    const entries = pairs.map((pair): [string, unknown] => {
      const split = pair.indexOf('=');
      return [pair.slice(0, split), parseJson(pair.slice(split + 1))];
    });
    return { keys: Object.fromEntries(entries) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
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
    const items = [...root];
    if (rest.length === 0) items.splice(index, 1);
    else items[index] = withoutField(root[index], rest);
    return items as T;
  }
  if (!isFields(root) || typeof step !== 'string' || !Object.hasOwn(root, step)) return root;
  const { [step]: value, ...others } = root;
  return (rest.length === 0 ? others : { ...root, [step]: withoutField(value, rest) }) as T;
}

/** Returns whether a FieldsV1 set (of `managedFields`) contains the field at these steps. */
export function holdsField(fields: Fields, [step, ...rest]: FieldSteps): boolean {
  if (step === undefined) return true;
  const isLeaf = Object.keys(fields).every((key) => key === '.');
  // A value that is owned as a whole has no fields below it.
  if (isLeaf) return true;
  const below = Object.entries(fields).find(([key]) => isKeyOf(key, step))?.[1];
  return isFields(below) && holdsField(below, rest);
}

/** Returns whether this is the FieldsV1 key of a step: `f:name`, `k:{"name":"web"}`, `v:"item"` or `i:0`. */
function isKeyOf(key: string, step: PathStep): boolean {
  if (typeof step === 'string') return key === `f:${step}`;
  if (typeof step === 'number') return key === `i:${step}`;
  const prefix = 'keys' in step ? 'k:' : 'v:';
  if (!key.startsWith(prefix)) return false;
  return deepEqual(parseJson(key.slice(2)), 'keys' in step ? step.keys : step.item);
}

function childAt(value: unknown, step: PathStep): unknown {
  if (Array.isArray(value)) return value[indexOf(value, step)];
  return isFields(value) && typeof step === 'string' ? value[step] : undefined;
}

function indexOf(items: readonly unknown[], step: PathStep): number {
  if (typeof step === 'number') return step;
  if (typeof step === 'string') return -1;
  if ('item' in step) return items.findIndex((item) => deepEqual(item, step.item));
  const keys = Object.entries(step.keys);
  // A key that the item lacks has its default, which is part of the server's path.
  const isMeant = (item: unknown) =>
    isFields(item) &&
    keys.every(([key, value]) => item[key] === undefined || deepEqual(item[key], value));
  return items.findIndex(isMeant);
}
