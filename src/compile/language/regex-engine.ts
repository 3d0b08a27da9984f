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
}

/** Instructions of a regular expression that one step executes for a character. */
const instructionsPerStep = 50;

/** Creates an engine with a cache of compiled expressions, which is tied to the lifetime of their syntax trees. */
export function createRegexEngine(): RegexEngine {
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
    readonly #meter: Meter;
    constructor(literal: RegExp, meter: Meter) {
      this.#regex = compile(literal);
      this.#meter = meter;
    }
    exec(text: string): RegExpExecArray | null {
      if (text.length > limits.regexSubjectLength) {
        throw new ExpressionError(
          'limit-exceeded',
          `Expected a string of at most ${limits.regexSubjectLength} characters for a regular expression`,
        );
      }
      const from = this.lastIndex;
      const stepsPerCharacter = 1 + this.#regex.programSize() / instructionsPerStep;
      // The length of a search is not known in advance, and it cannot be interrupted.
      this.#meter.ensureAvailable(Math.max(0, text.length - from) * stepsPerCharacter);
      const matcher = this.#regex.matcher(text);
      const isFound = from <= text.length && matcher.find(from);
      const looked = (isFound ? matcher.end() : text.length) - from;
      this.#meter.spend(Math.ceil(1 + Math.max(0, looked) * stepsPerCharacter));
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
    of: (meter) =>
      function regexOnMeter(literal: RegExp) {
        return new LinearRegex(literal, meter);
      },
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
  // The engine's errors only contain the unsupported construct.
  const found =
    typeof error === 'object' && error !== null && 'input' in error ? String(error.input) : '';
  return /^\(\?[=!<]/.test(found) || /^\\[1-9]/.test(found)
    ? `Expected a regular expression without look-around and backreferences, found "${found}"`
    : `Expected a regular expression in RE2 syntax, found "${found}"`;
}
