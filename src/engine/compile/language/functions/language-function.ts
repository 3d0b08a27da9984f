import type { Scope } from '../leaf.ts';
import type { Meter } from '../meter.ts';
import type { RegexEngine } from '../regex-engine.ts';

/** Dependencies on other rooms. */
export interface FunctionDependencies {
  /** Parses one YAML document; throws if it is invalid. */
  readonly parseYaml: (text: string) => unknown;
  /** Prints a plain value as YAML. */
  readonly printYaml: (value: unknown) => string;
  /** Whether the object is ready by the rules of its kind. */
  readonly isReady: (object: Readonly<Record<string, unknown>>) => boolean;
}

interface FunctionContext {
  readonly scope: Scope;
  readonly tools: FunctionDependencies;
  readonly regexEngine: RegexEngine;
  /** Charged by each function whose work grows with its arguments. */
  readonly meter: Meter;
}

/**
 * A function in addition to those of JSONata. Returns no result if its first argument is missing, unless
 * `takesMissing` is set. `run` may return a promise.
 */
export interface LanguageFunction extends Helper<FunctionContext> {
  /** By parameter: returns the reason if a literal string is invalid as its argument. Reported at load. */
  readonly literals?: Readonly<Record<string, (text: string) => string | undefined>>;
}

/** A function in addition to those of JSONata and Handlebars. The documentation is generated from the tables. */
export interface Helper<Context> {
  readonly name: string;
  /** Optional ones end with `?`; the last one may end with `...` (variadic). */
  readonly params: readonly string[];
  readonly returns: string;
  readonly doc: string;
  /** An example for the documentation; `gives` is omitted if the result varies. */
  readonly example: { readonly source: string; readonly gives?: unknown };
  /** The function is also called with missing arguments. */
  readonly takesMissing?: true;
  readonly run: (args: readonly unknown[], context: Context) => unknown;
}
