import { type Json, pointerSteps } from '#util/json.ts';
import { escapedJson } from '#util/yaml-string.ts';
import { readDocuments } from './read-documents.ts';
import { nodeAtSteps, type YamlNode } from './yaml-tree.ts';

/** A value of a YAML document that takes the place of another one. */
export interface ValueReplacement {
  /** JSON pointer of a value that exists. */
  readonly pointer: string;
  readonly value: Json;
}

/**
 * Replaces values in one document of a text, read as kubectl does, and leaves everything else as it is written, comments and quotes included.
 * Values that do not exist are skipped. New lists and maps are written in flow style.
 * @param isMeant chooses the document by its content.
 */
export function replaceValues(
  text: string,
  isMeant: (document: Json) => boolean,
  replacements: readonly ValueReplacement[],
): string {
  const { documents, syntaxErrors } = readDocuments(text, '', 'kubectl');
  const meant = documents.find(({ value }) => isMeant(value));
  if (meant === undefined || syntaxErrors.length > 0) return text;
  const tree = meant.tree();
  const edits = replacements.flatMap(({ pointer, value }) => {
    const node = nodeAtSteps(tree, pointerSteps(pointer));
    return node === undefined ? [] : [{ ...rangeOf(node, text), written: escapedJson(value) }];
  });
  return edits
    .toSorted((a, b) => b.start - a.start)
    .reduce(
      (result, { start, end, written }) => result.slice(0, start) + written + result.slice(end),
      text,
    );
}

/** A block list, map or text ends after its line break, which stays. */
function rangeOf({ start, end }: YamlNode, text: string) {
  return { start, end: start + text.slice(start, end).trimEnd().length };
}
