import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { arrangeDiagnostics } from '#definition';
import { DefinitionValidator } from '#testing';
import { checkInWorkers } from './check-in-workers.ts';
import { validDefinition } from './check-jobs.ts';

function manifestOf(index: number, { name = `copy-${index}`, field = 'data' } = {}) {
  const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: ${name} }
spec:
  for: { apiVersion: v1, kind: Secret }
  children:
    - id: copy
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-${index}" }
        ${field}: { index: "${index}" }
`;
  return { file: `definition-${String(index).padStart(2, '0')}.yaml`, text };
}

describe('cli/check-in-workers', () => {
  const { signal } = new AbortController();
  const manifests = Array.from({ length: 45 }, (_, index) => manifestOf(index));
  manifests[10] = manifestOf(10, { field: 'dada' });
  manifests[44] = manifestOf(44, { name: 'copy-0' });

  test('the results are those of one thread, with mistakes and with conflicts between files', async () => {
    const validator = new DefinitionValidator();
    const { accepted, diagnostics } = validator.validate(manifests);
    validator.close();
    const found = await checkInWorkers(manifests, signal);
    assert.ok(found);
    assert.deepEqual(arrangeDiagnostics(found.diagnostics), diagnostics);
    assert.deepEqual([...new Set(diagnostics.map(({ file }) => file))], [10, 44].map(fileOf));
    const names = (definitions: readonly { file: string; name: string; revision: string }[]) =>
      definitions.map(({ file, name, revision }) => `${file} ${name} ${revision}`).toSorted();
    assert.deepEqual(names(found.definitions), names(accepted.map(validDefinition)));
  });

  test('an abort ends the check without a result', async () => {
    assert.equal(await checkInWorkers(manifests, AbortSignal.abort()), undefined);
  });
});

function fileOf(index: number): string {
  return manifestOf(index).file;
}
