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
import { pointerSteps } from '#util/json.ts';
import type { Position, SourceMap } from '../finding.ts';
import { offsetInFile, type ScalarStyle } from './inside-scalar.ts';
import { fieldName, isMergeKey, type YamlReading } from './scalar-value.ts';

const styles: Readonly<Record<string, ScalarStyle>> = {
  QUOTE_SINGLE: 'single',
  QUOTE_DOUBLE: 'double',
  BLOCK_LITERAL: 'literal',
  BLOCK_FOLDED: 'folded',
};

/** A node of the tree and the node of its key, if it has one. */
interface FoundNode {
  readonly node: Node | undefined;
  readonly key: Node | undefined;
  /** False if this is an ancestor of the requested node. */
  readonly exact: boolean;
}

interface NodeSourceMapOptions {
  readonly file: string;
  readonly text: string;
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
  /** The target node of each alias. */
  readonly targets: ReadonlyMap<Alias, Node>;
  readonly reading: YamlReading;
}

/** The tree with a cache of map fields, because one large map may have many diagnostics. */
interface Tree extends Pick<NodeSourceMapOptions, 'document' | 'targets' | 'reading'> {
  readonly fields: Map<YAMLMap, ReadonlyMap<string, Pair>>;
}

/** Creates a source map from the nodes of a parsed document. Nodes behind an alias have the position of their anchor. */
export function createNodeSourceMap(options: NodeSourceMapOptions): SourceMap {
  const { file, text, document, lines, targets, reading } = options;
  const tree: Tree = { document, targets, reading, fields: new Map() };
  const positionOf = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const startOf = (node: Node | undefined) => node?.range?.[0] ?? document.range[0];
  // Recording positions asks for the key, the value and the inside of each node.
  let last: { readonly pointer: string; readonly found: FoundNode } | undefined;
  const findNode = (pointer: string): FoundNode => {
    if (last?.pointer !== pointer) last = { pointer, found: find(tree, pointer) };
    return last.found;
  };

  return {
    file,
    valueAt: (pointer) => positionOf(startOf(findNode(pointer).node)),
    keyAt(pointer) {
      const { key, node } = findNode(pointer);
      return positionOf(startOf(key ?? node));
    },
    insideAt(pointer, offset) {
      const { node, exact } = findNode(pointer);
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

function find(tree: Tree, pointer: string): FoundNode {
  let spot: FoundNode = { node: tree.document.contents ?? undefined, key: undefined, exact: true };
  for (const step of pointerSteps(pointer)) {
    const next = child({ node: resolveAlias(spot.node, tree), step, tree });
    if (next === undefined) return { ...spot, exact: false };
    spot = next;
  }
  const node = resolveAlias(spot.node, tree);
  // An empty value (`key:`) has a zero-length node after the colon; use the key instead.
  const isEmpty = isScalar(node) && node.range != null && node.range[0] === node.range[1];
  return { ...spot, node: isEmpty ? (spot.key ?? node) : node };
}

function child({ node, step, tree }: ChildOptions): FoundNode | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(step)];
    return item === undefined ? undefined : { node: item as Node, key: undefined, exact: true };
  }
  if (!isMap(node)) return undefined;
  const pair = fieldsOf(node, tree).get(step);
  if (pair === undefined) return undefined;
  return { node: (pair.value ?? pair.key) as Node, key: pair.key as Node, exact: true };
}

/** The fields of a map by name; the first of duplicates, and then those that it merges. */
function fieldsOf(map: YAMLMap, tree: Tree): ReadonlyMap<string, Pair> {
  const known = tree.fields.get(map);
  if (known !== undefined) return known;
  const named = new Map<string, Pair>();
  tree.fields.set(map, named);
  const merged: unknown[] = [];
  for (const pair of map.items) {
    if (isMergeKey(pair.key)) merged.push(...(isSeq(pair.value) ? pair.value.items : [pair.value]));
    const name = fieldName(pair.key, tree.reading);
    if (name !== undefined && !named.has(name)) named.set(name, pair);
  }
  for (const each of merged) {
    const target = resolveAlias(each as Node, tree);
    if (!isMap(target)) continue;
    for (const [name, pair] of fieldsOf(target, tree)) if (!named.has(name)) named.set(name, pair);
  }
  return named;
}

function resolveAlias(node: Node | undefined, { targets }: Tree): Node | undefined {
  return isAlias(node) ? (targets.get(node) ?? node) : node;
}
