/** For the tests of this folder only: a parser and a scope. */
import {
  createLeafParser,
  type Expression,
  type Leaf,
  type LeafParser,
  type Scope,
} from '#compile/language/index.ts';
import type { Reference } from '#compile/language/leaf.ts';

/** A parser whose YAML is JSON, and for which everything with `ready: true` is ready. */
export function createTestParser(): LeafParser {
  return createLeafParser({
    parseYaml: (text) => JSON.parse(text) as unknown,
    printYaml: (value) => `yaml:${JSON.stringify(value)}`,
    isReady: (object) => object.ready === true,
  });
}

/** A scope over a root. */
export function testScope(root: Record<string, unknown>, more: Partial<Scope> = {}): Scope {
  return {
    root,
    self: root,
    definition: { name: 'shop', revision: 'abc' },
    cluster: { name: 'test', labels: {} },
    now: '2026-01-02T03:04:05Z',
    randomText: (length) => 'r'.repeat(length),
    ...more,
  };
}

/** The leaf of a text that has no errors. */
export function leafOf(text: string, parser: LeafParser = createTestParser()): Leaf {
  const { leaf, problems } = parser.parse(text);
  if (leaf === undefined) throw new Error(problems.map(({ message }) => message).join('; '));
  return leaf;
}

/** The expressions of a leaf, in order. */
export function expressionsOf(leaf: Leaf): readonly Expression[] {
  if (leaf.kind === 'literal') return [];
  if (leaf.kind === 'text') return leaf.parts.filter((part) => typeof part !== 'string');
  return [leaf.expression];
}

/** The only expression of a text. */
export function expressionOf(text: string, parser?: LeafParser): Expression {
  const [expression] = expressionsOf(leafOf(text, parser));
  if (expression === undefined) throw new Error(`No expression in "${text}"`);
  return expression;
}

/** Evaluates `source` as a whole-value expression over a root. */
export async function evaluate(
  source: string,
  root: Record<string, unknown> = {},
  more: Partial<Scope> = {},
): Promise<unknown> {
  return expressionOf(`\${ ${source} }`).evaluate(testScope(root, more));
}

/** For the tests of this folder only: what an evaluation reads. */
/** A view of a value that notes the path of every own field that is looked at; `!` stands for "all of it". */
export function recording(value: unknown, path: readonly string[], reads: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const isList = Array.isArray(value);
  const below = (key: string | symbol) =>
    isList || typeof key === 'symbol' ? path : [...path, key];
  const isField = (key: string | symbol) =>
    typeof key === 'string' &&
    !isList &&
    !/^(_jsonata|sequence|outerWrapper|tupleStream|then|next|arity|length)/.test(key);
  return new Proxy(value, {
    get(target, key, receiver) {
      if (isField(key)) reads.add(below(key).join('.'));
      return recording(Reflect.get(target, key, receiver), below(key), reads);
    },
    ownKeys(target) {
      if (!isList) reads.add([...path, '!'].join('.'));
      return Reflect.ownKeys(target);
    },
    getOwnPropertyDescriptor(target, key) {
      if (isField(key)) reads.add(below(key).join('.'));
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
  });
}

const besideResource = ['children', 'observed', 'reads', 'vars'];

/** Does a reference cover what was read? */
export function isCovered(read: string, references: readonly Reference[]): boolean {
  const steps = read.split('.');
  return references.some((reference) => {
    const path = pathOf(reference);
    // The roots beside the resource are not below it.
    if (path.length === 0 && besideResource.includes(steps[0] ?? '')) return false;
    return path.every((step, index) => index >= steps.length || steps[index] === step);
  });
}

function pathOf({ root, path }: Reference): readonly string[] {
  if (root === 'resource') return path;
  return [root === 'item' ? '$item' : root, ...path];
}
