import type { Diagnostic, LocatedDefinition } from '../../definition/index.ts';
import { isJsonObject } from '../../util/json.ts';
import { marksIn } from '../objects/index.ts';
import type { RefusedFile } from '../refused-file.ts';
import type { SourceText } from '../sources/index.ts';
import type { RefusedText, WantedDefinition, WantedSet } from '../wanted-definition.ts';
import type { Choice, Chosen, Outrun } from './choose-definitions.ts';
import { linesOf } from './diagnostic-lines.ts';
import type { KnownDefinition } from './known-definition.ts';
import type { RefusedPart, TextState } from './text-state.ts';

/** The set for the manager and for whoever shows definitions. Pure. */
export function wantedSet(
  texts: readonly TextState[],
  choice: Choice,
  known: ReadonlyMap<string, KnownDefinition>,
): WantedSet {
  const byName = new Map(choice.chosen.map((chosen) => [chosen.name, chosen]));
  const runs = (name: string | undefined, { text }: TextState) =>
    name !== undefined && byName.get(name)?.text === text;
  const drafts = texts.flatMap((state) => state.refused.flatMap(({ draft }) => draft ?? []));
  const leaving = texts.filter(({ text }) => text.removal !== undefined && !runsAny(text, choice));
  const removed = leaving.flatMap((state) => removedDraft(state, byName));
  return {
    definitions: [
      ...choice.chosen.map((chosen) => wanted(chosen, known.get(chosen.name))),
      ...removed,
    ],
    lettingGo: leaving
      .map(({ text }) => text.origin.ref)
      .filter((name) => !removed.some(({ origin }) => origin?.ref === name)),
    refused: texts.flatMap((state) =>
      refusedFile(
        state,
        state.refused.filter(({ name }) => !runs(name, state)),
        choice.outrun.filter(({ name, text }) => text === state.text && !runs(name, state)),
      ),
    ),
    refusedTexts: [
      ...texts.flatMap(({ text, refused }) => refused.map((part) => refusedText(text, part))),
      ...choice.outrun.map(outrunText),
    ],
    broken: [...drafts, ...choice.outrun.map(({ located }) => located)].filter(
      ({ definition }) =>
        !byName.has(definition.name) &&
        !removed.some(({ located }) => located.definition.name === definition.name),
    ),
  };
}

function runsAny(text: SourceText, { chosen }: Choice): boolean {
  return chosen.some((each) => each.text === text);
}

/** A definition that a user deletes though no text of it was ever good: what is known of it is enough to remove it. */
function removedDraft(
  { text, refused }: TextState,
  byName: ReadonlyMap<string, Chosen>,
): readonly WantedDefinition[] {
  const { origin, removal } = text;
  const draft = refused.find(({ draft }) => draft !== undefined)?.draft;
  if (removal === undefined || draft === undefined) return [];
  return byName.has(draft.definition.name) ? [] : [{ located: draft, origin, removal }];
}

function wanted(
  { located, text, refusal, warnings }: Chosen,
  known: KnownDefinition | undefined,
): WantedDefinition {
  const { name: _, origin: __, ...onRecord } = known ?? { name: '' };
  const inText = marksIn(annotationsOf(located));
  const { revision } = located.definition;
  return {
    located,
    origin: text.origin,
    ...(text.removal && { removal: text.removal }),
    ...(refusal && { refusal }),
    ...(warnings && { warnings }),
    ...inText,
    ...onRecord,
    // Either may approve, and the other one may still have what it has approved before.
    ...(inText.approvedDeletions === revision && { approvedDeletions: revision }),
  };
}

function annotationsOf({ document }: LocatedDefinition) {
  const { metadata } = document;
  const annotations = isJsonObject(metadata) ? metadata.annotations : undefined;
  return isJsonObject(annotations) ? annotations : undefined;
}

/** A text of which something does not run, if there is anything. */
function refusedFile(
  { text }: TextState,
  parts: readonly RefusedPart[],
  outrun: readonly Outrun[],
): readonly RefusedFile[] {
  if (parts.length + outrun.length === 0) return [];
  const lines = [
    ...parts.flatMap(({ refusal }) => refusal.diagnostics),
    ...outrun.flatMap(({ diagnostic }) => linesOf(text, [diagnostic])),
  ];
  return [
    {
      file: text.file,
      definitions: parts.length + outrun.length,
      diagnostics: [...new Set(lines)],
    },
  ];
}

function refusedText({ origin }: TextState['text'], part: RefusedPart): RefusedText {
  const { name, draft, refusal } = part;
  return {
    origin,
    ...(name === undefined ? {} : { name }),
    ...(draft === undefined ? {} : { document: draft.document }),
    refusal,
  };
}

function outrunText({ name, located, text, diagnostic }: Outrun): RefusedText {
  const { revision } = located.definition;
  const diagnostics = linesOf(text, [diagnostic]);
  return {
    origin: text.origin,
    name,
    document: located.document,
    refusal: { revision, message: diagnostic.message, diagnostics },
  };
}

/** What is to be said of a text: its own mistakes and warnings, and what it wants that is another one's. */
export function findingsOf(state: TextState, choice: Choice): readonly Diagnostic[] {
  return [
    ...state.diagnostics,
    ...choice.outrun.filter(({ text }) => text === state.text).map(({ diagnostic }) => diagnostic),
    ...choice.warnings.filter(({ file }) => file === state.text.file),
  ];
}
