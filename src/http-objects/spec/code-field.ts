import type {
  Expression,
  LeafParser,
  Reference,
  WorkBudget,
} from '../../compile/language/index.ts';
import { didYouMean } from '../../util/did-you-mean.ts';
import type { Json, JsonObject } from '../../util/json.ts';
import { errorAt, type SpecProblem } from './problem.ts';

/** A compiled code field: `$( expression )`. Only the fields of the format that are code are compiled; all else is data. */
export interface Code {
  readonly source: string;
  readonly expression: Expression;
  /** Names of the scope that it reads. */
  readonly reads: ReadonlySet<ScopeName>;
  /** A path of names without predicates, below the scope: `body.result` is `['body', 'result']`. */
  readonly plainPath: readonly string[] | undefined;
}

/** What a code field can read. Values of Secrets are in none of them. */
export type CodeScope = Readonly<Partial<Record<ScopeName, Json>>>;

const scopeNames = [
  'id',
  'params',
  'desired',
  'code',
  'headers',
  'body',
  'result',
  'metadata',
] as const;
export type ScopeName = (typeof scopeNames)[number];

/** Compiles a code field, or returns why it is not valid. Pure. */
export function compileCode(
  text: string,
  path: string,
  parser: LeafParser,
): { readonly code: Code } | { readonly problem: SpecProblem } {
  const source = sourceOf(text);
  if (source === undefined)
    return { problem: errorAt(path, `Expected code "$( … )", found "${text}"`) };
  if (text.includes('${') || text.includes('{{'))
    return {
      problem: errorAt(
        path,
        'Expected code without "${" and "{{": a computed part could be code of another author',
        'Use "params" or "desired" in the code',
      ),
    };
  const { leaf, problems } = parser.parse(`\${ ${source} }`);
  const problem = problems.find(({ severity }) => severity === 'error');
  if (problem !== undefined) return { problem: errorAt(path, problem.message, problem.hint) };
  const isWhole =
    leaf?.kind === 'value' && leaf.mode === 'value' && leaf.expression.source === source;
  if (!isWhole) return { problem: errorAt(path, `Expected one expression, found "${source}"`) };
  const { expression } = leaf;
  const unknown = expression.references.find((reference) => !isInScope(reference));
  if (unknown !== undefined) return { problem: outOfScope(unknown, path) };
  const names = expression.references.map(({ path: [first] }) => first as ScopeName);
  // `$` and `$self` are the whole scope.
  const reads = new Set(names.includes(undefined as never) ? scopeNames : names);
  const [only] = expression.references;
  const plainPath = expression.isPlainPath && only !== undefined ? only.path : undefined;
  return { code: { source, expression, reads, plainPath } };
}

/**
 * Evaluates code. Undefined: no result.
 * @throws ExpressionError whose message has no values
 */
export async function evaluateCode(
  { expression }: Code,
  scope: CodeScope,
  budget?: WorkBudget,
): Promise<Json | undefined> {
  const root = scope as JsonObject;
  const value = await expression.evaluate({
    ...{ root, self: root },
    definition: { name: '', revision: '' },
    cluster: { name: '', labels: {} },
    now: new Date(0).toISOString(),
    randomText: () => '',
    ...(budget !== undefined && { budget }),
  });
  return value as Json | undefined;
}

function sourceOf(text: string): string | undefined {
  const trimmed = text.trim();
  if (!trimmed.startsWith('$(') || !trimmed.endsWith(')')) return undefined;
  const source = trimmed.slice(2, -1).trim();
  return source === '' ? undefined : source;
}

/** Time and random values are excluded: equal answers have equal results. */
function isInScope({ root, path: [first] }: Reference): boolean {
  if (root !== 'resource') return false;
  return first === undefined || (scopeNames as readonly string[]).includes(first);
}

function outOfScope({ root, path: [first = ''] }: Reference, path: string): SpecProblem {
  const name = root === 'resource' ? first : root;
  const list = scopeNames.map((each) => `"${each}"`).join(', ');
  return errorAt(
    path,
    `Expected one of ${list} in code, found "${name}"`,
    root === 'resource' ? didYouMean(name, scopeNames) : undefined,
  );
}
