import type { Finding } from '#definition';
import type { Gvk } from '#util/gvk.ts';
import type { Diagnostics } from './diagnostics.ts';

interface ForEachKind {
  readonly kinds: readonly Gvk[];
  readonly diagnostics: Diagnostics;
  /** The value in the document. */
  readonly valueAt: (pointer: string) => unknown;
}

/**
 * Compiles one template for each of the kinds that it may have. A field that only some of the kinds have may be in the template as an
 * optional expression, `${? }`, which omits it for the others.
 */
export function compileForEach<Result>(
  { kinds, diagnostics, valueAt }: ForEachKind,
  compile: (gvk: Gvk, into: Diagnostics) => Result,
): readonly Result[] {
  const found: { readonly gvk: Gvk; readonly finding: Finding }[] = [];
  const results = kinds.map((gvk) =>
    compile(gvk, { ...diagnostics, report: (finding) => found.push({ gvk, finding }) }),
  );
  for (const { finding } of found) {
    const lacking = found.filter(({ finding: other }) => isSame(other, finding));
    const isPartial = finding.code === 'unknown-child-field' && lacking.length < kinds.length;
    if (isPartial && isOptional(valueAt(finding.path))) continue;
    const names = lacking.map(({ gvk }) => `"${gvk.kind}"`).join(' and ');
    const hint = `${names} has no such field: write an optional expression, "\${? ... }", that omits it`;
    diagnostics.report(isPartial ? { ...finding, hint } : finding);
  }
  return results;
}

function isSame(a: Finding, b: Finding): boolean {
  return a.path === b.path && a.code === b.code && a.message === b.message;
}

function isOptional(value: unknown): boolean {
  return typeof value === 'string' && value.trimStart().startsWith('${?');
}
