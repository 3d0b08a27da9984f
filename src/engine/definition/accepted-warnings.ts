/** `spec.acceptedWarnings`: warnings that the author of a definition has answered with a reason. */
import { pointerTo } from '#util/json.ts';
import type { Diagnostic, DiagnosticCode, Finding } from './finding.ts';
import { resolveNamedPath } from './named-path.ts';
import { mapsAt } from './tree.ts';

const field = '/spec/acceptedWarnings';

/** Codes of warnings about a definition, which can be accepted. Every code can be an error, too. */
export const warningCodes = [
  'ambiguous-yaml',
  'duplicate-id',
  'invalid-crd',
  'invalid-name',
  'missing-field',
  'optional-parent',
  'suspicious-expression',
  'unknown-name',
] as const satisfies readonly DiagnosticCode[];

/** One entry of `spec.acceptedWarnings`. */
export interface AcceptedWarning {
  readonly code: string;
  /** As written. Empty: the whole definition. */
  readonly path: string;
  /** JSON pointer of it. Undefined: there is no such place. */
  readonly place: string | undefined;
  /** The path that may be meant instead. */
  readonly nearest?: string | undefined;
  /** JSON pointer of the entry. */
  readonly pointer: string;
  /** It accepts at least one warning. */
  readonly isUsed: boolean;
}

/** The entries of a document that can be read. */
export function acceptedWarningsOf(document: unknown): readonly AcceptedWarning[] {
  return mapsAt(document, field).flatMap(({ value: { code, path = '' }, path: pointer }) => {
    if (typeof code !== 'string' || typeof path !== 'string') return [];
    return [{ code, path, ...resolveNamedPath(document, path), pointer, isUsed: false }];
  });
}

interface Remaining {
  readonly diagnostics: readonly Diagnostic[];
  /** The same entries; those that accept one of the diagnostics are used. */
  readonly accepted: readonly AcceptedWarning[];
}

/** Removes the warnings that are accepted. Errors, and warnings about the entries themselves, remain. */
export function withoutAccepted(
  diagnostics: readonly Diagnostic[],
  accepted: readonly AcceptedWarning[],
): Remaining {
  if (accepted.length === 0) return { diagnostics, accepted };
  const used = new Set<AcceptedWarning>();
  const remaining = diagnostics.filter((diagnostic) => {
    const entries = accepted.filter((entry) => accepts(entry, diagnostic));
    for (const entry of entries) used.add(entry);
    return entries.length === 0;
  });
  return {
    diagnostics: remaining,
    accepted: accepted.map((entry) => ({ ...entry, isUsed: entry.isUsed || used.has(entry) })),
  };
}

function accepts({ code, place }: AcceptedWarning, diagnostic: Diagnostic): boolean {
  const { severity, path } = diagnostic;
  if (severity === 'error' || diagnostic.code !== code || place === undefined) return false;
  return isBelow(path, place) && !isBelow(path, field);
}

function isBelow(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}

/**
 * Warns about entries that accept nothing: what they accepted is mended, or has moved. Only for a definition without errors, which can hide
 * warnings.
 */
export function unusedAcceptances(accepted: readonly AcceptedWarning[]): readonly Finding[] {
  return accepted.flatMap(({ code, path, place, nearest, pointer, isUsed }): readonly Finding[] => {
    // A rule reports other codes.
    if (isUsed || !warningCodes.some((known) => known === code)) return [];
    const unused = { severity: 'warning', code: 'unused-acceptance' } as const;
    if (place === undefined) {
      const message = `The definition has no "${path}"`;
      const hint = nearest && `Did you mean "${nearest}"?`;
      return [{ ...unused, message, hint, path: pointerTo(pointer, 'path') }];
    }
    const where = path === '' ? '' : ` at "${path}"`;
    const message = `There is no warning "${code}"${where}`;
    return [{ ...unused, message, hint: 'Remove this entry', path: pointer }];
  });
}
