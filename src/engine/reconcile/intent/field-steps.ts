import { deepEqual } from '#util/deep-equal.ts';
import { parseJson } from '#util/exact-json.ts';
import { childAt, type FieldStep, type FieldSteps } from '#util/field-path.ts';
import { type Fields, isFields } from './intent.ts';

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
function itemStep(inner: string): FieldStep | undefined {
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
function isKeyOf(key: string, step: FieldStep): boolean {
  if (typeof step === 'string') return key === `f:${step}`;
  if (typeof step === 'number') return key === `i:${step}`;
  const prefix = 'keys' in step ? 'k:' : 'v:';
  if (!key.startsWith(prefix)) return false;
  const found = parseJson(key.slice(2));
  if ('item' in step) return deepEqual(found, step.item);
  // A path may leave out keys that have a default.
  return (
    isFields(found) &&
    Object.entries(step.keys).every(([name, value]) => deepEqual(found[name], value))
  );
}

/** A FieldsV1 set without the field at these steps and all below it. The same set if it does not contain the field as such. */
export function withoutOwned(fields: Fields, [step, ...rest]: FieldSteps): Fields {
  if (step === undefined) return fields;
  const [key, below] = Object.entries(fields).find(([each]) => isKeyOf(each, step)) ?? [];
  if (key === undefined || !isFields(below)) return fields;
  const { [key]: _, ...others } = fields;
  if (rest.length === 0) return others;
  const left = withoutOwned(below, rest);
  if (left === below) return fields;
  return Object.keys(left).length === 0 ? others : { ...others, [key]: left };
}
