/**
 * The language of the string leaves: definition.md section 2. CONTRACT between compile/language (JSONata and Handlebars live behind it)
 * and the rest of compile, which knows the definition, its names and schemas.
 */
import type { DiagnosticCode } from '../../definition/index.ts';
import type { SyntaxNode } from './syntax-tree.ts';
import type { WorkBudget } from './work-budget.ts';

/** What a string leaf is. */
export type Leaf =
  /** No expression; escapes (`$${`, `\{{`) are resolved. */
  | { readonly kind: 'literal'; readonly text: string }
  /** `${ }` alone, `${? }` (no result always means: leave the field out), `${... }` (spread into the list). */
  | {
      readonly kind: 'value';
      readonly mode: 'value' | 'optional' | 'spread';
      readonly expression: Expression;
    }
  /** Text with parts; every part must give a string, number or boolean. */
  | { readonly kind: 'text'; readonly parts: readonly (string | Expression)[] }
  /** `{{ }}`: always a string. */
  | { readonly kind: 'handlebars'; readonly expression: Expression };

/** A compiled expression or Handlebars text. Immutable, interned by text within one compile, safe to share between passes. */
export interface Expression {
  /** As written, without the delimiters. */
  readonly source: string;
  /** Everything it reads, found in its syntax tree. */
  readonly references: readonly Reference[];
  /** A path of names without predicates: evaluated by an accessor, synchronously, in the ordinary case. */
  readonly isPlainPath: boolean;
  /**
   * Evaluates. Undefined: no result (`null` results are undefined too). The result is plain JSON and never an alias of the input;
   * lists are real lists, `__proto__` keys are refused, numbers are finite.
   * @throws ExpressionError (also as a rejection) for failures and exceeded limits.
   */
  evaluate(scope: Scope): unknown | Promise<unknown>;
  /**
   * Prepares an evaluation that tells which of the marked nodes of the syntax tree it came to: those of a branch only when it
   * is taken. Each call costs a parse. Not there for Handlebars.
   */
  readonly probe?: <T>(
    mark: (tree: SyntaxNode) => ReadonlyMap<SyntaxNode, T>,
  ) => (scope: Scope) => Promise<readonly T[]>;
}

export type ReferenceRoot =
  /** A field of the custom resource: path `['spec', 'size']`; also through `$self`, `$$`. */
  | 'resource'
  /** First step is the id. */
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
  /** False: the value at `path` is used as a whole or in a way the analysis cannot follow, so anything below it may be read. */
  readonly exact: boolean;
  /** Where its first character stands in {@link Expression.source}'s leaf text (the whole string leaf). */
  readonly offset: number;
  /** Offset of each step of `path`, same base. */
  readonly stepOffsets: readonly number[];
  /** So many steps lead to a value that may also come from elsewhere: in `(spec.a ?? {"b": 1}).b`, `b` need not be a field of `spec.a`. */
  readonly mixedFrom?: number;
  /** For `vars`: it is read other than by a path `vars.<name>`, so who looks for such paths does not see it: `$lookup(vars, "a")`, `[vars].a`. */
  readonly isIndirect?: true;
  /** For `now` and `random`: it is evaluated only where a value read from `observed` is missing (`observed.x.y ?? $now()`). */
  readonly behindObserved?: true;
}

/** What an expression sees. Objects are aliases of the cache and must not be changed. */
export interface Scope {
  /** The root: the custom resource's `metadata`, `spec`, `status`, ... with `children`, `reads`, `vars`, `observed` beside them (these win over fields of the resource of the same name). */
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
  readonly cluster: string;
  /** `$now()`: ISO 8601 in UTC. */
  readonly now: string;
  /** `$randomString(n)`. */
  readonly randomText: (length: number) => string;
  /** What the reconcile may still compute and hold. @default one of its own for each evaluation */
  readonly budget?: WorkBudget;
}

/** A mistake found in a leaf; the caller turns `offset` (in the leaf's text) into a position. */
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

/** Parses leaves; one per compile, so that equal texts are compiled once. */
export interface LeafParser {
  parse(text: string): ParsedLeaf;
}
