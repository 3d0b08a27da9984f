import type { LeafProblem } from './leaf.ts';
import { comparedWithNull, isNull } from './nulls.ts';
import {
  isDefaultOperator,
  isElvisOperator,
  leftOf,
  type SyntaxNode,
  unwrapTailCall,
  walk,
} from './syntax-tree.ts';
import { startOf, type Token } from './tokens.ts';

type Warning = Pick<LeafProblem, 'message' | 'hint' | 'offset'>;

const comparisons = new Set(['=', '!=', '<', '<=', '>', '>=', 'in']);
/** Root names that are not resource fields; list elements do not have them. */
const namesOfRoot = new Set(['children', 'observed', 'reads', 'vars']);
/** Fields of every object, which are safe to compare. */
const alwaysThere = new Set([
  'metadata.name',
  'metadata.uid',
  '$$.metadata.name',
  '$self.metadata.name',
]);

/** Finds valid code that is probably an error. The tree must not have been rewritten. */
export function findSuspiciousExpressions(
  source: string,
  tree: SyntaxNode,
  tokens: readonly Token[],
): readonly LeafProblem[] {
  const nodes = [...walk(tree)];
  const warnings = [
    ...subtractedNames(tokens),
    ...nodes.flatMap((node) => [
      ...comparedWithMissing(node, tokens),
      ...greedyDefault(node, source, tokens),
      ...rootInPredicate(node, tokens),
      ...fieldInBrackets(node, tokens),
      ...fieldOfConstructed(node, tokens),
      ...addedTexts(node, tokens),
      ...searchedNull(node, tokens),
    ]),
  ];
  // JSONata duplicates the left operand of `??` and `?:`.
  const distinct = new Map(warnings.map((each) => [`${each.offset} ${each.message}`, each]));
  return [...distinct.values()]
    .map((warning) => ({ severity: 'warning', code: 'suspicious-expression', ...warning }) as const)
    .toSorted((a, b) => a.offset - b.offset);
}

/** `image-tag`: two names with a minus and no spaces between them. */
function subtractedNames(tokens: readonly Token[]): Warning[] {
  const warnings: Warning[] = [];
  for (let index = 0; index < tokens.length; index++) {
    const first = tokens[index];
    if (first === undefined || !isWord(first)) continue;
    let name = first.text;
    for (;;) {
      const [last, minus, next] = tokens.slice(index, index + 3);
      const isJoined =
        minus?.text === '-' &&
        minus.start === last?.end &&
        next?.start === minus.end &&
        isWord(next);
      if (!isJoined) break;
      name += `-${next.text}`;
      index += 2;
    }
    if (name === first.text) continue;
    warnings.push({
      message: `"${name}" is parsed as a subtraction`,
      hint: `Write \`${name}\` in backquotes if it is one name, else put spaces around the minus`,
      offset: first.start,
    });
  }
  return warnings;
}

function isWord(token: Token): boolean {
  return token.kind === 'name' && !token.text.startsWith('`');
}

/** `a != b`, which is false without `a`. `a != null` tests whether there is one. */
function comparedWithMissing(node: SyntaxNode, tokens: readonly Token[]): Warning[] {
  const left = leftOf(node);
  const { rhs } = node;
  if (node.type !== 'binary' || left === undefined || rhs === undefined) return [];
  const offset = startOf(tokens, node.position);
  if (node.value !== '!=' || comparedWithNull(node) !== undefined) return [];
  const doubtful = [left, rhs].find(
    (side) => side.type === 'path' && !alwaysThere.has(pathText(side)),
  );
  if (doubtful === undefined) return [];
  return [
    {
      message: `"!=" is false if "${pathText(doubtful)}" is missing`,
      hint: 'Write "$not(a = b)", or add a default with "??"',
      offset,
    },
  ];
}

/** `a in [null, "b"]`: a missing value is in no list. */
function searchedNull(node: SyntaxNode, tokens: readonly Token[]): Warning[] {
  const { rhs } = node;
  if (node.type !== 'binary' || node.value !== 'in' || rhs === undefined) return [];
  const elements = rhs.type === 'unary' && rhs.value === '[' ? (rhs.expressions ?? []) : [rhs];
  const literal = [leftOf(node), ...elements].find((each) => each !== undefined && isNull(each));
  if (literal === undefined) return [];
  return [
    {
      message: '"in" never finds null: it is a missing value',
      hint: 'Write "$not($exists(a))" or "a = null" to find out whether "a" is missing',
      offset: startOf(tokens, literal.position),
    },
  ];
}

/** `"a" + b`: `+` adds numbers only. */
function addedTexts(node: SyntaxNode, tokens: readonly Token[]): Warning[] {
  const operands = [leftOf(node), node.rhs];
  if (node.type !== 'binary' || node.value !== '+') return [];
  if (!operands.some((operand) => operand?.type === 'string')) return [];
  return [
    {
      message: '"+" adds numbers, and one operand is a string',
      hint: 'Write "&" to join strings',
      offset: startOf(tokens, node.position),
    },
  ];
}

/** `a ?? 0 > b` gives `0 > b` as the default; `a = b ?? c` gives a default to the comparison. */
function greedyDefault(node: SyntaxNode, source: string, tokens: readonly Token[]): Warning[] {
  const operator = isDefaultOperator(node) ? '??' : isElvisOperator(node) ? '?:' : undefined;
  const fallback = node.else && unwrapTailCall(node.else);
  if (operator === undefined || fallback === undefined || node.then === undefined) return [];
  const value = unwrapTailCall(node.then);
  const offset = startOf(tokens, node.position);
  const isGreedy =
    fallback.type === 'binary' ||
    (fallback.type === 'condition' && !isDefaultOperator(fallback) && !isElvisOperator(fallback));
  if (isGreedy) {
    const rest = source.slice(offset + operator.length).trim();
    return [
      {
        message: `"${operator}" uses the whole "${rest}" as the default`,
        hint: `Put the value and its default in parentheses: "(a ${operator} b)"`,
        offset,
      },
    ];
  }
  const takesComparison =
    value.type === 'binary' && (comparisons.has(String(value.value)) || value.value === '&');
  if (!takesComparison) return [];
  return [
    {
      message: `"${operator}" applies to the whole "${String(value.value)}" expression before it`,
      hint: `Put the value and its default in parentheses: "(a ${operator} b)"`,
      offset,
    },
  ];
}

/** `metadata.annotations["a/b"]`: a text in brackets is a filter that is always true. */
function fieldInBrackets(node: SyntaxNode, tokens: readonly Token[]): Warning[] {
  if (node.type !== 'path') return [];
  const { steps = [] } = node;
  return steps.flatMap((step, index) =>
    [...(step.predicate ?? []), ...(step.stages ?? [])].flatMap(({ expr }): Warning[] => {
      if (expr?.type !== 'string') return [];
      const name = String(expr.value);
      return [
        {
          message: `["${name}"] selects no field: brackets contain an index or a condition`,
          hint: `Write "${pathText({ ...node, steps: steps.slice(0, index + 1) })}.\`${name}\`"`,
          offset: startOf(tokens, expr.position),
        },
      ];
    }),
  );
}

/** `[a, b][0].c`: JSONata takes the one element for a list, and finds no field. */
function fieldOfConstructed(node: SyntaxNode, tokens: readonly Token[]): Warning[] {
  const [first, second] = node.steps ?? [];
  if (node.type !== 'path' || first?.type !== 'unary' || first.value !== '[') return [];
  if (second === undefined || (first.predicate ?? []).length === 0) return [];
  return [
    {
      message: 'A field of one element of a list that is written here has no value: "[a, b][0].c"',
      hint: 'Put the list in parentheses: "([a, b])[0].c"',
      offset: startOf(tokens, first.position),
    },
  ];
}

/** `reads.pods[metadata.name = spec.pod]`: names in a predicate refer to the element. */
function rootInPredicate(node: SyntaxNode, tokens: readonly Token[]): Warning[] {
  if (node.type !== 'path') return [];
  const [first] = node.steps ?? [];
  const isOfObjects =
    first?.type === 'name' && ['children', 'observed', 'reads'].includes(String(first.value));
  const predicates = (node.steps ?? []).flatMap((step) => [
    ...(step.predicate ?? []),
    ...(step.stages ?? []),
  ]);
  return predicates.flatMap(({ expr }) =>
    expr === undefined
      ? []
      : [...walk(expr)].flatMap((inner) => comparedWithRoot(inner, isOfObjects, tokens)),
  );
}

function comparedWithRoot(
  node: SyntaxNode,
  isOfObjects: boolean,
  tokens: readonly Token[],
): Warning[] {
  if (node.type !== 'binary' || !comparisons.has(String(node.value))) return [];
  const sides = [leftOf(node), node.rhs].filter((side) => side?.type === 'path');
  return sides.flatMap((side) => {
    const other = sides.find((each) => each !== side);
    const name = firstName(side);
    const otherName = firstName(other);
    const isMixed =
      isOfObjects && name === 'spec' && (otherName === 'metadata' || otherName === 'status');
    if (side === undefined || (!isMixed && !namesOfRoot.has(name ?? ''))) return [];
    const path = pathText(side);
    return [
      {
        message: `"${path}" in a predicate refers to a field of the element`,
        hint: `Write "$$.${path}" for the field of the resource`,
        offset: startOf(tokens, side.steps?.[0]?.position),
      },
    ];
  });
}

function firstName(path: SyntaxNode | undefined): string | undefined {
  const [first] = path?.steps ?? [];
  return first?.type === 'name' ? String(first.value) : undefined;
}

/** The leading names of a path. */
function pathText(path: SyntaxNode): string {
  const texts: string[] = [];
  for (const step of path.steps ?? []) {
    if (step.type !== 'name' && step.type !== 'variable') break;
    texts.push(step.type === 'variable' ? `$${String(step.value)}` : String(step.value));
  }
  return texts.join('.');
}
