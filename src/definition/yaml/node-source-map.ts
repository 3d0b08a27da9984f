import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type LineCounter,
  type Node,
  type Pair,
  type YAMLMap,
} from 'yaml';
import { pointerSteps } from '../../util/json-pointer.ts';
import type { Position, SourceMap } from '../source-map.ts';
import { offsetInFile, type ScalarStyle } from './inside-scalar.ts';

const styles: Readonly<Record<string, ScalarStyle>> = {
  QUOTE_SINGLE: 'single',
  QUOTE_DOUBLE: 'double',
  BLOCK_LITERAL: 'literal',
  BLOCK_FOLDED: 'folded',
};

/** One place of the tree: the value's node, and the key's where there is one. */
interface Spot {
  readonly node: Node | undefined;
  readonly key: Node | undefined;
  /** Is it the place asked for, not an ancestor of it? */
  readonly exact: boolean;
}

export interface NodeSourceMapOptions {
  readonly file: string;
  readonly text: string;
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
  /** What each alias stands for. */
  readonly targets: ReadonlyMap<Alias, Node>;
}

/** The tree, and what was looked up in it: many mistakes may stand in one large map. */
interface Tree extends Pick<NodeSourceMapOptions, 'document' | 'targets'> {
  readonly fields: Map<YAMLMap, ReadonlyMap<string, Pair>>;
}

/** Positions from the nodes of a parsed document. What stands behind an alias is found at its anchor. */
export function createNodeSourceMap(options: NodeSourceMapOptions): SourceMap {
  const { file, text, document, lines, targets } = options;
  const tree: Tree = { document, targets, fields: new Map() };
  const positionOf = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const startOf = (node: Node | undefined) => node?.range?.[0] ?? document.range[0];

  return {
    file,
    valueAt: (pointer) => positionOf(startOf(find(tree, pointer).node)),
    keyAt(pointer) {
      const { key, node } = find(tree, pointer);
      return positionOf(startOf(key ?? node));
    },
    insideAt(pointer, offset) {
      const { node, exact } = find(tree, pointer);
      const start = startOf(node);
      if (!exact || !isScalar(node) || typeof node.value !== 'string' || node.range == null)
        return positionOf(start);
      const scalar = {
        style: styles[node.type ?? ''] ?? 'plain',
        raw: text.slice(node.range[0], node.range[1]),
        start,
        value: node.value,
      };
      return positionOf(offsetInFile(scalar, offset));
    },
  };
}

interface ChildOptions {
  readonly node: Node | undefined;
  readonly step: string;
  readonly tree: Tree;
}

function find(tree: Tree, pointer: string): Spot {
  let spot: Spot = { node: tree.document.contents ?? undefined, key: undefined, exact: true };
  for (const step of pointerSteps(pointer)) {
    const next = child({ node: resolved(spot.node, tree), step, tree });
    if (next === undefined) return { ...spot, exact: false };
    spot = next;
  }
  const node = resolved(spot.node, tree);
  // An empty value (`key:`) has a node of no length behind the colon; the key says more.
  const isEmpty = isScalar(node) && node.range != null && node.range[0] === node.range[1];
  return { ...spot, node: isEmpty ? (spot.key ?? node) : node };
}

function child({ node, step, tree }: ChildOptions): Spot | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(step)];
    return item === undefined ? undefined : { node: item as Node, key: undefined, exact: true };
  }
  if (!isMap(node)) return undefined;
  const pair = fieldsOf(node, tree).get(step);
  if (pair === undefined) return undefined;
  return { node: (pair.value ?? pair.key) as Node, key: pair.key as Node, exact: true };
}

/** The fields of a map by name; of two with one name the first. */
function fieldsOf(map: YAMLMap, { fields }: Tree): ReadonlyMap<string, Pair> {
  const known = fields.get(map);
  if (known !== undefined) return known;
  const named = new Map<string, Pair>();
  for (const pair of map.items) {
    if (!isScalar(pair.key)) continue;
    const name = String(pair.key.value);
    if (!named.has(name)) named.set(name, pair);
  }
  fields.set(map, named);
  return named;
}

function resolved(node: Node | undefined, { targets }: Tree): Node | undefined {
  return isAlias(node) ? (targets.get(node) ?? node) : node;
}
