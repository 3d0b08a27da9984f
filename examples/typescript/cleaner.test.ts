import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createSandbox, type Sandbox } from 'homeostat';
import { deleteOldConfigMaps } from './cleaner.ts';

describe('deleteOldConfigMaps', () => {
  let sandbox: Sandbox;

  before(async () => {
    sandbox = await createSandbox();
  });

  after(() => sandbox.close());

  test('deletes temporary ConfigMaps after an hour', async () => {
    await sandbox.apply(`
apiVersion: v1
kind: ConfigMap
metadata: { name: scratch, labels: { temporary: "true" } }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
`);
    assert.deepEqual(await deleteOldConfigMaps(sandbox), []);
    await sandbox.advance(3_600_000);
    assert.deepEqual(await deleteOldConfigMaps(sandbox), ['scratch']);
    assert.equal(await sandbox.get('ConfigMap/scratch'), undefined);
    assert.equal((await sandbox.get('ConfigMap/settings'))?.kind, 'ConfigMap');
  });
});
