import {
  arrangeDiagnostics,
  type Diagnostic,
  isDnsLabel,
  type LocatedDefinition,
} from '../../definition/index.ts';
import type { CheckedDocument, CheckedText } from '../check-text.ts';
import type { SourceText } from '../sources/index.ts';
import type { Refusal } from '../wanted-definition.ts';
import { linesOf } from './diagnostic-lines.ts';

/** What one text says of one definition. */
export interface TextEntry {
  /** The newest version in this text without a mistake. Undefined: none so far. */
  readonly good?: LocatedDefinition;
  /** Why what the text says now is not taken. Undefined: `good` is what it says. */
  readonly refusal?: Refusal;
  /** What is refused, as far as it could be understood. */
  readonly draft?: LocatedDefinition;
  /** What is to be said of `good` though it is taken, one line each. @default none */
  readonly warnings?: readonly string[];
}

/** A document that is refused, or the whole text. */
export interface RefusedPart {
  /** As written, where it can be read and be a name. */
  readonly name?: string;
  readonly draft?: LocatedDefinition;
  readonly refusal: Refusal;
}

/** A text, and what is left of what stood in it before. */
export interface TextState {
  readonly text: SourceText;
  /** By name, in the order of the text; what it no longer says, and might, comes last. */
  readonly entries: ReadonlyMap<string, TextEntry>;
  readonly refused: readonly RefusedPart[];
  /** Of the text as it is now, arranged. */
  readonly diagnostics: readonly Diagnostic[];
  /**
   * Names of refused documents that were not in the text before; `undefined` where none can be read. A name that has vanished may be
   * one of those, misspelt.
   */
  readonly strangers: readonly (string | undefined)[];
  /** False: it cannot be read, or has a syntax error: what is not in it may be. */
  readonly isWhole: boolean;
}

/**
 * The next state of a text. A definition is replaced by its newest version without a mistake, and removed only by a text in which
 * nothing is left that it could be. Pure.
 */
export function nextTextState(
  before: TextState | undefined,
  text: SourceText,
  checked: CheckedText,
): TextState {
  const named = { ...checked, documents: checked.documents.map(withoutWrongName) };
  return named.isWhole ? readWhole(before, text, named) : withSyntaxError(before, text, named);
}

/** A word that can be no name is none: whoever asked a server for it, or counted by it, would take it for something else. */
function withoutWrongName(document: CheckedDocument): CheckedDocument {
  if (document.name === undefined || isDnsLabel(document.name)) return document;
  const { name: _, located: __, ...rest } = document;
  return rest;
}

/** The next state of a text of which nothing can be told, and why. Pure. */
export function unreadableState(
  before: TextState | undefined,
  text: SourceText,
  reason: string,
): TextState {
  const diagnostics: readonly Diagnostic[] = [
    {
      severity: 'error',
      code: 'yaml-syntax',
      message: `Cannot be read: ${reason}`,
      file: text.file,
      line: 1,
      column: 1,
      path: '',
    },
  ];
  const refusal = { message: 'The text cannot be read', diagnostics: linesOf(text, diagnostics) };
  return {
    text,
    entries: keptEntries(before, refusal),
    refused: [{ refusal }],
    diagnostics,
    strangers: [],
    isWhole: false,
  };
}

function withSyntaxError(
  before: TextState | undefined,
  text: SourceText,
  checked: CheckedText,
): TextState {
  const diagnostics = arrangeDiagnostics(checked.diagnostics);
  const refusal = {
    message: 'The newest text has a syntax error',
    diagnostics: linesOf(text, diagnostics),
  };
  const entries = new Map<string, TextEntry>();
  const refused: RefusedPart[] = [];
  for (const { name, located } of checked.documents) {
    if (name === undefined || entries.has(name)) continue;
    const good = before?.entries.get(name)?.good;
    entries.set(name, {
      refusal,
      ...(good === undefined ? {} : { good }),
      ...(located === undefined ? {} : { draft: located }),
    });
    refused.push({ name, refusal });
  }
  for (const [name, entry] of keptEntries(before, refusal))
    if (!entries.has(name)) entries.set(name, entry);
  return {
    text,
    entries,
    refused: refused.length === 0 ? [{ refusal }] : refused,
    diagnostics,
    strangers: [],
    isWhole: false,
  };
}

function readWhole(
  before: TextState | undefined,
  text: SourceText,
  checked: CheckedText,
): TextState {
  const entries = new Map<string, TextEntry>();
  const refused: RefusedPart[] = [];
  for (const document of checked.documents) {
    const { located, isAccepted } = document;
    if (located !== undefined && isAccepted) {
      const warnings = linesOf(text, arrangeDiagnostics(document.diagnostics), 'warning');
      const said = warnings.length === 0 ? {} : { warnings };
      entries.set(located.definition.name, { good: located, ...said });
      continue;
    }
    const part = refusedPart(document, text);
    refused.push(part);
    const { name, draft, refusal } = part;
    if (name === undefined || entries.has(name)) continue;
    const good = before?.entries.get(name)?.good;
    const drafted = draft === undefined ? {} : { draft };
    entries.set(name, { refusal, ...drafted, ...(good === undefined ? {} : { good }) });
  }
  const isSaid = (name: string) => entries.get(name)?.refusal === undefined;
  const strangers = refused
    .map(({ name }) => name)
    .filter((name) => name === undefined || !(before?.entries.has(name) || isSaid(name)));
  if (strangers.length > 0) {
    const refusal = {
      message: 'It is not in the newest text, which has mistakes',
      diagnostics: refused.flatMap((part) => part.refusal.diagnostics),
    };
    for (const [name, entry] of keptEntries(before, refusal))
      if (!entries.has(name)) entries.set(name, entry);
  }
  const diagnostics = arrangeDiagnostics(checked.diagnostics);
  return { text, entries, refused, diagnostics, strangers, isWhole: true };
}

function refusedPart(document: CheckedDocument, text: SourceText): RefusedPart {
  const { name, located, diagnostics } = document;
  const refusal = {
    ...(located === undefined ? {} : { revision: located.definition.revision }),
    message: 'The newest text has mistakes',
    diagnostics: linesOf(text, arrangeDiagnostics(diagnostics)),
  };
  return {
    ...(name === undefined ? {} : { name }),
    ...(located === undefined ? {} : { draft: located }),
    refusal,
  };
}

/** What goes on of what stood in the text before. */
function keptEntries(
  before: TextState | undefined,
  refusal: Refusal,
): ReadonlyMap<string, TextEntry> {
  const entries = [...(before?.entries ?? [])].flatMap(
    ([name, { good, draft }]): readonly [string, TextEntry][] => [
      [
        name,
        {
          refusal,
          ...(good === undefined ? {} : { good }),
          ...(draft === undefined ? {} : { draft }),
        },
      ],
    ],
  );
  return new Map(entries);
}
