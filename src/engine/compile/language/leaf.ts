/**
 * The expression language of string leaves: docs/definition/expressions.md. Contract between compile/language, which hides
 * JSONata and Handlebars, and the rest of compile.
 */

import type { DiagnosticCode } from '#definition';
import type { Comparison } from './comparisons.ts';
import type { Operand } from './operands.ts';
import type { TimeFlips } from './present/time-flips.ts';
import type { ResultType } from './result-types.ts';
import type { SyntaxNode } from './syntax-tree.ts';
import type { Token } from './tokens.ts';
import type { WorkBudget } from './work-budget.ts';

/** A parsed string leaf. */
export type Leaf =
  /** No expression; escapes (`$${`, `\{{`) are resolved. */
  | { readonly kind: 'literal'; readonly text: string }
  /** A single `${ }`, `${? }` (omits the field if there is no result) or `${... }` (spreads its result into the list). */
  | {
      readonly kind: 'value';
      readonly mode: 'value' | 'optional' | 'spread';
      readonly expression: Expression;
    }
  /** A string with expressions, each of which must return a string, number or boolean. */
  | { readonly kind: 'text'; readonly parts: readonly (string | Expression)[] }
  /** `{{ }}`: always a string. */
  | { readonly kind: 'handlebars'; readonly expression: Expression };

/**
 * A compiled expression or Handlebars template. Immutable, interned by source within one compilation, safe for
 * concurrent use.
 */
export interface Expression {
  /** As written, without the delimiters. */
  readonly source: string;
  /** Offset of `source` in the string leaf; 0 for Handlebars. */
  readonly offset: number;
  /** All references found in its syntax tree. */
  readonly references: readonly Reference[];
  /** A path of names without predicates, usually evaluated synchronously without JSONata. */
  readonly isPlainPath: boolean;
  /** What it may result in, as far as its form shows. Empty for Handlebars. */
  readonly results: readonly ResultType[];
  /** Its comparisons of a path with a literal. Empty for Handlebars. */
  readonly comparisons: readonly Comparison[];
  /** The operands that must have one type. Empty for Handlebars. */
  readonly operands: readonly Operand[];
  /** Offset of a call inside `$map` that makes each element of the result a list. @default undefined: none is known */
  readonly nestedList?: number;
  /** Of Handlebars: the paths inside `each`. */
  readonly elementPaths: readonly ElementPath[];
  /**
   * Evaluates the expression. Undefined: no result (also for `null`). The result is plain JSON and never references
   * the input; `__proto__` keys are rejected, numbers are finite.
   * @throws ExpressionError (also as a rejection) for failures and exceeded limits.
   */
  evaluate(scope: Scope): unknown | Promise<unknown>;
  /**
   * Prepares an evaluation that returns which of the marked syntax nodes it reached, and how often; nodes of a branch
   * only if it was taken. `mark` gets the tree and its tokens. Each call parses the expression again. With `mayFail`, a
   * failed evaluation returns the nodes that it reached. Undefined for Handlebars.
   */
  readonly probe?: <T>(
    mark: (tree: SyntaxNode, tokens: readonly Token[]) => ReadonlyMap<SyntaxNode, T>,
  ) => (scope: Scope, options?: ProbeOptions) => Promise<ReadonlyMap<T, number>>;
}

export interface ProbeOptions {
  /** @default false */
  readonly mayFail?: boolean;
}

export type ReferenceRoot =
  /** A field of the resource: path `['spec', 'size']`; also through `$self`, `$$`. */
  | 'resource'
  /** The first step is the id. */
  | 'children'
  | 'observed'
  | 'reads'
  | 'vars'
  | 'item'
  | 'index'
  | 'child'
  | 'previous'
  | 'definition'
  | 'cluster'
  | 'now'
  | 'random';

export interface Reference {
  readonly root: ReferenceRoot;
  /** Names below the root, without indexes and predicates: `children.db.status.ready` -> `['db', 'status', 'ready']`. */
  readonly path: readonly string[];
  /**
   * False: the value at `path` is used as a whole or in a way that the analysis cannot trace, so anything below it
   * may be read.
   */
  readonly exact: boolean;
  /** Offset of its first character in the string leaf. */
  readonly offset: number;
  /** Offset of each step of `path` in the string leaf. */
  readonly stepOffsets: readonly number[];
  /**
   * Number of steps after which the value may have another origin: in `(spec.a ?? {"b": 1}).b`, `b` need not be a
   * field of `spec.a`.
   */
  readonly mixedFrom?: number;
  /** For `vars`: not read by a path `vars.<name>` but indirectly: `$lookup(vars, "a")`, `[vars].a`. */
  readonly isIndirect?: true;
  /** Only a hash of it, its count, or whether it is there or true is used: the result does not contain the value. */
  readonly isReduced?: true;
  /** For `now` and `random`: evaluated only if a value read from `observed` is missing (`observed.x.y ?? $now()`). */
  readonly isObservedDefault?: true;
  /** For `now`: only compared, in a way that {@link TimeFlips} follows, so that the result stays until a known time. */
  readonly isCompared?: true;
  /** For `now`: the expression contains a comparison, which does not follow it. */
  readonly isNearComparison?: true;
}

/** A path in the elements of a list or a map, which a template visits with `each`. */
export interface ElementPath extends Pick<Reference, 'path' | 'offset' | 'stepOffsets'> {
  /** The list or map. */
  readonly of: Pick<Reference, 'root' | 'path'>;
}

/** The cluster of the resource. */
export interface ClusterScope {
  /** Of the `Cluster` object; `hub` for the cluster of the runtime. */
  readonly name: string;
  /** Of the `Cluster` object; none on the hub. */
  readonly labels: Readonly<Record<string, string>>;
}

/** The input of an expression. Objects are shared with the cache and must not be modified. */
export interface Scope {
  /**
   * The root: the custom resource's `metadata`, `spec`, `status`, ... with `children`, `reads`, `vars` and
   * `observed`, which take precedence over fields of the same name.
   */
  readonly root: Readonly<Record<string, unknown>>;
  /** `$self`. */
  readonly self: Readonly<Record<string, unknown>>;
  /** `$item`, `$index`: undefined outside forEach. */
  readonly item?: unknown;
  readonly index?: number;
  /** `$child`. */
  readonly child?: unknown;
  /** `$previous`. */
  readonly previous?: unknown;
  /** `$definition`. */
  readonly definition: { readonly name: string; readonly revision: string };
  /** `$cluster`. */
  readonly cluster: ClusterScope;
  /** `$now()`: ISO 8601 in UTC. */
  readonly now: string;
  /** `$randomString(n)`. */
  readonly randomText: (length: number) => string;
  /** `$clusterOf(object)`. @default every object is in the cluster of the resource */
  readonly clusterOf?: (object: object) => string | undefined;
  /** The remaining budget of the reconcile. @default a separate budget for each evaluation */
  readonly budget?: WorkBudget;
  /** Finds when results change that depend on the present. @default undefined: the expression does not read it, or nothing asks */
  readonly flips?: TimeFlips;
}

/** An error or a warning about a leaf. The caller converts `offset` (in the leaf) to a position. */
export interface LeafProblem {
  readonly severity: 'error' | 'warning';
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly hint?: string;
  readonly offset: number;
}

export type ParsedLeaf =
  | { readonly leaf: Leaf; readonly problems: readonly LeafProblem[] }
  | { readonly leaf?: undefined; readonly problems: readonly LeafProblem[] };

/** Parses leaves. Use one parser per compilation, so that equal leaves are compiled once. */
export interface LeafParser {
  parse(text: string): ParsedLeaf;
}
