import { RE2JS } from 're2js';
import { ExpressionError } from './expression-error.ts';
import { limits } from './limits.ts';

/** What JSONata uses of a regular expression. */
interface Regex {
  lastIndex: number;
  exec(text: string): (RegExpExecArray & { index: number }) | null;
}

/** Regular expressions with RE2's semantics: time linear in the text, no look-around, no back-references. */
export interface RegexEngine {
  /** For JSONata's `RegexEngine` option: constructed from the literal at each evaluation. */
  readonly constructor_: RegExpConstructor;
  /** Compiles a literal, once; gives the reason when it is not possible. */
  check(literal: RegExp): string | undefined;
}

/**
 * Creates an engine with its own store of compiled expressions, which lives as long as their syntax trees.
 * `spend` is told the time of every search.
 */
export function createRegexEngine(spend: (ms: number) => void): RegexEngine {
  const compiled = new WeakMap<RegExp, RE2JS>();
  function compile(literal: RegExp): RE2JS {
    const known = compiled.get(literal);
    if (known !== undefined) return known;
    const regex = compileLinear(literal);
    compiled.set(literal, regex);
    return regex;
  }
  class LinearRegex implements Regex {
    lastIndex = 0;
    readonly #regex: RE2JS;
    constructor(literal: RegExp) {
      this.#regex = compile(literal);
    }
    exec(text: string): RegExpExecArray | null {
      if (text.length > limits.regexSubjectLength) {
        throw new ExpressionError(
          'limit-exceeded',
          `Expected a text of at most ${limits.regexSubjectLength} characters for a regular expression`,
        );
      }
      const matcher = this.#regex.matcher(text);
      const start = performance.now();
      const isFound = this.lastIndex <= text.length && matcher.find(this.lastIndex);
      spend(performance.now() - start);
      if (!isFound) {
        this.lastIndex = 0;
        return null;
      }
      const groups: (string | undefined)[] = [];
      for (let group = 0; group <= matcher.groupCount(); group++) {
        groups.push(matcher.group(group) ?? undefined);
      }
      this.lastIndex = matcher.end();
      return Object.assign(groups, {
        index: matcher.start(),
        input: text,
      }) as unknown as RegExpExecArray;
    }
  }
  return {
    constructor_: LinearRegex as unknown as RegExpConstructor,
    check(literal) {
      try {
        const regex = compile(literal);
        return regex.programSize() > limits.regexProgramSize
          ? 'The regular expression is too large'
          : undefined;
      } catch (error) {
        return reasonOf(error);
      }
    },
  };
}

function compileLinear(literal: RegExp): RE2JS {
  let flags = 0;
  if (literal.ignoreCase) flags |= RE2JS.CASE_INSENSITIVE;
  if (literal.multiline) flags |= RE2JS.MULTILINE;
  return RE2JS.compile(RE2JS.translateRegExp(literal.source), flags);
}

function reasonOf(error: unknown): string {
  // The engine's exceptions name the construct that it does not know, and nothing else.
  const found =
    typeof error === 'object' && error !== null && 'input' in error ? String(error.input) : '';
  return /^\(\?[=!<]/.test(found) || /^\\[1-9]/.test(found)
    ? `Expected a regular expression without look-around and back-references, found "${found}"`
    : `Expected a regular expression in RE2 syntax, found "${found}"`;
}
