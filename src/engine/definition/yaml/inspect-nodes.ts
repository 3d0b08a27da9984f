import {
  type Alias,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  type Node,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import { holdsOpenExpression } from './cut-expression.ts';
import { isMergeKey } from './scalar-value.ts';

/** Aliases, duplicate keys and cut expressions of a document. */
export interface InspectedNodes {
  /** The target node of each alias; aliases without a preceding anchor are omitted. */
  readonly targets: ReadonlyMap<Alias, Node>;
  /** Offsets of keys that occur a second time in their map, in ascending order. */
  readonly duplicateKeys: readonly number[];
  /** Offsets of plain scalars with an expression that does not end in them, in the order of the document. */
  readonly openExpressions: readonly number[];
}

/**
 * Inspects all nodes in one iterative pass. The library takes quadratic time for duplicate keys and aliases: a file
 * of 100 KB would block the process for longer than the Lease duration.
 */
export function inspectNodes({ contents }: Document.Parsed): InspectedNodes {
  const targets = new Map<Alias, Node>();
  const anchors = new Map<string, Node>();
  const duplicates: number[] = [];
  const openExpressions: number[] = [];
  const ahead: unknown[] = [contents];
  while (ahead.length > 0) {
    const node = ahead.pop();
    if (isPair(node)) ahead.push(node.value, node.key);
    else if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target !== undefined) targets.set(node, target);
    } else if (isScalar(node) || isCollection(node)) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
      if (isMap(node)) pushDuplicateKeys(node, duplicates);
      if (isScalar(node) && holdsCutExpression(node)) openExpressions.push(node.range?.[0] ?? 0);
      if (isCollection(node)) {
        for (let index = node.items.length - 1; index >= 0; index--) ahead.push(node.items[index]);
      }
    }
  }
  return { targets, duplicateKeys: duplicates.toSorted((a, b) => a - b), openExpressions };
}

function holdsCutExpression({ type, value }: Scalar): boolean {
  return type === 'PLAIN' && typeof value === 'string' && holdsOpenExpression(value);
}

/** Keys are compared by value: `1` and `"1"` differ, and NaN does not equal NaN. A map may be merged with several others. */
function pushDuplicateKeys({ items }: YAMLMap, duplicates: number[]): void {
  const seen = new Set<unknown>();
  for (const { key } of items) {
    if (!isScalar(key) || Number.isNaN(key.value) || isMergeKey(key)) continue;
    if (seen.has(key.value)) duplicates.push(key.range?.[0] ?? 0);
    seen.add(key.value);
  }
}
