import assert from 'node:assert/strict';
import type { Diagnostic } from '#definition';

/** What a test says about a diagnostic: `error` and no hint unless it says otherwise. */
export type ExpectedDiagnostic = Omit<Diagnostic, 'severity' | 'file'> &
  Partial<Pick<Diagnostic, 'severity' | 'file'>>;

/** Compares all diagnostics, each as a whole; the file only where it is expected. */
export function expectDiagnostics(
  actual: readonly Diagnostic[],
  expected: readonly ExpectedDiagnostic[],
): void {
  const shown = actual.map(({ file, ...rest }, index) =>
    expected[index]?.file === undefined ? rest : { ...rest, file },
  );
  assert.deepEqual(
    shown,
    expected.map((diagnostic) => ({ severity: 'error', ...diagnostic })),
  );
}

/**
 * Takes the common indentation and the first and last line break from a text: for YAML inside a test.
 * Interpolated texts of several lines are indented as their place is.
 */
export function dedent(strings: TemplateStringsArray, ...values: readonly unknown[]): string {
  const text = strings
    .map((part, index) => {
      const indent = /\n([ ]*)$/.exec(part)?.[1] ?? '';
      return index < values.length
        ? part + String(values[index]).replaceAll('\n', `\n${indent}`)
        : part;
    })
    .join('');
  const lines = text
    .replace(/^\n/, '')
    .replace(/\n[ ]*$/, '\n')
    .split('\n');
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/));
  const common = Math.min(...indents, Number.MAX_SAFE_INTEGER);
  return lines.map((line) => line.slice(common)).join('\n');
}
