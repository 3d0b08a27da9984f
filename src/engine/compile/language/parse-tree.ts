import jsonata from 'jsonata';
import { RE2Set } from 're2js';
import { messageOf } from '#util/homeostat-error.ts';
import type { LeafProblem } from './leaf.ts';
import { limits } from './limits.ts';
import { syntaxProblem } from './syntax-problems.ts';
import { type SyntaxNode, walk } from './syntax-tree.ts';
import type { Token } from './tokens.ts';

type ParsedTree =
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

/** Parses a source with its tokens. Offsets are relative to the source. Every call returns a new tree. */
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

/** Checks limits before JSONata's parser runs, which is recursive and takes exponential time for some nested operators. */
function sourceProblem(source: string, tokens: readonly Token[]): LeafProblem | undefined {
  if (source.length > limits.sourceLength) {
    return tooComplex(`Expected an expression of at most ${limits.sourceLength} characters`, 0);
  }
  const levels: Level[] = [{ closedDepth: 0, maxDepth: 0 }];
  for (const { text, start } of tokens) {
    const level = levels.at(-1);
    if (level === undefined) return undefined;
    if ('([{'.includes(text)) {
      levels.push({ closedDepth: 0, maxDepth: 0 });
      if (levels.length > limits.sourceDepth) {
        return tooComplex(`Expected at most ${limits.sourceDepth} nested brackets`, start);
      }
    } else if (')]}'.includes(text)) {
      levels.pop();
      const outer = levels.at(-1);
      if (outer !== undefined)
        outer.closedDepth = Math.max(outer.closedDepth, level.closedDepth, level.maxDepth);
    } else if (text === '??' || text === '?:') {
      if (level.closedDepth >= limits.nestedDefaults) {
        return tooComplex(
          `Expected "${text}" at most ${limits.nestedDefaults} levels deep in its left operand`,
          start,
        );
      }
      level.maxDepth = Math.max(level.maxDepth, level.closedDepth + 1);
      level.closedDepth = 0;
    } else if (',;:'.includes(text)) {
      level.maxDepth = Math.max(level.maxDepth, level.closedDepth);
      level.closedDepth = 0;
    }
  }
  return undefined;
}

/** An open pair of brackets. The left operand of `??` and `?:` is parsed twice, so the work doubles with each level. */
interface Level {
  /** Nesting of `??` and `?:` in the brackets closed since the last operator or separator. */
  closedDepth: number;
  /** Nesting of `??` and `?:` in this level. */
  maxDepth: number;
}

function tooComplex(message: string, offset: number): LeafProblem {
  return {
    severity: 'error',
    code: 'forbidden-expression',
    message,
    hint: 'Split it into several "vars"',
    offset,
  };
}

/**
 * Replaces regular expressions by simple ones of the same length. JSONata's tokenizer fails on brackets in character
 * classes (`/[}]/`), and its parser drops regular expressions to the left of `??`.
 */
function withoutRegexes(source: string, tokens: readonly Token[]): string {
  let result = '';
  let position = 0;
  for (const { kind, text, start, end } of tokens) {
    if (kind !== 'regex') continue;
    const flags = text.length - text.lastIndexOf('/') - 1;
    const pattern = 'a'.repeat(text.length - flags - 2);
    result += `${source.slice(position, start)}/${pattern}/${text.slice(text.length - flags)}`;
    position = end;
  }
  return result + source.slice(position);
}

/** Restores the original regular expressions in the parsed tree. */
function restoreRegexes(tree: SyntaxNode, tokens: readonly Token[]): readonly LeafProblem[] {
  const problems: LeafProblem[] = [];
  const literals = new Map<number, RegExp>();
  for (const token of tokens) {
    if (token.kind !== 'regex') continue;
    const literal = parseRegex(token.text);
    if (literal !== undefined) {
      literals.set(token.end, literal);
    } else {
      problems.push({
        severity: 'error',
        code: 'expression-syntax',
        message: `Expected a regular expression, found "${token.text}"`,
        offset: token.start,
      });
    }
  }
  for (const node of walk(tree)) {
    if (node.type === 'regex') node.value = literals.get(node.position ?? 0);
  }
  return problems;
}

function parseRegex(text: string): RegExp | undefined {
  const slash = text.lastIndexOf('/');
  try {
    return new RegExp(text.slice(1, slash), `${text.slice(slash + 1)}g`);
  } catch {
    // The platform's message is dropped; ours names the literal.
    return undefined;
  }
}

/**
 * The error of an invalid RE2 pattern in the format of Go: `error parsing regexp: missing closing ): ...`; undefined
 * if it is valid.
 */
export function patternProblem(pattern: string): string | undefined {
  try {
    // Parses the pattern like `RE2JS.compile`, which also makes a program of it: all errors are those of the parser.
    new RE2Set().add(pattern);
    return undefined;
  } catch (error) {
    // Every error of the engine is about the pattern.
    const said = messageOf(error);
    const text = said.endsWith('`') ? said : `${said}: \`\``;
    return text.startsWith('error parsing regexp: ') ? text : `error parsing regexp: ${text}`;
  }
}
