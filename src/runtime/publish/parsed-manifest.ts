import {
  type CheckedDocument,
  type CheckedManifest,
  diagnosticText,
  type ManifestCheck,
} from '../../check/index.ts';
import {
  arrangeDiagnostics,
  type Diagnostic,
  isDnsLabel,
  type LocatedDefinition,
} from '../../definition/index.ts';
import type { SourceManifest } from '../sources/index.ts';
import { manifestControls } from './definition-controls.ts';

/** A document with a name. */
export interface NamedDocument {
  readonly name: string;
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
    const nameless = diagnostics.map(diagnosticText);
    return { manifest: text, documents: [], otherErrors: nameless, diagnostics, isValid: false };
  }
  const checked = check(text);
  const documents = new Map<string, NamedDocument>();
  for (const document of checked.documents) {
    const named = namedDocument(document, checked.isComplete);
    if (named !== undefined && !documents.has(named.name)) documents.set(named.name, named);
  }
  const listed = new Set([...documents.values()].flatMap(({ errors }) => errors));
  const all = linesOf(checked.diagnostics, 'error');
  return {
    manifest: text,
    documents: [...documents.values()],
    otherErrors: all.filter((line) => !listed.has(line)),
    diagnostics: arrangeDiagnostics(checked.diagnostics),
    isValid: checked.isComplete && all.length === 0,
  };
}

/** A value that is no valid name counts as no name. */
function namedDocument(
  { name, located, isAccepted, diagnostics }: CheckedDocument,
  isWhole: boolean,
): NamedDocument | undefined {
  if (name === undefined || !isDnsLabel(name)) return undefined;
  return {
    name,
    // The document may continue after a syntax error.
    ...(isAccepted && isWhole && located !== undefined ? { located } : {}),
    controls: manifestControls(located?.document),
    errors: linesOf(diagnostics, 'error'),
    warnings: linesOf(diagnostics, 'warning'),
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

function linesOf(
  diagnostics: CheckedManifest['diagnostics'],
  desired: 'error' | 'warning',
): readonly string[] {
  return arrangeDiagnostics(diagnostics.filter(({ severity }) => severity === desired)).map(
    diagnosticText,
  );
}

/** All diagnostics of a manifest. */
export interface ManifestFindings {
  readonly file: string;
  readonly text: string;
  /** Empty: earlier errors are fixed. */
  readonly diagnostics: readonly Diagnostic[];
  /** Errors, one line each. */
  readonly errors: readonly string[];
  /** Warnings, one line each. */
  readonly warnings: readonly string[];
  /** Number of documents with errors. */
  readonly rejected: number;
}

/** Tracks reported findings, so that each is reported once. */
export class FindingsTracker {
  /** Reported diagnostics, by origin. */
  #reported: ReadonlyMap<string, string> = new Map();

  /** Returns the findings of manifests whose diagnostics have changed. */
  update(manifests: readonly ParsedManifest[]): readonly ManifestFindings[] {
    const reported = new Map<string, string>();
    const findings: ManifestFindings[] = [];
    for (const parsed of manifests) {
      const { origin } = parsed.manifest;
      const key = `${origin.source} ${origin.ref}`;
      const diagnostics = JSON.stringify(parsed.diagnostics);
      reported.set(key, diagnostics);
      if (diagnostics !== (this.#reported.get(key) ?? '[]')) findings.push(findingsOf(parsed));
    }
    this.#reported = reported;
    return findings;
  }
}

function findingsOf({
  manifest: { file, text },
  diagnostics,
  documents,
}: ParsedManifest): ManifestFindings {
  const linesOf = (desired: Diagnostic['severity']) =>
    diagnostics.filter(({ severity }) => severity === desired).map(diagnosticText);
  const rejected = documents.filter(({ located }) => located === undefined).length;
  const [errors, warnings] = [linesOf('error'), linesOf('warning')];
  return { file, text, diagnostics, errors, warnings, rejected };
}
