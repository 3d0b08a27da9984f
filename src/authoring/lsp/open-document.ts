import { fileURLToPath } from 'node:url';
import { type DefinitionParts, type ParsedText, parseText } from './parsed-text.ts';
import { TextDocument } from './protocol.ts';

/** A document that a client has opened, with what is known about its current text. */
export class OpenDocument {
  readonly document: TextDocument;
  /** Path of the file. Undefined: it is in no file. */
  readonly path: string | undefined;
  #parsed: ParsedText | undefined;
  #parsedVersion = -1;

  constructor(document: TextDocument) {
    this.document = document;
    const path = pathOf(document.uri);
    this.path = path?.endsWith('/') ? undefined : path;
  }

  change(changes: Parameters<typeof TextDocument.update>[1], version: number): void {
    TextDocument.update(this.document, changes, version);
  }

  /** The parsed text. While it has syntax errors, a definition from which children have disappeared has the parts of the last text without. */
  parsed(isSample = false): ParsedText {
    const { version } = this.document;
    const isKnown = this.#parsedVersion === version && this.#parsed?.isSample === isSample;
    if (this.#parsed === undefined || !isKnown) {
      this.#parsed = withKnownParts(parseText(this.document.getText(), isSample), this.#parsed);
      this.#parsedVersion = version;
    }
    return this.#parsed;
  }
}

/** The path of a URI. Undefined: it names no file of this machine. */
export function pathOf(uri: string): string | undefined {
  if (!uri.startsWith('file:')) return undefined;
  try {
    const path = fileURLToPath(uri);
    return path.includes('\0') ? undefined : path;
  } catch {
    // Another host, or a slash that is encoded.
    return undefined;
  }
}

function withKnownParts(parsed: ParsedText, last: ParsedText | undefined): ParsedText {
  if (!parsed.hasSyntaxErrors || last === undefined) return parsed;
  return {
    ...parsed,
    documents: parsed.documents.map((document, index) => {
      const known = last.documents[index]?.parts;
      const isPoorer = known !== undefined && sizeOf(document.parts) < sizeOf(known);
      return isPoorer ? { ...document, parts: known } : document;
    }),
  };
}

function sizeOf(parts: DefinitionParts | undefined): number {
  if (parts === undefined) return 0;
  const { children, reads, vars } = parts.definition;
  return 1 + children.length + reads.length + Object.keys(vars).length;
}
