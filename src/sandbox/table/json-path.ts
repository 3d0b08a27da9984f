import { isJsonObject, type Json } from '#util/json.ts';
import { fieldOf, isJsonList } from '../json-fields.ts';

/** Returns all values at a path, in order; empty when there are none. */
export type JsonPath = (root: Json) => readonly Json[];

type Step = (value: Json) => readonly Json[];

/** Parses a path as in CRDs: `.spec.a`, `.status.list[0]`, `['a.b']`, `[*]`, `[?(@.type=="Ready")].status`. */
export function parseJsonPath(text: string): JsonPath {
  const steps: Step[] = [];
  const pattern =
    /\.\.|\.?((?:\\.|[^.[\]\\])+)|\[\s*(?:'((?:\\.|[^'])*)'|"((?:\\.|[^"])*)"|(-?\d*(?::-?\d*){0,2}|\*)|\?\((.*?)\))\s*\]/g;
  for (const [, field, single, double, index, filter] of text.matchAll(pattern)) {
    const name = field ?? single ?? double;
    if (name === '*') steps.push(allOf);
    else if (name !== undefined) steps.push(fieldStep(name.replaceAll(/\\(.)/g, '$1')));
    else if (index !== undefined) steps.push(index === '*' ? allOf : indexStep(index));
    else if (filter !== undefined) steps.push(filterStep(filter));
  }
  return (root) => steps.reduce<readonly Json[]>((found, step) => found.flatMap(step), [root]);
}

function allOf(value: Json): readonly Json[] {
  if (isJsonList(value)) return value;
  return isJsonObject(value) ? Object.values(value).map((field) => field ?? null) : [];
}

function fieldStep(name: string): Step {
  return (value) => {
    const field = isJsonObject(value) ? fieldOf(value, name) : undefined;
    return field === undefined ? [] : [field];
  };
}

function indexStep(index: string): Step {
  const [from = '', to] = index.split(':');
  return (value) => {
    if (!isJsonList(value)) return [];
    if (to !== undefined) return value.slice(Number(from || 0), to === '' ? undefined : Number(to));
    const item = value.at(Number(from));
    return item === undefined ? [] : [item];
  };
}

const comparisons: Readonly<Record<string, (a: Json, b: Json) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a !== null && b !== null && a < b,
  '<=': (a, b) => a !== null && b !== null && a <= b,
  '>': (a, b) => a !== null && b !== null && a > b,
  '>=': (a, b) => a !== null && b !== null && a >= b,
};

/** Filters the items of a list by a condition: `@.type=="Ready"`, `@.name`. */
function filterStep(filter: string): Step {
  const [, left = '', operator, right = ''] =
    /^\s*(.+?)\s*(?:(==|!=|<=|>=|<|>)\s*(.+?)\s*)?$/s.exec(filter) ?? [];
  const compare = operator === undefined ? undefined : comparisons[operator];
  const [a, b] = [operand(left), operand(right)];
  return (value) => {
    if (!isJsonList(value)) return [];
    return value.filter((item) => {
      const found = a(item);
      if (compare === undefined) return found.length > 0;
      const [first, second] = [found[0], b(item)[0]];
      return first !== undefined && second !== undefined && compare(first, second);
    });
  };
}

function operand(text: string): JsonPath {
  if (text.startsWith('@')) return parseJsonPath(text.slice(1));
  const quoted = /^(['"])(.*)\1$/s.exec(text)?.[2];
  if (quoted !== undefined) return () => [quoted];
  if (text === 'true' || text === 'false') return () => [text === 'true'];
  return () => (text === '' || Number.isNaN(Number(text)) ? [] : [Number(text)]);
}
