import { entryAt, nodeAtSteps, type YamlEntry, type YamlNode } from '#definition';
import type { ParsedDocument, ParsedText } from './parsed-text.ts';
import { SymbolKind } from './protocol.ts';

/** A named part of a document, with its parts. Offsets count in the text. */
export interface OutlineItem {
  readonly name: string;
  readonly detail: string;
  readonly kind: SymbolKind;
  readonly start: number;
  readonly end: number;
  /** Offsets of the name. */
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly items: readonly OutlineItem[];
}

/** The named parts of all documents: children, vars, reads, status fields, steps of tests. */
export function outline({ documents }: ParsedText): readonly OutlineItem[] {
  return documents.flatMap(outlineOfDocument);
}

/** Lists and maps of `spec` with named parts, and the field that names a part; undefined: the key does. */
const sections: readonly (readonly [
  path: readonly string[],
  name: string | undefined,
  kind: SymbolKind,
])[] = [
  [['spec', 'vars'], undefined, SymbolKind.Variable],
  [['spec', 'reads'], 'id', SymbolKind.Interface],
  [['spec', 'children'], 'id', SymbolKind.Object],
  [['spec', 'onDelete', 'children'], 'id', SymbolKind.Object],
  [['spec', 'install'], 'id', SymbolKind.Object],
  [['spec', 'status'], undefined, SymbolKind.Field],
  [['spec', 'conditions'], 'type', SymbolKind.Boolean],
  [['spec', 'events'], 'reason', SymbolKind.Event],
  [['spec', 'patches'], 'id', SymbolKind.Object],
  [['spec', 'steps'], 'name', SymbolKind.Method],
];

function outlineOfDocument({ kind, tree }: ParsedDocument): readonly OutlineItem[] {
  if (tree === undefined) return [];
  const name = nodeAtSteps(tree, ['metadata', 'name']);
  const detail = kind === 'Object' ? textOf(entryAt(tree, 'kind')?.value) : kind;
  const title = textOf(name) || detail || kind;
  const spot = name ?? { start: tree.start, end: tree.start };
  return [
    {
      name: title,
      detail,
      kind: SymbolKind.Class,
      start: tree.start,
      end: tree.end,
      nameStart: spot.start,
      nameEnd: spot.end,
      items: (kind === 'Object' ? [] : sections).flatMap(([path, by, symbol]) => {
        const parent = nodeAtSteps(tree, path.slice(0, -1));
        const section = entryAt(parent, path.at(-1) ?? '');
        return section?.value === undefined
          ? []
          : [
              {
                name: path.slice(1).join('.'),
                detail: '',
                kind: SymbolKind.Namespace,
                ...spanOfEntry(section),
                items: partsOf(section.value, by, symbol),
              },
            ];
      }),
    },
  ];
}

function partsOf(node: YamlNode, by: string | undefined, kind: SymbolKind): readonly OutlineItem[] {
  if (node.kind === 'map' && by === undefined)
    return node.entries.map((entry) => ({
      name: entry.key,
      detail: '',
      kind,
      ...spanOfEntry(entry),
      items: [],
    }));
  if (node.kind !== 'list' || by === undefined) return [];
  return node.items.flatMap((item) => {
    const name = entryAt(item, by)?.value;
    if (name === undefined || textOf(name) === '') return [];
    const manifestKind = nodeAtSteps(item, ['template', 'kind']) ?? nodeAtSteps(item, ['kind']);
    return [
      {
        name: textOf(name),
        detail: textOf(manifestKind),
        kind,
        start: item.start,
        end: item.end,
        nameStart: name.start,
        nameEnd: name.end,
        items: [],
      },
    ];
  });
}

function textOf(node: YamlNode | undefined): string {
  return node?.kind === 'scalar' ? node.text : '';
}

function spanOfEntry({ keyStart, keyEnd, value }: YamlEntry) {
  return { start: keyStart, end: value?.end ?? keyEnd, nameStart: keyStart, nameEnd: keyEnd };
}
