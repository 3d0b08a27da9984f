import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { loadManifests } from './load-manifests.ts';

describe('cli/load-manifests', () => {
  const folder = mkdtempSync(join(tmpdir(), 'load-manifests-'));
  after(() => rmSync(folder, { recursive: true }));
  const missing = join(folder, 'missing');

  test('a path that is not there is an error of the command line', async () => {
    await assert.rejects(
      loadManifests([missing]),
      /Cannot read ".*missing": no such file or directory/,
    );
    await assert.rejects(loadManifests([missing], { mayBeEmpty: true }), /Cannot read/);
  });

  test('so is a directory without a definition', async () => {
    await assert.rejects(loadManifests([folder]), /There is no definition in/);
    assert.deepEqual(await loadManifests([folder], { mayBeEmpty: true }), []);
  });

  test('in a Pod it may come later, and the others are read', async () => {
    const file = join(folder, 'one.yaml');
    writeFileSync(file, 'kind: One\n');
    const texts = await loadManifests([missing, file], { mayBeEmpty: true, mayBeMissing: true });
    assert.deepEqual(texts, [{ file, text: 'kind: One\n' }]);
  });
});
