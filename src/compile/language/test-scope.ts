/** For the tests of this folder only: a parser and a scope. */
import {
  createLeafParser,
  type Expression,
  type Leaf,
  type LeafParser,
  type LeafParserOptions,
  type Scope,
} from './index.ts';

/** A parser whose YAML is JSON, and for which everything with `ready: true` is ready. */
export function createTestParser(more: Pick<LeafParserOptions, 'workedMs'> = {}): LeafParser {
  return createLeafParser({
    ...more,
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
    cluster: 'test',
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
