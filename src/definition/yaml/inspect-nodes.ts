import {
  type Alias,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  type Node,
  type YAMLMap,
} from 'yaml';

/** What is known of a document's nodes after one walk through all of them. */
export interface InspectedNodes {
  /** What each alias stands for; those without an anchor before them are left out. */
  readonly targets: ReadonlyMap<Alias, Node>;
  /** Offsets of the field names that are in their map a second time, in the order of the text. */
  readonly doubles: readonly number[];
}

/**
 * One walk without recursion. The library compares each field name with all before it, and walks through the whole document
 * for each alias: a text of some 100 KB would hold up the process for longer than a Lease lasts.
 */
export function inspectNodes({ contents }: Document.Parsed): InspectedNodes {
  const targets = new Map<Alias, Node>();
  const anchors = new Map<string, Node>();
  const doubles: number[] = [];
  const ahead: unknown[] = [contents];
  while (ahead.length > 0) {
    const node = ahead.pop();
    if (isPair(node)) ahead.push(node.value, node.key);
    else if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target !== undefined) targets.set(node, target);
    } else if (isScalar(node) || isCollection(node)) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
      if (isMap(node)) pushDoubles(node, doubles);
      if (isCollection(node)) {
        for (let index = node.items.length - 1; index >= 0; index--) ahead.push(node.items[index]);
      }
    }
  }
  return { targets, doubles: doubles.toSorted((a, b) => a - b) };
}

/** Names are equal when their values are: `1` and `"1"` are not, nor is one NaN to another. */
function pushDoubles({ items }: YAMLMap, doubles: number[]): void {
  const seen = new Set<unknown>();
  for (const { key } of items) {
    if (!isScalar(key) || Number.isNaN(key.value)) continue;
    if (seen.has(key.value)) doubles.push(key.range?.[0] ?? 0);
    seen.add(key.value);
  }
}
