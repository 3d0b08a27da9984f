import { parseYaml, printYaml } from '#definition';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { readinessOf } from '#util/readiness/readiness-of.ts';
import {
  createLeafParser,
  type Expression,
  type LeafParser,
  type LeafProblem,
  type Scope,
} from './language/index.ts';

/** A text with expressions outside a definition, for example in a test. */
export interface PlainExpression {
  /** The paths that it reads, below the root. */
  readonly paths: readonly (readonly string[])[];
  /**
   * Evaluates it over a root. Undefined: no result.
   * @throws ExpressionError
   */
  evaluate(root: Readonly<Record<string, unknown>>): Promise<unknown>;
}

/** Parses texts with expressions. Equal texts are compiled once. */
export interface PlainExpressionParser {
  /**
   * Undefined: the text has no expression.
   * @throws PlainExpressionError when it is not valid
   */
  parse(text: string): PlainExpression | undefined;
}

/** A text whose expression is not valid. */
export class PlainExpressionError extends Error {
  /** Undefined: the text is valid, but is no expression. */
  readonly problem: LeafProblem | undefined;

  constructor(message: string, problem?: LeafProblem) {
    super(message);
    this.problem = problem;
  }
}

/** The parser of leaves of definitions and of other texts with expressions. */
export function createDefaultLeafParser(): LeafParser {
  return createLeafParser({ parseYaml, printYaml, isReady });
}

/** Creates a parser of expressions that know neither a resource nor children: only the root that they are given. */
export function createPlainExpressionParser(): PlainExpressionParser {
  const parser = createDefaultLeafParser();
  return {
    parse(text) {
      if (!text.includes('${')) return undefined;
      const { leaf, problems } = parser.parse(text);
      const [problem] = problems;
      if (leaf === undefined) throw new PlainExpressionError(problem?.message ?? text, problem);
      if (leaf.kind === 'literal') return { paths: [], evaluate: async () => leaf.text };
      const parts = leaf.kind === 'text' ? leaf.parts : [leaf.expression];
      const expressions = parts.filter((part) => typeof part !== 'string');
      return {
        paths: expressions.flatMap(({ references }) => references.map(({ path }) => path)),
        evaluate: (root) => evaluateParts(parts, scopeOf(root)),
      };
    },
  };
}

async function evaluateParts(
  parts: readonly (string | Expression)[],
  scope: Scope,
): Promise<unknown> {
  const values: unknown[] = [];
  for (const part of parts)
    values.push(typeof part === 'string' ? part : await part.evaluate(scope));
  if (values.length === 1) return values[0];
  return values.includes(undefined) ? undefined : values.join('');
}

function scopeOf(root: Readonly<Record<string, unknown>>): Scope {
  return {
    root,
    self: root,
    definition: { name: '', revision: '' },
    cluster: { name: '', labels: {} },
    now: new Date(0).toISOString(),
    randomText: (length) => 'x'.repeat(length),
  };
}

function isReady(object: Readonly<Record<string, unknown>>): boolean {
  if (typeof object.apiVersion !== 'string' || !isJsonObject(object.metadata)) return false;
  return readinessOf(object as KubeObject).state === 'Ready';
}
