import type { ASTNode, TypeError as CelTypeError, ParseError } from '@marcbachmann/cel-js';

interface CompiledText {
  /** What the library compiles. */
  readonly text: string;
  /** What the user wrote. */
  readonly original: string;
  readonly originalOffset: (at: number) => number;
}

/**
 * Why the server would not compile an expression, in its words as far as the sandbox can determine them. Undefined: the expression uses a
 * function that only the server has.
 */
export function compileProblem(
  error: ParseError | CelTypeError | undefined,
  { text, original, originalOffset }: CompiledText,
): string | undefined {
  if (error === undefined) return undefined;
  const { code, summary, range, node } = error;
  const found = describe(code, summary, { text, node, at: range?.start ?? 0 });
  if (found === undefined) return undefined;
  return `compilation failed: ERROR: <input>:${formatProblem(original, { at: originalOffset(found.at), message: found.message })}`;
}

interface Place {
  readonly text: string;
  readonly node: unknown;
  readonly at: number;
}

interface Problem {
  readonly at: number;
  readonly message: string;
}

function describe(code: string, summary: string, place: Place): Problem | undefined {
  const { at } = place;
  switch (code) {
    case 'unknown_variable': {
      const name = summary.replace(/^Unknown variable: /, '');
      return { at, message: `undeclared reference to '${name}' (in container '')` };
    }
    case 'no_such_key': {
      const name = summary.replace(/^No such key: /, '');
      return { at: dotBefore(place), message: `undefined field '${name}'` };
    }
    case 'cannot_index_type': {
      const type = summary.replace(/^Cannot index type '(.*)'$/, '$1');
      const message = `type '${type}' does not support field selection`;
      return { at: dotBefore(place), message };
    }
    case 'no_such_overload':
      return operatorProblem(summary, place);
    case 'no_matching_overload':
      return callProblem(summary, place);
    default:
      return isNode(place.node) && code !== 'parse_error' && !syntaxCodes.has(code)
        ? { at, message: summary }
        : { at, message: `Syntax error: ${summary}` };
  }
}

const syntaxCodes: ReadonlySet<string> = new Set([
  'unexpected_token',
  'expected_token',
  'unexpected_character',
  'reserved_identifier',
]);

/** The server points at the dot of a selection. */
function dotBefore({ text, node, at }: Place): number {
  const start = isNode(node) ? node.pos : at;
  const dot = text.lastIndexOf('.', start);
  return dot < 0 ? start : dot;
}

function operatorProblem(summary: string, { text, node, at }: Place): Problem {
  const words = summary.replace(/^no such overload: /, '');
  if (!isNode(node)) return { at, message: summary };
  const { op, args } = node;
  if (op === '!_' || op === '-_') {
    const type = celType(words.slice(1));
    return {
      at: node.start,
      message: `found no matching overload for '${op}' applied to '(${type})'`,
    };
  }
  const [left, right] = Array.isArray(args) ? args : [];
  if (!isNode(left) || !isNode(right)) return { at, message: summary };
  const [first = '', second = ''] = words.split(` ${op} `).map(celType);
  const name = op === 'in' ? '@in' : `_${op}_`;
  const between = text.indexOf(op, left.end);
  return {
    at: between < 0 ? at : between,
    message: `found no matching overload for '${name}' applied to '(${first}, ${second})'`,
  };
}

/** Functions of a server that the sandbox does not have, also those that it has for other types. */
const serverFunctions: ReadonlySet<string> = new Set([
  'ip',
  'isIP',
  'cidr',
  'isCIDR',
  'url',
  'isURL',
  'semver',
  'isSemver',
  'format',
  'named',
  'validate',
  'contains',
  'containsIP',
  'containsCIDR',
  'intersects',
  'equivalent',
  'family',
  'isCanonical',
  'isUnspecified',
  'isLoopback',
  'getHost',
  'getHostname',
  'getPort',
  'getScheme',
  'getEscapedPath',
  'getQuery',
  'masked',
  'prefixLength',
  'major',
  'minor',
  'patch',
  'isLessThan',
  'isGreaterThan',
  'compareTo',
  'reverse',
  'distinct',
  'flatten',
  'slice',
  'sort',
  'sortBy',
  'range',
  'first',
  'last',
  'transformList',
  'transformMap',
  'transformMapEntry',
  'existsOne',
  'optMap',
  'optFlatMap',
  'ofNonZeroValue',
  'lowerAscii',
  'upperAscii',
  'split',
  'join',
  'trim',
  'substring',
  'quote',
  'replace',
  'indexOf',
  'lastIndexOf',
  'charAt',
  'getFullYear',
]);

function callProblem(summary: string, { text, node, at }: Place): Problem | undefined {
  const [, signature = ''] = /for '(.*)'$/.exec(summary) ?? [];
  const [, receiver, name = '', args = ''] =
    /^(?:(.*)\.)?([A-Za-z_]\w*)\((.*)\)$/.exec(signature) ?? [];
  if (serverFunctions.has(name)) return undefined;
  const start = isNode(node) ? text.indexOf(`${name}`, node.start) + name.length : at;
  const open = text.indexOf('(', start);
  const place = open < 0 ? at : open;
  if (!knownNames.has(name))
    return { at: place, message: `undeclared reference to '${name}' (in container '')` };
  const list = args.split(', ').map(celType).join(', ');
  const applied = receiver === undefined ? `(${list})` : `${celType(receiver)}.(${list})`;
  return { at: place, message: `found no matching overload for '${name}' applied to '${applied}'` };
}

/** Functions that the sandbox has, and the server. */
const knownNames: ReadonlySet<string> = new Set([
  'size',
  'startsWith',
  'endsWith',
  'matches',
  'int',
  'uint',
  'double',
  'string',
  'bool',
  'bytes',
  'timestamp',
  'duration',
  'type',
  'dyn',
  'has',
  'all',
  'exists',
  'exists_one',
  'map',
  'filter',
  'sum',
  'min',
  'max',
  'isSorted',
  'find',
  'findAll',
  'quantity',
  'isQuantity',
  'orValue',
  'or',
  'value',
  'hasValue',
  'allowed',
  'check',
  'resource',
  'group',
  'path',
  'escapeKey',
]);

function celType(type: string): string {
  return type
    .trim()
    .replaceAll('<', '(')
    .replaceAll('>', ')')
    .replace(/^null$/, 'null_type');
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}

/** Formats an error as the server's compiler does: line and column, the line itself, and an arrow. */
export function formatProblem(text: string, { at, message }: Problem): string {
  const before = text.slice(0, at).split('\n');
  const column = before.at(-1)?.length ?? 0;
  const line = text.split('\n')[before.length - 1] ?? '';
  return `${before.length}:${column + 1}: ${message}\n | ${line}\n | ${'.'.repeat(column)}^`;
}
