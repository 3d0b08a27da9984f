/** Answers of the protocol: the results of the modules beside it, with lines and columns in place of offsets. */
import { acceptanceOf } from './accept-warning.ts';
import { complete } from './complete.ts';
import { type FixContext, fixOf } from './fixes.ts';
import { describe } from './hover.ts';
import type { Knowledge } from './knowledge.ts';
import { type OutlineItem, outline } from './outline.ts';
import type { ParsedText } from './parsed-text.ts';
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

/** A document that a client has opened, as it is now. */
export interface AskedDocument {
  readonly document: TextDocument;
  readonly parsed: ParsedText;
}

export function completionsOf(
  { document, parsed }: AskedDocument,
  position: Position,
  knowledge: Knowledge,
): readonly CompletionItem[] {
  const { proposals, ...word } = complete(parsed, document.offsetAt(position), knowledge);
  const range = rangeOf(document, word);
  return proposals.map(({ label, kind, detail, documentation, text, rank, isContinued }) => ({
    label,
    kind,
    detail,
    documentation: markdown(documentation),
    sortText: `${rank} ${label}`,
    filterText: label,
    // The lines of a text have their indentation.
    insertTextMode: InsertTextMode.asIs,
    textEdit: { range, newText: text },
    // A client may ask again when it has inserted the text: the extension for VS Code does.
    ...(isContinued && { data: { isContinued } }),
  }));
}

export function hoverOf(
  { document, parsed }: AskedDocument,
  position: Position,
  knowledge: Knowledge,
): Hover | null {
  const description = describe(parsed, document.offsetAt(position), knowledge);
  if (description === undefined) return null;
  return { contents: markdown(description.markdown), range: rangeOf(document, description) };
}

export function definitionOf(
  { document, parsed }: AskedDocument,
  position: Position,
): Location | null {
  const target = targetAt(parsed, document.offsetAt(position));
  return target === undefined ? null : { uri: document.uri, range: rangeOf(document, target) };
}

export function referencesOf(
  { document, parsed }: AskedDocument,
  position: Position,
  { includeDeclaration }: { readonly includeDeclaration: boolean },
): readonly Location[] {
  const [declaration, ...names] = referencesAt(parsed, document.offsetAt(position));
  if (declaration === undefined) return [];
  return [...(includeDeclaration ? [declaration] : []), ...names].map((target) => ({
    uri: document.uri,
    range: rangeOf(document, target),
  }));
}

export function symbolsOf({ document, parsed }: AskedDocument): readonly DocumentSymbol[] {
  const symbolOf = (item: OutlineItem): DocumentSymbol => ({
    name: item.name,
    detail: item.detail,
    kind: item.kind,
    range: rangeOf(document, item),
    selectionRange: rangeOf(document, { start: item.nameStart, end: item.nameEnd }),
    children: item.items.map(symbolOf),
  });
  return outline(parsed).map(symbolOf);
}

/** Each fix is checked with a changed text, which takes as long as a check: a selection of the whole file has only the first ones. */
const maxFixes = 10;

export async function fixesOf(
  context: FixContext & AskedDocument,
  { diagnostics, only }: CodeActionContext,
): Promise<readonly CodeAction[]> {
  if (only !== undefined && !only.includes(CodeActionKind.QuickFix)) return [];
  const { document, parsed } = context;
  const actions: CodeAction[] = [];
  for (const diagnostic of diagnostics) {
    if (actions.length >= maxFixes) break;
    const fix = await fixOf(diagnostic, context);
    const offset = document.offsetAt(diagnostic.range.start);
    const acceptance = acceptanceOf(diagnostic, parsed, offset);
    for (const each of [fix, acceptance]) {
      if (each === undefined) continue;
      const edit = { range: rangeOf(document, each), newText: each.text };
      actions.push({
        title: each.title,
        kind: CodeActionKind.QuickFix,
        diagnostics: [diagnostic],
        isPreferred: each === fix,
        edit: { changes: { [document.uri]: [edit] } },
      });
    }
  }
  return actions;
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
