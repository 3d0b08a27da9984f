import { type CheckedDocument, diagnosticLines, diagnosticText, type ManifestCheck } from '#check';
import {
  arrangeDiagnostics,
  type Diagnostic,
  isDnsLabel,
  type LocatedDefinition,
} from '#definition';
import type { SourceManifest } from '../sources/definition-source.ts';
import { manifestControls } from './definition-controls.ts';

/** A document with a name: it claims the name for its manifest. */
export interface NamedDocument {
  readonly name: string;
  readonly manifest: SourceManifest;
  /** Undefined: it has errors. */
  readonly located?: LocatedDefinition;
  /** Control annotations of its object, also for a document with errors. */
  readonly controls: Readonly<Record<string, string>>;
  /** `file:line:column: message. Hint`, one each. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/** A parsed manifest. */
export interface ParsedManifest {
  readonly manifest: SourceManifest;
  /** In the order of the manifest; the first one of each name. */
  readonly documents: readonly NamedDocument[];
  /** Errors without a named document, or of a duplicate name, one line each. */
  readonly otherErrors: readonly string[];
  /** All diagnostics, sorted. */
  readonly diagnostics: readonly Diagnostic[];
  /** False: it has errors or cannot be read, so it may contain other documents. */
  readonly isValid: boolean;
}

/** Parses one manifest. Pure. */
export function parseManifest(text: SourceManifest, check: ManifestCheck): ParsedManifest {
  if (text.unreadable !== undefined) {
    const diagnostics = [unreadable(text.file, text.unreadable)];
    const otherErrors = diagnostics.map(diagnosticText);
    return { manifest: text, documents: [], otherErrors, diagnostics, isValid: false };
  }
  const checked = check(text);
  const documents = new Map<string, NamedDocument>();
  for (const document of checked.documents) {
    const named = namedDocument(document, text, checked.isComplete);
    if (named !== undefined && !documents.has(named.name)) documents.set(named.name, named);
  }
  const listed = new Set([...documents.values()].flatMap(({ errors }) => errors));
  const all = diagnosticLines(checked.diagnostics, 'error');
  return {
    manifest: text,
    documents: [...documents.values()].map((document) => withErrorsOf(document, all)),
    otherErrors: all.filter((line) => !listed.has(line)),
    diagnostics: arrangeDiagnostics(checked.diagnostics),
    isValid: checked.isComplete && all.length === 0,
  };
}

/** A document that is not used because of errors elsewhere in the manifest has those. */
function withErrorsOf(document: NamedDocument, all: readonly string[]): NamedDocument {
  const isExplained = document.located !== undefined || document.errors.length > 0;
  return isExplained ? document : { ...document, errors: all };
}

/** A value that is no valid name counts as no name. */
function namedDocument(
  { name, located, plan, diagnostics }: CheckedDocument,
  manifest: SourceManifest,
  isWhole: boolean,
): NamedDocument | undefined {
  if (name === undefined || !isDnsLabel(name)) return undefined;
  return {
    name,
    manifest,
    // The document may continue after a syntax error.
    ...(plan !== undefined && isWhole && located !== undefined ? { located } : {}),
    controls: manifestControls(located?.document),
    errors: diagnosticLines(diagnostics, 'error'),
    warnings: diagnosticLines(diagnostics, 'warning'),
  };
}

function unreadable(file: string, reason: string): Diagnostic {
  return {
    severity: 'error',
    code: 'yaml-syntax',
    message: `Cannot be read: ${reason}`,
    file,
    line: 1,
    column: 1,
    path: '',
  };
}

/** Selects manifests whose diagnostics have changed, so that each is reported once. */
export class FindingsTracker {
  /** Reported diagnostics, by origin. */
  #reported: ReadonlyMap<string, string> = new Map();

  /** Returns the manifests with new diagnostics, or without earlier ones. */
  update(manifests: readonly ParsedManifest[]): readonly ParsedManifest[] {
    const before = this.#reported;
    const textOf = ({ diagnostics }: ParsedManifest) => JSON.stringify(diagnostics);
    this.#reported = new Map(manifests.map((parsed) => [keyOf(parsed), textOf(parsed)]));
    return manifests.filter((parsed) => textOf(parsed) !== (before.get(keyOf(parsed)) ?? '[]'));
  }
}

function keyOf({ manifest: { origin } }: ParsedManifest): string {
  return `${origin.source} ${origin.ref}`;
}
