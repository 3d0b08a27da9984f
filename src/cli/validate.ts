import { DefinitionValidator } from '../simulation/index.ts';
import {
  githubReport,
  jsonReport,
  sarifReport,
  type ValidationResult,
} from './diagnostic-formats.ts';
import { exitCode } from './exit-code.ts';
import { loadManifests } from './load-manifests.ts';
import type { Output } from './output.ts';
import { printDiagnostics } from './print-diagnostics.ts';

export interface ValidateFlags {
  readonly output: 'text' | 'json' | 'sarif' | 'github';
}

const reports = { json: jsonReport, sarif: sarifReport, github: githubReport } as const;

/**
 * `homeostat validate FILE...`: checks definitions without a cluster and prints every error.
 * @returns the exit code: 1 when there is an error or nothing to check, 0 with warnings only.
 */
export async function validate(
  paths: readonly string[],
  { output: format }: ValidateFlags,
  output: Output,
): Promise<number> {
  const texts = await loadManifests(paths);
  const validator = new DefinitionValidator();
  const { accepted, diagnostics } = validator.validate(texts, (file) => output.progress?.(file));
  validator.close();
  const definitions = accepted.map(({ located, plan }) => ({
    file: located.source.file,
    name: plan.name,
    revision: plan.revision,
  }));
  const hasErrors = diagnostics.some(({ severity }) => severity === 'error');
  if (format === 'text') {
    printDiagnostics(diagnostics, texts, output);
    printValid(definitions, output);
  } else {
    const report = reports[format]({ diagnostics, definitions });
    if (report !== '') output.print(report);
  }
  if (!hasErrors && accepted.length === 0)
    output.error('homeostat: There is no definition to check');
  return hasErrors || accepted.length === 0 ? exitCode.failure : exitCode.ok;
}

function printValid(definitions: ValidationResult['definitions'], output: Output): void {
  for (const { file, name, revision } of definitions)
    output.print(`${file}: definition "${name}" is valid (revision ${revision})`);
}
