import { bundledSchemas } from '../compile/index.ts';
import { checkDefinitions } from '../runtime/index.ts';
import { exitCode } from './exit-code.ts';
import { loadManifests } from './load-manifests.ts';
import type { Output } from './output.ts';
import { printDiagnostics } from './print-diagnostics.ts';

/**
 * `homeostat validate FILE...`: checks definitions without a cluster and prints every error.
 * @returns the exit code: 1 when there is an error or nothing to check, 0 with warnings only.
 */
export async function validate(paths: readonly string[], output: Output): Promise<number> {
  const texts = await loadManifests(paths);
  const { accepted, diagnostics } = checkDefinitions(texts, { schemas: bundledSchemas() });
  printDiagnostics(diagnostics, texts, output);
  for (const { located, plan } of accepted) {
    const { file } = located.source;
    output.print(`${file}: definition "${plan.name}" is valid (revision ${plan.revision})`);
  }
  const hasErrors = diagnostics.some(({ severity }) => severity === 'error');
  if (!hasErrors && accepted.length === 0)
    output.error('homeostat: There is no definition to check');
  return hasErrors || accepted.length === 0 ? exitCode.failure : exitCode.ok;
}
