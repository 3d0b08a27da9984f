import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { serverPolicyOf } from './cluster-servers.ts';
import { parseList } from './run-options.ts';

describe('cli/cluster servers', () => {
  test('a list can be repeated', () => {
    const first = parseList('*.example.com, 10.0.0.0/8');
    assert.deepEqual(parseList('fd00::/8', first), ['*.example.com', '10.0.0.0/8', 'fd00::/8']);
  });

  test('a pattern that is none is an error of the user', () => {
    for (const wrong of ['https://a.example.com', '10.*', '10.0.0.0/40', ''])
      assert.throws(() => serverPolicyOf(['a.example.com', wrong], 'https://10.96.0.1'), {
        message: `Expected host names with "*", addresses or CIDRs in --cluster-servers, found "${wrong}"`,
      });
  });

  test('the list and the hub are those of the policy', () => {
    const policy = serverPolicyOf(['*.example.com'], 'https://10.96.0.1');
    assert.throws(() => policy.checkAddress('10.0.0.1', '10.0.0.1'), /"10.0.0.1" is not allowed/);
    const hub = { host: 'hub.example.com', port: '443', address: '10.96.0.1', path: '/' };
    assert.equal(policy.noteOf(hub), 'hub');
    serverPolicyOf(undefined, 'https://10.96.0.1').checkAddress('10.0.0.1', '10.0.0.1');
  });
});
