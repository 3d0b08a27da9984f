import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { homeostatCommand } from '../../test/support/recipes/homeostat-command.ts';
import { version } from './version.ts';

describe('cli/version', () => {
  test('names the versions of Homeostat, the simulated API and Node', async () => {
    const [own, api, node, ...others] = await homeostatCommand(['version']);
    assert.equal(own, `homeostat ${version}`);
    assert.match(api ?? '', /^Kubernetes API v1\.\d+\.\d+ \(simulated\)$/);
    assert.equal(node, `Node ${process.version}`);
    assert.deepEqual(others, []);
  });

  test('is the same as JSON', async () => {
    const found = JSON.parse((await homeostatCommand(['version', '-o', 'json'])).join('\n'));
    assert.equal(found.homeostat, version);
    assert.deepEqual(Object.keys(found), ['homeostat', 'kubernetes', 'node']);
  });
});
