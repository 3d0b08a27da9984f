import { compile, type OperatorPlan, type SchemaSource } from '../compile/index.ts';
import {
  createDefinitionParser,
  type DefinitionParser,
  type Diagnostic,
  type LocatedDefinition,
  type ParsedDefinitions,
  type ParsedDocument,
} from '../definition/index.ts';
import type { DefinitionText } from './definition-text.ts';

/** Parses and compiles one text. Each document is accepted or refused by itself. Pure. */
export type TextCheck = (text: DefinitionText) => CheckedText;

interface CheckOptions {
  readonly parser: DefinitionParser;
  readonly schemas: SchemaSource | undefined;
}

/** A text after every check that needs no other text and no cluster. */
export interface CheckedText {
  /** No syntax error: what is not among the documents is not in the text. */
  readonly isWhole: boolean;
  /** In the order of the text. */
  readonly documents: readonly CheckedDocument[];
  /** Of all documents, and those of the text itself. Not arranged. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface CheckedDocument {
  /** As written, where there is one. */
  readonly name?: string;
  /** As far as it could be understood. */
  readonly located?: LocatedDefinition;
  /** No mistake was found in it. */
  readonly isAccepted: boolean;
  /** Undefined: it is refused. */
  readonly plan?: OperatorPlan;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * One check is for many texts: the schema of the format is compiled only once. `schemas`: undefined = nothing is known of other kinds.
 */
export function createTextCheck(schemas: SchemaSource | undefined): TextCheck {
  const parser = createDefinitionParser();
  return (text) => checkText(text, { parser, schemas });
}

/** Two halves of one check, for a start that looks at texts twice. */
export interface RememberedCheck {
  /** Checks, and keeps the result. */
  readonly remember: TextCheck;
  /** Gives out what was kept, once; checks what was not, and keeps nothing. */
  readonly recall: TextCheck;
}

/** Plans are large: what was kept is forgotten as soon as it is given out. */
export function rememberChecks(check: TextCheck): RememberedCheck {
  const kept = new Map<string, CheckedText>();
  const keyOf = ({ file, text }: DefinitionText) => `${file}\0${text}`;
  return {
    remember(text) {
      const result = check(text);
      kept.set(keyOf(text), result);
      return result;
    },
    recall(text) {
      const result = kept.get(keyOf(text)) ?? check(text);
      kept.delete(keyOf(text));
      return result;
    },
  };
}

function checkText({ file, text }: DefinitionText, { parser, schemas }: CheckOptions): CheckedText {
  const parsed = parser.parse(text, file);
  const compiled: Diagnostic[] = [];
  const documents = parsed.documents.map((document) => {
    // Of a refused one only so that all mistakes are told at once.
    const result = document.located && compile(document.located, schemas && { schemas });
    compiled.push(...(result?.diagnostics ?? []));
    return checkedDocument(document, result);
  });
  const found = [...parsed.diagnostics, ...compiled];
  const diagnostics = isEmpty(parsed) ? [...found, nothingIn(file)] : found;
  return { isWhole: parsed.isWhole, documents, diagnostics };
}

function checkedDocument(
  { name, located, isAccepted, diagnostics }: ParsedDocument,
  result: ReturnType<typeof compile> | undefined,
): CheckedDocument {
  const hasMistakes = result !== undefined && result.plan === undefined;
  return {
    isAccepted: isAccepted && located !== undefined && !hasMistakes,
    ...(name === undefined ? {} : { name }),
    ...(located === undefined ? {} : { located }),
    ...(isAccepted && result?.plan !== undefined ? { plan: result.plan } : {}),
    diagnostics: [...diagnostics, ...(result?.diagnostics ?? [])],
  };
}

function isEmpty({ documents, diagnostics }: ParsedDefinitions): boolean {
  return documents.length === 0 && diagnostics.length === 0;
}

/** A warning only: an empty file beside good ones is no reason to refuse anything. */
function nothingIn(file: string): Diagnostic {
  const message = 'Expected a definition, found nothing';
  return {
    severity: 'warning',
    code: 'missing-field',
    message,
    file,
    line: 1,
    column: 1,
    path: '',
  };
}
