import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';
import type { InspectedNodes } from './inspect-nodes.ts';
import { fieldName, type YamlReading } from './scalar-value.ts';
import { maxNesting } from './text-limits.ts';

/** A value as it is written. Offsets count in the text of the file; `end` is the offset after the last character. */
export type YamlNode = YamlMap | YamlList | YamlScalar;

interface Span {
  readonly start: number;
  readonly end: number;
}

interface YamlMap extends Span {
  readonly kind: 'map';
  readonly isFlow: boolean;
  readonly entries: readonly YamlEntry[];
}

interface YamlList extends Span {
  readonly kind: 'list';
  readonly items: readonly YamlNode[];
}

interface YamlScalar extends Span {
  readonly kind: 'scalar';
  readonly style: 'plain' | 'quoted' | 'block';
  /** The value as text. An alias has the value of its anchor, if that is a scalar. */
  readonly text: string;
}

export interface YamlEntry {
  readonly key: string;
  readonly keyStart: number;
  readonly keyEnd: number;
  /** Undefined: there is nothing after the colon. */
  readonly value: YamlNode | undefined;
}

/** Where an offset is in a tree; with the offsets of the key or the value. */
export interface YamlPlace extends Span {
  /** Steps from the root to the value, or to the field of the key. */
  readonly steps: readonly string[];
  readonly at: 'key' | 'value';
  /** The value at the offset, or that of the key. Undefined: there is nothing after the colon. */
  readonly node: YamlNode | undefined;
}

interface TreeOptions {
  readonly targets: InspectedNodes['targets'];
  readonly reading: YamlReading;
}

/** The tree of a parsed document with the offsets of its nodes. Also of one with syntax errors: of the parts that were understood. */
export function yamlTree(
  { contents }: Document.Parsed,
  options: TreeOptions,
): YamlNode | undefined {
  return isWritten(contents) ? nodeOf(contents, options) : undefined;
}

/** An empty value has a node without characters. */
function isWritten(node: unknown): node is Node {
  const isNode = isMap(node) || isSeq(node) || isScalar(node) || isAlias(node);
  return isNode && node.range != null && node.range[0] < node.range[1];
}

/** What is nested too deeply is an error, and a scalar without text here. */
function nodeOf(node: Node, options: TreeOptions, depth = 0): YamlNode {
  const [start, end] = node.range ?? [0, 0];
  const isTooDeep = depth > maxNesting;
  if (isMap(node) && !isTooDeep)
    return {
      kind: 'map',
      isFlow: node.flow === true,
      start,
      end,
      entries: node.items.flatMap((pair) => entryOf(pair, options, depth + 1)),
    };
  if (isSeq(node) && !isTooDeep) {
    const items = node.items.map((item) => nodeOf(item as Node, options, depth + 1));
    return { kind: 'list', start, end, items };
  }
  const scalar = isAlias(node) ? options.targets.get(node) : node;
  const value = isScalar(scalar) ? scalar.value : undefined;
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return { kind: 'scalar', style: styleOf(node), text, start, end };
}

function styleOf(node: Node): YamlScalar['style'] {
  const type = isScalar(node) ? (node.type ?? '') : '';
  if (type.startsWith('BLOCK')) return 'block';
  return type.startsWith('QUOTE') ? 'quoted' : 'plain';
}

function entryOf({ key, value }: Pair, options: TreeOptions, depth: number): readonly YamlEntry[] {
  if (!isScalar(key) || key.range == null) return [];
  const [keyStart, keyEnd] = key.range;
  const written = isWritten(value) ? nodeOf(value, options, depth) : undefined;
  return [{ key: fieldName(key, options.reading) ?? '', keyStart, keyEnd, value: written }];
}

/** The innermost key or value that contains an offset, or ends there. Undefined: the offset is outside the tree, or between its nodes. */
export function placeAt(root: YamlNode, offset: number): YamlPlace | undefined {
  const steps: string[] = [];
  let node = root;
  while (node.start <= offset && offset <= node.end) {
    const { start, end } = node;
    const here: YamlPlace = { steps, at: 'value', node, start, end };
    if (node.kind === 'scalar') return here;
    if (node.kind === 'list') {
      const index = node.items.findLastIndex(({ start }) => start <= offset);
      const item = node.items[index];
      if (item === undefined) return here;
      steps.push(String(index));
      node = item;
      continue;
    }
    const entry = node.entries.findLast(({ keyStart }) => keyStart <= offset);
    if (entry === undefined) return here;
    const { key, keyStart, keyEnd, value } = entry;
    steps.push(key);
    if (offset <= keyEnd) return { steps, at: 'key', node: value, start: keyStart, end: keyEnd };
    if (value === undefined || offset < value.start) return undefined;
    node = value;
  }
  return undefined;
}

/** The field of a map. */
export function entryAt(node: YamlNode | undefined, step: string): YamlEntry | undefined {
  return node?.kind === 'map' ? node.entries.find(({ key }) => key === step) : undefined;
}

/** The value at the end of a path. */
export function nodeAtSteps(
  root: YamlNode | undefined,
  steps: readonly string[],
): YamlNode | undefined {
  return steps.reduce(
    (node, step) => (node?.kind === 'list' ? node.items[Number(step)] : entryAt(node, step)?.value),
    root,
  );
}
