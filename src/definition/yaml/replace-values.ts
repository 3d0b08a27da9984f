import { type Document, isNode, parseAllDocuments } from 'yaml';
import { type Json, pointerSteps } from '../../util/json.ts';

/** A value of a YAML document that takes the place of another one. */
export interface ValueReplacement {
  /** JSON pointer of a value that exists. */
  readonly pointer: string;
  readonly value: Json;
}

/**
 * Replaces values in one document of a text and leaves everything else as it is written, comments and quotes included. Values that do not
 * exist are skipped. New lists and maps are written in flow style.
 * @param isMeant chooses the document by its content.
 */
export function replaceValues(
  text: string,
  isMeant: (document: unknown) => boolean,
  replacements: readonly ValueReplacement[],
): string {
  const documents: readonly Document[] = [...parseAllDocuments(text)];
  const document = documents.find((each) => each.errors.length === 0 && isMeant(each.toJS()));
  if (document === undefined) return text;
  const edits = replacements.flatMap(({ pointer, value }) => {
    const range = rangeOf(document, pointerSteps(pointer), text);
    return range === undefined ? [] : [{ ...range, written: JSON.stringify(value) }];
  });
  return edits
    .toSorted((a, b) => b.start - a.start)
    .reduce(
      (result, { start, end, written }) => result.slice(0, start) + written + result.slice(end),
      text,
    );
}

function rangeOf(
  document: Document,
  steps: readonly string[],
  text: string,
): { readonly start: number; readonly end: number } | undefined {
  const path = steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step));
  const node = document.getIn(path, true);
  if (!isNode(node) || node.range === undefined || node.range === null) return undefined;
  const [start, end] = node.range;
  // A block list, map or text ends after its line break, which stays.
  return { start, end: start + text.slice(start, end).trimEnd().length };
}
