import { nearestName } from '#util/did-you-mean.ts';
import { builtinFunctions } from './builtin-functions.ts';
import { foreignFunction, functionHint, methodHint } from './foreign-calls.ts';
import type { LanguageFunction } from './functions/language-function.ts';
import { languageFunctions } from './functions.ts';
import type { LeafProblem } from './leaf.ts';
import { limits } from './limits.ts';
import { isVariableName, variableNames } from './runtime-scope.ts';
import { childNodes, firstPosition, type SyntaxNode, unwrapTailCall, walk } from './syntax-tree.ts';
import { startOf, type Token } from './tokens.ts';

interface CheckOptions {
  readonly tree: SyntaxNode;
  readonly tokens: readonly Token[];
  /** Returns the reason if a regular expression is not supported. */
  readonly checkRegex: (literal: RegExp) => string | undefined;
}

/** Finds errors that JSONata's parser does not report: unknown variables and functions, and unsupported features. */
export function checkTree({ tree, tokens, checkRegex }: CheckOptions): readonly LeafProblem[] {
  const nodes = [...walk(tree)];
  if (nodes.length > limits.nodes) {
    return [problem('forbidden-expression', 'The expression is too large', 0)];
  }
  const bound = boundNames(nodes);
  const applied = new Set(nodes.flatMap(({ type, rhs }) => (type === 'apply' ? [rhs] : [])));
  const atRoot = new Set(nodesAtRoot(tree));
  const rounded = tokens.filter(({ kind, text }) => kind === 'number' && isRounded(text));
  const problems = nodes.flatMap((node) => {
    const offset = startOf(tokens, node.position);
    switch (node.type) {
      case 'variable':
        return checkVariable(node, bound, offset);
      case 'function': {
        const place = {
          isApplied: applied.has(node),
          isBound: bound.has(String(node.procedure?.value)),
          atRoot: atRoot.has(node),
        };
        return [
          ...checkCall(node, tokens),
          ...checkOwnCall(node, place.isApplied, tokens),
          ...checkArguments(node, place, tokens),
          ...checkMatch(node, place, tokens),
        ];
      }
      case 'transform':
        return [
          problem(
            'forbidden-expression',
            'The transform operator "|...|" is not supported',
            offset,
            'Create a new object with "{ }" or $merge()',
          ),
        ];
      case 'regex':
        return node.value instanceof RegExp ? checkLiteral(node.value, checkRegex, offset) : [];
      default:
        return [];
    }
  });
  return withoutRepeats([...problems, ...rounded.map(roundedInteger)]);
}

/** An integer of which JavaScript drops digits. */
function isRounded(text: string): boolean {
  return /^\d+$/.test(text) && !Number.isSafeInteger(Number(text));
}

function roundedInteger({ start }: Token): LeafProblem {
  const hint = 'Larger ones can only be copied: compare texts, "$string(a) = "9007199254740993""';
  return problem('expression-syntax', 'Expected an integer below 2^53', start, hint);
}

/** JSONata duplicates the left operand of `??` and `?:`, including its errors. */
function withoutRepeats(problems: readonly LeafProblem[]): readonly LeafProblem[] {
  const seen = new Map(problems.map((each) => [`${each.offset} ${each.message}`, each]));
  return [...seen.values()].toSorted((a, b) => a.offset - b.offset);
}

function checkLiteral(
  literal: RegExp,
  checkRegex: CheckOptions['checkRegex'],
  offset: number,
): LeafProblem[] {
  const reason = checkRegex(literal);
  return reason === undefined ? [] : [problem('forbidden-expression', reason, offset)];
}

function checkVariable(
  node: SyntaxNode,
  bound: ReadonlySet<string>,
  offset: number,
): LeafProblem[] {
  const name = String(node.value);
  if (name === 'eval' && !bound.has(name)) {
    return [problem('forbidden-expression', 'The function $eval() is not supported', offset)];
  }
  if (name === '' || name === '$' || bound.has(name) || knownNames.has(name)) return [];
  const nearest = foreignFunction(name) ?? nearestName(name, [...bound, ...knownNames]);
  const hint = nearest === undefined ? undefined : `Did you mean "$${nearest}"?`;
  return [problem('unknown-name', `Unknown name "$${name}"`, offset, hint)];
}

/** `sum(x)` calls a field named `sum`, which never works. */
function checkCall(node: SyntaxNode, tokens: readonly Token[]): LeafProblem[] {
  const procedure = node.procedure;
  const [step, ...more] = procedure?.type === 'path' ? (procedure.steps ?? []) : [];
  if (step?.type !== 'name' || more.length > 0) return [];
  const name = String(step.value);
  const offset = startOf(tokens, step.position);
  const hint =
    methodHint(tokens, offset) ??
    functionHint(tokens, offset) ??
    (knownNames.has(name) ? `Write "$${name}(...)"` : 'Functions start with "$"');
  return [problem('unknown-name', `Unknown function "${name}"`, offset, hint)];
}

/** Checks the number of arguments of our functions, and those that are literals. */
function checkOwnCall(
  { procedure, arguments: args = [] }: SyntaxNode,
  isApplied: boolean,
  tokens: readonly Token[],
): LeafProblem[] {
  const own = languageFunctions.find(({ name }) => name === procedure?.value);
  if (procedure?.type !== 'variable' || own === undefined) return [];
  const { name, params } = own;
  const before = isApplied ? 1 : 0;
  const count = args.length + before;
  const isVariadic = params.at(-1)?.endsWith('...') === true;
  const needed = params.filter((param) => !param.endsWith('?')).length;
  const most = isVariadic ? Number.POSITIVE_INFINITY : params.length;
  if (count < needed || count > most) {
    const hint =
      name === 'now' ? 'Write "$formatTime($now(), ...)" for a custom format' : undefined;
    const message = `Expected the call "$${name}(${params.join(', ')})"`;
    return [problem('expression-syntax', message, startOf(tokens, procedure.position), hint)];
  }
  return args.flatMap((arg, index) =>
    checkLiteralArgument(arg, { own, param: params[index + before] ?? '', tokens }),
  );
}

function checkLiteralArgument(
  arg: SyntaxNode,
  {
    own: { name, literals },
    param,
    tokens,
  }: {
    readonly own: LanguageFunction;
    readonly param: string;
    readonly tokens: readonly Token[];
  },
): LeafProblem[] {
  const offset = startOf(tokens, arg.position);
  if (arg.type === 'regex') {
    const message = `Expected no regular expression between slashes as an argument of $${name}()`;
    const hint = name === 'matches' ? 'Write "$contains(text, /.../)", or a string' : undefined;
    return [problem('wrong-type', message, offset, hint)];
  }
  const check = literals?.[param.replace(/\?$/, '')];
  const reason = arg.type === 'string' ? check?.(String(arg.value)) : undefined;
  return reason === undefined ? [] : [problem('invalid-value', reason, offset)];
}

/** A regular expression is a literal: `$match(text, spec.pattern)` would always fail. */
function checkMatch(
  { procedure, arguments: args = [] }: SyntaxNode,
  { isApplied, isBound }: CallPlace,
  tokens: readonly Token[],
): LeafProblem[] {
  if (procedure?.type !== 'variable' || procedure.value !== 'match' || isBound) return [];
  const isFromContext = !isApplied && args.length < 2;
  const pattern = args[isApplied || isFromContext ? 0 : 1];
  if (pattern === undefined || args.some(({ type }) => type === 'regex')) return [];
  if (!isNeverFunction(pattern)) return [];
  return [
    problem(
      'wrong-type',
      'Expected a regular expression such as /[a-z]+/ as the pattern of $match()',
      startOf(tokens, firstPosition(pattern)),
      'Write "$matches(text, pattern)" or "$glob(text, pattern)" to test for a pattern that is a value',
    ),
  ];
}

/** Whether no function can result, by the form alone. */
function isNeverFunction({ type, then, else: other, value }: SyntaxNode): boolean {
  switch (type) {
    case 'path':
    case 'string':
    case 'number':
    case 'value':
    case 'unary':
    case 'binary':
      return true;
    case 'variable':
      return isVariableName(String(value));
    case 'condition':
      return [then, other].every(
        (each) => each === undefined || isNeverFunction(unwrapTailCall(each)),
      );
    default:
      return false;
  }
}

/** Where a call stands: after `~>`, and where the context is the whole resource. */
interface CallPlace {
  readonly isApplied: boolean;
  /** The expression has a variable of that name. */
  readonly isBound: boolean;
  readonly atRoot: boolean;
}

/**
 * Checks that a call of JSONata's functions has its arguments, and no more. The context may take the place of the first one, but at the
 * root it is the resource, which is no text and no number.
 */
function checkArguments(
  { procedure, arguments: args = [] }: SyntaxNode,
  { isApplied, isBound, atRoot }: CallPlace,
  tokens: readonly Token[],
): LeafProblem[] {
  const name = String(procedure?.value);
  const builtin = procedure?.type === 'variable' ? builtinFunctions.get(name) : undefined;
  if (builtin === undefined || isBound) return [];
  const { params, usesContextBelow } = builtin;
  const needed = params.filter((param) => !/[?.]$/.test(param)).length;
  const isContextUsable = !atRoot || !['text', 'number'].includes(params[0] ?? '');
  const fromContext = usesContextBelow !== undefined && isContextUsable ? 1 : 0;
  const count = args.length + (isApplied ? 1 : 0);
  const most = params.at(-1)?.endsWith('...') === true ? Number.POSITIVE_INFINITY : params.length;
  if (count + fromContext >= needed && count <= most) return [];
  const message = `Expected the call "$${name}(${params.join(', ')})"`;
  return [problem('expression-syntax', message, startOf(tokens, procedure?.position))];
}

/** The nodes whose context is the resource: outside of functions, filters, and steps of a path after the first. */
export function* nodesAtRoot(node: SyntaxNode): Iterable<SyntaxNode> {
  yield node;
  if (node.type === 'lambda') return;
  const inner = node.type === 'path' ? (node.steps ?? []).slice(0, 1) : childNodes(bare(node));
  for (const child of inner) yield* nodesAtRoot(child);
}

/** The node without filters, sorting and grouping. */
function bare(node: SyntaxNode): SyntaxNode {
  const { predicate: _, stages: __, group: ___, terms: ____, ...rest } = node;
  return rest;
}

const knownNames: ReadonlySet<string> = new Set([
  ...builtinFunctions.keys(),
  ...languageFunctions.map(({ name }) => name),
  ...variableNames,
]);

/** Variables that the expression binds: by `:=`, as parameters, by `@$v` and `#$i`. */
export function boundNames(nodes: Iterable<SyntaxNode>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const node of nodes) {
    if (node.type === 'bind' && !Array.isArray(node.lhs)) names.add(String(node.lhs?.value));
    if (node.type === 'lambda') {
      for (const parameter of node.arguments ?? []) names.add(String(parameter.value));
    }
    if (node.focus !== undefined) names.add(node.focus);
    if (node.index !== undefined) names.add(node.index);
    for (const stage of node.stages ?? []) {
      if (stage.type === 'index') names.add(String(stage.value));
    }
  }
  return names;
}

function problem(
  code: LeafProblem['code'],
  message: string,
  offset: number,
  hint?: string,
): LeafProblem {
  return { severity: 'error', code, message, offset, ...(hint === undefined ? {} : { hint }) };
}
