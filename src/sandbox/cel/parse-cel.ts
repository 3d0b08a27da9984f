import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js';
import { messageOf } from '#util/homeostat-error.ts';

/** A parsed CEL expression. Offsets (`start`, `end`) count characters of the expression. */
export type CelNode = ASTNode;

type ParsedCel = { readonly node: CelNode } | { readonly problem: string; readonly offset: number };

/** Parses an expression. Names, functions and types are not checked. Does not throw. */
export type CelParser = (text: string) => ParsedCel;

/** A parser for tools that convert expressions, with optional values (`a.?b`, `orValue`). */
export function createCelParser(): CelParser {
  const environment = new Environment({
    unlistedVariablesAreDyn: true,
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
  });
  return (text) => {
    try {
      return { node: environment.parse(text).ast };
    } catch (error) {
      const [problem = ''] = messageOf(error).split('\n');
      const offset = error instanceof ParseError ? error.range?.start : undefined;
      return { problem, offset: offset ?? 0 };
    }
  };
}

/** The value of a literal as JSON has it; undefined for bytes, and for nodes that are no literals. */
export function literalOf(node: CelNode): string | number | boolean | null | undefined {
  if (node.op === '-_') {
    const value = literalOf(node.args);
    return typeof value === 'number' ? -value : undefined;
  }
  if (node.op !== 'value') return undefined;
  const { args: value } = node;
  if (typeof value !== 'object' || value === null)
    return typeof value === 'bigint' ? Number(value) : value;
  return value instanceof Uint8Array ? undefined : Number(value.valueOf());
}
