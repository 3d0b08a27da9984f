import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hostProblem } from './own-host.ts';

describe('util/own-host', () => {
  for (const name of [
    '127.0.0.1',
    '10.0.2.2',
    '255.255.255.255',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[2001:DB8::1]',
    'localhost',
    'LocalHost',
    'localhost.',
    'host.docker.internal',
    'host.containers.internal',
  ])
    test(`${name} is permitted with any port`, () => {
      for (const host of [name, `${name}:1`, `${name}:65535`])
        assert.equal(hostProblem(host), undefined, host);
    });

  for (const host of [
    '',
    ':80',
    'example.com',
    'example.com.:80',
    '127.0.0.1.example.com',
    'localhost.example.com',
    'my.host.docker.internal',
    'a@localhost',
    'localhost:1:2',
    'localhost:',
    'localhost..',
    '127.0.0.256',
    '127.0.0',
    '127.0.0.1.',
    '::1',
    '[::1',
    '[::1]x',
    '[:::1]',
    '[1]',
    '[::1%25lo]',
    '[v1.a]',
    'localhost\n',
  ])
    test(`${JSON.stringify(host)} is not permitted`, () =>
      assert.match(hostProblem(host) ?? '', /^The host ".*" is not permitted/s));

  test('a long name is cut in the message', () =>
    assert.ok((hostProblem('x'.repeat(10_000)) ?? '').length < 400));
});
