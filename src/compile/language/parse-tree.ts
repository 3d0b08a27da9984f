import jsonata from 'jsonata';
import { invariant } from '../../util/invariant.ts';
import type { LeafProblem } from './leaf.ts';
import { limits } from './limits.ts';
import { restoreRegexes, withoutRegexes } from './regex-literals.ts';
import { sourceProblem } from './source-problems.ts';
import { syntaxProblem } from './syntax-problems.ts';
import type { SyntaxNode } from './syntax-tree.ts';
import { scanExpression, type Token } from './tokens.ts';

export type ParsedTree =
  | {
      readonly parsed: jsonata.Expression;
      readonly tree: SyntaxNode;
      readonly problems?: undefined;
    }
  | {
      readonly parsed?: undefined;
      readonly tree?: undefined;
      readonly problems: readonly LeafProblem[];
    };

/**
 * The syntax tree of an expression that parses, for analyses outside: JSONata's, before it is rewritten.
 * @throws Error for a source that does not parse.
 */
export function syntaxTreeOf(source: string): SyntaxNode {
  const scan = scanExpression(`${source}}`, 0);
  const { tree } = parseTree(source, scan.kind === 'closed' ? scan.tokens : []);
  invariant(tree !== undefined, `Expression "${source}" was parsed before`);
  return tree;
}

/** Parses a source with its tokens; offsets count in the source. Every call gives a tree of its own. */
export function parseTree(source: string, tokens: readonly Token[]): ParsedTree {
  const early = sourceProblem(source, tokens);
  if (early !== undefined) return { problems: [early] };
  try {
    const parsed = jsonata(withoutRegexes(source, tokens), { sequence: limits.sequence });
    const tree = parsed.ast() as SyntaxNode;
    const problems = restoreRegexes(tree, tokens);
    return problems.length > 0 ? { problems } : { parsed, tree };
  } catch (error) {
    return { problems: [syntaxProblem(error, tokens, 0)] };
  }
}
