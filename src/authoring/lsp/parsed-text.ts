import {
  type ChildDefinition,
  definitionKind,
  type LocatedDefinition,
  operatorFuzzKind,
  operatorTestKind,
  readBoundedDocuments,
  resolveDefinition,
  valueAt,
  type YamlNode,
} from '#definition';
import { httpKinds } from '#http-objects/kinds/index.ts';
import { isJsonObject, type Json, pointerSteps, pointerTo } from '#util/json.ts';

/** A document of a format of Homeostat, or an object: behind HTTP, or of a file with samples. */
export type DocumentKind = 'OperatorDefinition' | 'OperatorTest' | 'OperatorFuzz' | 'Object';

/** A document in a file, as far as it can be read. */
export interface ParsedDocument {
  readonly kind: DocumentKind;
  readonly value: Json;
  readonly tree: YamlNode | undefined;
  /** The parts of a definition that can be read. Undefined: it has no name or no kind yet, or the document is no definition. */
  readonly parts: DefinitionParts | undefined;
}

export type DefinitionParts = Pick<LocatedDefinition, 'definition' | 'pointers'>;

/** The documents in a text, by their offsets: those of Homeostat, in a file with samples all. */
export interface ParsedText {
  readonly text: string;
  readonly isSample: boolean;
  readonly hasSyntaxErrors: boolean;
  readonly documents: readonly ParsedDocument[];
}

/** Blanks only before the key: from each of many empty lines, `\s` would search through all that follow. */
const ownVersion = /^[ \t]*["']?apiVersion["']?\s*:\s*["']?homeostat\.dev\//m;

/** Whether a text may contain a document of Homeostat. Other YAML files are none of its concern. */
export function isOwnText(text: string): boolean {
  return ownVersion.test(text);
}

/** Whether a document has this kind; also in a text that cannot be parsed. */
export function hasKind(text: string, kind: string): boolean {
  return new RegExp(`^[ \\t]*["']?kind["']?\\s*:\\s*["']?${kind}\\b`, 'm').test(text);
}

/** Reads a text that need not be complete. Does not throw. */
export function parseText(text: string, isSample = false): ParsedText {
  if (!isSample && !isOwnText(text))
    return { text, isSample, hasSyntaxErrors: false, documents: [] };
  const reading = isSample || !hasKind(text, definitionKind) ? 'kubectl' : 'definition';
  const { documents, syntaxErrors } = readBoundedDocuments(text, '', reading);
  return {
    text,
    isSample,
    hasSyntaxErrors: syntaxErrors.length > 0,
    documents: documents.flatMap(({ value, tree }) => {
      const kind = kindOf(value) ?? (isSample && isJsonObject(value) ? 'Object' : undefined);
      if (kind === undefined) return [];
      const parts = kind === definitionKind ? resolveDefinition(value) : undefined;
      return [{ kind, value, tree: tree(), parts }];
    }),
  };
}

/** Whether a text has objects behind HTTP as documents, and no other document of Homeostat. */
export function hasHttpObjects(text: string): boolean {
  const others = [definitionKind, operatorTestKind, operatorFuzzKind];
  return (
    httpKinds.some(({ gvk }) => hasKind(text, gvk.kind)) &&
    !others.some((kind) => hasKind(text, kind))
  );
}

/** Undefined: a document of another API. A document whose kind is missing or mistyped counts as a definition. */
function kindOf(value: Json): DocumentKind | undefined {
  if (!isJsonObject(value)) return undefined;
  const { apiVersion, kind } = value;
  if (typeof apiVersion !== 'string' || !apiVersion.startsWith('homeostat.dev/')) return undefined;
  if (kind === operatorTestKind || kind === operatorFuzzKind) return kind;
  return httpKinds.some(({ gvk }) => gvk.kind === kind) ? 'Object' : definitionKind;
}

/** Offsets of the YAML document that contains an offset. */
export function documentRange(
  text: string,
  offset: number,
): { readonly start: number; readonly end: number } {
  const marks = [...text.matchAll(/^---(?=\s|$)/gm)].map(({ index }) => index);
  return {
    start: marks.findLast((mark) => mark < offset) ?? 0,
    end: marks.find((mark) => mark >= offset) ?? text.length,
  };
}

/** The document at an offset. Undefined: a document of another API, or an empty one. */
export function documentAt(
  { text, documents }: ParsedText,
  offset: number,
): ParsedDocument | undefined {
  const { start, end } = documentRange(text, offset);
  return documents.find(
    ({ tree }) => tree !== undefined && start <= tree.start && tree.start < end,
  );
}

/** The value at the end of a path. */
export function valueAtSteps(root: Json | undefined, steps: readonly string[]): unknown {
  return valueAt(root, steps.reduce<string>(pointerTo, ''));
}

/** The child of a definition in which a path ends, and the field of the child: `template`. */
export function childOf(
  parts: DefinitionParts | undefined,
  steps: readonly string[],
): { readonly child: ChildDefinition; readonly field: string | undefined } | undefined {
  if (parts === undefined) return undefined;
  const { definition, pointers } = parts;
  const { onDelete, install = [] } = definition;
  const children = [...definition.children, ...(onDelete?.children ?? []), ...install];
  const places = [...pointers.children, ...pointers.onDelete, ...(pointers.install ?? [])];
  for (const [index, pointer] of places.entries()) {
    const start = pointerSteps(pointer);
    const child = children[index];
    if (child !== undefined && start.every((step, at) => steps[at] === step))
      return { child, field: steps[start.length] };
  }
  return undefined;
}
