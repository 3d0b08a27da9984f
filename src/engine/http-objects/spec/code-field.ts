import type { Expression, LeafParser, Reference, WorkBudget } from '#compile/language/index.ts';
import { didYouMean } from '#util/did-you-mean.ts';
import type { Json, JsonObject } from '#util/json.ts';
import { type CodeName, codeNames } from '../kinds/code-names.ts';
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

export type ScopeName = CodeName;
const scopeNames = Object.keys(codeNames) as readonly ScopeName[];

const opening = '${ ';

/** Compiles a code field, or returns why it is not valid. Pure. */
export function compileCode(
  text: string,
  path: string,
  parser: LeafParser,
): { readonly code: Code } | { readonly problem: SpecProblem } {
  const source = sourceOf(text);
  if (source === undefined && !text.includes('${'))
    return {
      problem: errorAt(path, `Expected code "$( … )", found "${text}"`, wrapping(text, parser)),
    };
  if (source === undefined || text.includes('${') || text.includes('{{'))
    return {
      problem: {
        ...errorAt(
          path,
          'Expected code without "${" and "{{": a computed part could be code of another author',
          'Use "params" or "desired" in the code',
        ),
        code: 'forbidden-expression',
      },
    };
  const { leaf, problems } = parser.parse(`${opening}${source} }`);
  // Where the text has what the parser was given.
  const shift = text.indexOf(source) - opening.length;
  const problem = problems.find(({ severity }) => severity === 'error');
  if (problem !== undefined)
    return {
      problem: {
        ...errorAt(path, problem.message, problem.hint),
        ...{ code: 'expression-syntax', offset: Math.max(0, problem.offset + shift) },
      },
    };
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

/** A hint for code that is written without `$( )`. */
function wrapping(text: string, parser: LeafParser): string | undefined {
  const wrapped = `$(${text.trim()})`;
  const isCode = sourceOf(wrapped) !== undefined && 'code' in compileCode(wrapped, '', parser);
  return isCode ? `Write "${wrapped}"` : undefined;
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
  const hint =
    name === 'spec'
      ? 'The field "spec" cannot be read here: put the value into "params"'
      : didYouMean(name, scopeNames);
  return errorAt(
    path,
    `Expected one of ${list} in code, found "${name}"`,
    root === 'resource' ? hint : undefined,
  );
}
