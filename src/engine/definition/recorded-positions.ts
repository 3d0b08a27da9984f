import { isJsonObject, type JsonObject, pointerTo } from '#util/json.ts';
import { decodeVlq, encodeVlq } from '#util/vlq.ts';
import type { Position, SourceMap } from './finding.ts';

/**
 * The longest text of positions, in characters. With three of them, and four copies of a `spec` of the largest size, an object stays below
 * the limit of etcd.
 */
const maxCharacters = 65_536;

const root = '/spec';

/** The positions of one node. */
interface NodePositions {
  readonly key: Position;
  readonly value: Position;
  /** Of the first character of a text with expressions. */
  readonly inside?: Position;
  /** The text has several lines. */
  readonly isLong?: boolean;
}

/**
 * The positions of all nodes of a `spec` as one text, see {@link recordedSourceMap}: line and column of the key, of the value, and of the
 * first character of a text with expressions, each relative to the one before. Pure.
 * @returns undefined if the text would be too long
 */
export function recordPositions(spec: JsonObject, source: SourceMap): string | undefined {
  const numbers: number[] = [];
  let last: Position = { line: 1, column: 1 };
  const add = (position: Position) => {
    numbers.push(position.line - last.line, position.column - last.column);
    last = position;
  };
  for (const { pointer, hasExpressions } of nodesOf(spec)) {
    // Each number takes a character.
    if (numbers.length > maxCharacters) return undefined;
    add(source.keyAt(pointer));
    add(source.valueAt(pointer));
    if (hasExpressions) add(source.insideAt(pointer, 0));
  }
  const text = encodeVlq(numbers);
  return text.length > maxCharacters ? undefined : text;
}

/**
 * The source map of a `spec` whose positions were recorded with {@link recordPositions}. A position inside a text that has several lines is
 * the one of its first line. Pure.
 * @returns undefined if the text does not belong to the `spec`
 */
export function recordedSourceMap(
  spec: JsonObject,
  { file, positions }: { readonly file: string; readonly positions: string },
): SourceMap | undefined {
  const nodes = readPositions(spec, positions);
  const top = nodes?.get(root);
  if (nodes === undefined || top === undefined) return undefined;
  const find = (pointer: string): NodePositions => {
    for (let path = pointer; path !== ''; path = path.slice(0, path.lastIndexOf('/'))) {
      const found = nodes.get(path);
      if (found !== undefined) return found;
    }
    return top;
  };
  return {
    file,
    keyAt: (pointer) => find(pointer).key,
    valueAt: (pointer) => find(pointer).value,
    insideAt(pointer, offset) {
      const { inside, isLong } = nodes.get(pointer) ?? {};
      if (inside === undefined) return find(pointer).value;
      return isLong ? inside : { ...inside, column: inside.column + offset };
    },
  };
}

function readPositions(
  spec: JsonObject,
  text: string,
): ReadonlyMap<string, NodePositions> | undefined {
  const numbers = decodeVlq(text);
  if (numbers === undefined) return undefined;
  let index = 0;
  let last: Position = { line: 1, column: 1 };
  const next = (): Position => {
    const line = last.line + (numbers[index] ?? 0);
    const column = last.column + (numbers[index + 1] ?? 0);
    index += 2;
    last = { line, column };
    return last;
  };
  const nodes = new Map<string, NodePositions>();
  for (const { pointer, hasExpressions, isLong } of nodesOf(spec))
    nodes.set(pointer, {
      key: next(),
      value: next(),
      ...(hasExpressions && { inside: next(), isLong }),
    });
  // More or fewer: positions of another `spec`.
  return index === numbers.length ? nodes : undefined;
}

interface SpecNode {
  readonly pointer: string;
  readonly hasExpressions: boolean;
  readonly isLong: boolean;
}

/** The nodes of a `spec` in an order that depends on nothing but their paths. Without `null`, which an API server may drop. */
function* nodesOf(value: unknown, pointer = root): Generator<SpecNode> {
  if (value === null || value === undefined) return;
  const text = typeof value === 'string' ? value : '';
  yield { pointer, hasExpressions: /\$\{|\{\{/.test(text), isLong: text.includes('\n') };
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* nodesOf(item, pointerTo(pointer, index));
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value).sort())
      yield* nodesOf(value[key], pointerTo(pointer, key));
  }
}
