/** Answers of the protocol: the results of the modules beside it, with lines and columns in place of offsets. */
import type { TextChecker } from './check-text.ts';
import { complete } from './complete.ts';
import { fixOf } from './fixes.ts';
import { describe } from './hover.ts';
import type { Knowledge } from './knowledge.ts';
import type { OpenDocument } from './open-document.ts';
import { type OutlineItem, outline } from './outline.ts';
import {
  type CodeAction,
  type CodeActionContext,
  CodeActionKind,
  type CompletionItem,
  type DocumentSymbol,
  type Hover,
  InsertTextMode,
  type Location,
  MarkupKind,
  type Position,
  type Range,
  type TextDocument,
} from './protocol.ts';
import { referencesAt, targetAt } from './targets.ts';

export function completionsOf(
  open: OpenDocument,
  position: Position,
  knowledge: Knowledge,
): readonly CompletionItem[] {
  const { document } = open;
  const { proposals, ...word } = complete(open.parsed(), document.offsetAt(position), knowledge);
  const range = rangeOf(document, word);
  return proposals.map(({ label, kind, detail, documentation, text, rank }) => ({
    ...{ label, kind, detail, documentation: markdown(documentation) },
    sortText: `${rank} ${label}`,
    filterText: label,
    // The lines of a text have their indentation.
    insertTextMode: InsertTextMode.asIs,
    textEdit: { range, newText: text },
  }));
}

export function hoverOf(
  open: OpenDocument,
  position: Position,
  knowledge: Knowledge,
): Hover | null {
  const { document } = open;
  const description = describe(open.parsed(), document.offsetAt(position), knowledge);
  if (description === undefined) return null;
  return { contents: markdown(description.markdown), range: rangeOf(document, description) };
}

export function definitionOf(open: OpenDocument, position: Position): Location | null {
  const { document } = open;
  const target = targetAt(open.parsed(), document.offsetAt(position));
  return target === undefined ? null : { uri: document.uri, range: rangeOf(document, target) };
}

export function referencesOf(
  open: OpenDocument,
  position: Position,
  { includeDeclaration }: { readonly includeDeclaration: boolean },
): readonly Location[] {
  const { document } = open;
  const [declaration, ...names] = referencesAt(open.parsed(), document.offsetAt(position));
  if (declaration === undefined) return [];
  return [...(includeDeclaration ? [declaration] : []), ...names].map((target) => ({
    uri: document.uri,
    range: rangeOf(document, target),
  }));
}

export function symbolsOf(open: OpenDocument): readonly DocumentSymbol[] {
  const symbolOf = (item: OutlineItem): DocumentSymbol => ({
    name: item.name,
    detail: item.detail,
    kind: item.kind,
    range: rangeOf(open.document, item),
    selectionRange: rangeOf(open.document, { start: item.nameStart, end: item.nameEnd }),
    children: item.items.map(symbolOf),
  });
  return outline(open.parsed()).map(symbolOf);
}

/** Each fix is checked with a changed text, which takes as long as a check: a selection of the whole file has only the first ones. */
const maxFixes = 10;

export function fixesOf(
  { document }: OpenDocument,
  { diagnostics, only }: CodeActionContext,
  checker: TextChecker,
): readonly CodeAction[] {
  if (only !== undefined && !only.includes(CodeActionKind.QuickFix)) return [];
  const actions = diagnostics.values().flatMap((diagnostic): readonly CodeAction[] => {
    const fix = fixOf(diagnostic, { document, checker });
    if (fix === undefined) return [];
    const edit = { range: rangeOf(document, fix), newText: fix.text };
    return [
      {
        title: fix.title,
        kind: CodeActionKind.QuickFix,
        diagnostics: [diagnostic],
        isPreferred: true,
        edit: { changes: { [document.uri]: [edit] } },
      },
    ];
  });
  return actions.take(maxFixes).toArray();
}

function rangeOf(
  document: TextDocument,
  { start, end }: { readonly start: number; readonly end: number },
): Range {
  return { start: document.positionAt(start), end: document.positionAt(end) };
}

function markdown(value: string) {
  return { kind: MarkupKind.Markdown, value };
}
