import { RE2JS } from 're2js';
import { ExpressionError } from './evaluation-error.ts';
import { limits } from './limits.ts';
import type { Meter } from './meter.ts';

/** The part of RegExp that JSONata uses. */
interface Regex {
  lastIndex: number;
  exec(text: string): (RegExpExecArray & { index: number }) | null;
}

/** Regular expressions with RE2 semantics: linear time, no look-around, no backreferences. */
export interface RegexEngine {
  /** The class for JSONata's `RegexEngine` option, which creates an instance at each use. Charges this meter. */
  of(meter: Meter): unknown;
  /** Compiles a literal and caches it. Returns the reason if it is invalid. */
  check(literal: RegExp): string | undefined;
  /**
   * Whether a part of the text matches a pattern of at most {@link limits.patternLength} characters; undefined if the
   * pattern is invalid. Charges the meter for both.
   */
  test(pattern: string, text: string, meter: Meter): boolean | undefined;
}

const tooLarge = 'The regular expression is too large';
/** So many patterns of values are cached. */
const maxPatterns = 500;

/** Instructions of a regular expression that one step executes for a character. */
const instructionsPerStep = 50;

/** Creates an engine with a cache of compiled expressions, which is tied to the lifetime of their syntax trees. */
export function createRegexEngine(): RegexEngine {
  const compiled = new WeakMap<RegExp, RE2JS>();
  const patterns = new Map<string, RE2JS | string>();
  function compileCached(pattern: string): RE2JS | string {
    const known = patterns.get(pattern);
    if (known !== undefined) return known;
    const regex = compilePattern(pattern);
    if (patterns.size >= maxPatterns) patterns.clear();
    patterns.set(pattern, regex);
    return regex;
  }
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
    readonly #meter: Meter;
    constructor(literal: RegExp, meter: Meter) {
      this.#regex = compile(literal);
      this.#meter = meter;
    }
    exec(text: string): RegExpExecArray | null {
      const matcher = search(this.#regex, text, { from: this.lastIndex, meter: this.#meter });
      if (matcher === undefined) {
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
    of: (meter) =>
      function regexOnMeter(literal: RegExp) {
        return new LinearRegex(literal, meter);
      },
    check(literal) {
      try {
        const regex = compile(literal);
        return regex.programSize() > limits.regexProgramSize ? tooLarge : undefined;
      } catch (error) {
        return reasonOf(error);
      }
    },
    test(pattern, text, meter) {
      // Charged whether it is cached or not: the cache must not decide whether an evaluation exceeds its limit.
      meter.spend(compilationSteps(pattern));
      const regex = compileCached(pattern);
      if (typeof regex === 'string') return undefined;
      return search(regex, text, { from: 0, meter }) !== undefined;
    },
  };
}

/** Why a pattern, which is a string, is invalid; undefined if it is valid. */
export function patternReason(pattern: string): string | undefined {
  const regex = compilePattern(pattern);
  return typeof regex === 'string' ? regex : undefined;
}

/** Returns the reason if the pattern is invalid. */
function compilePattern(pattern: string): RE2JS | string {
  try {
    const regex = RE2JS.compile(pattern);
    return regex.programSize() > limits.regexProgramSize ? tooLarge : regex;
  } catch (error) {
    return reasonOf(error);
  }
}

/** Finds the first match; undefined if there is none. @throws ExpressionError */
function search(
  regex: RE2JS,
  text: string,
  { from, meter }: { readonly from: number; readonly meter: Meter },
): ReturnType<RE2JS['matcher']> | undefined {
  if (text.length > limits.regexSubjectLength) {
    throw new ExpressionError(
      'limit-exceeded',
      `Expected a string of at most ${limits.regexSubjectLength} characters for a regular expression`,
    );
  }
  const stepsPerCharacter = 1 + regex.programSize() / instructionsPerStep;
  // The length of a search is not known in advance, and it cannot be interrupted.
  meter.ensureAvailable(Math.max(0, text.length - from) * stepsPerCharacter);
  const matcher = regex.matcher(text);
  const isFound = from <= text.length && matcher.find(from);
  const looked = (isFound ? matcher.end() : text.length) - from;
  meter.spend(Math.ceil(1 + Math.max(0, looked) * stepsPerCharacter));
  return isFound ? matcher : undefined;
}

/**
 * Upper bound of the steps to compile a pattern. Classes of Unicode have thousands of ranges, and a range of characters
 * without regard to case is compared with each letter of Unicode.
 */
function compilationSteps(pattern: string): number {
  const classes = countOf(pattern, /\\p/gi);
  const isFolding = /\(\?[a-z]*i/i.test(pattern);
  const isWide = /[^\p{ASCII}]|\\[x0-7]/u.test(pattern);
  const foldedRanges = isFolding && isWide ? countOf(pattern, /-/g) : 0;
  return 100 + 8 * pattern.length + 2_000 * classes + 50_000 * foldedRanges;
}

function countOf(text: string, what: RegExp): number {
  return text.match(what)?.length ?? 0;
}

function compileLinear(literal: RegExp): RE2JS {
  let flags = 0;
  if (literal.ignoreCase) flags |= RE2JS.CASE_INSENSITIVE;
  if (literal.multiline) flags |= RE2JS.MULTILINE;
  return RE2JS.compile(RE2JS.translateRegExp(literal.source), flags);
}

function reasonOf(error: unknown): string {
  // The engine's errors only contain the unsupported construct.
  const found =
    typeof error === 'object' && error !== null && 'input' in error ? String(error.input) : '';
  return /^\(\?[=!<]/.test(found) || /^\\[1-9]/.test(found)
    ? `Expected a regular expression without look-around and backreferences, found "${found}"`
    : `Expected a regular expression in RE2 syntax, found "${found}"`;
}
