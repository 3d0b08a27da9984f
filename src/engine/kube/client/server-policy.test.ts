import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ServerNotAllowedError } from './server-not-allowed.ts';
import { isServerPattern, ServerPolicy } from './server-policy.ts';

const isAllowed = (policy: ServerPolicy, host: string, address: string) => {
  try {
    policy.checkHost(host);
    policy.checkAddress(host, address);
    return true;
  } catch (error) {
    assert.ok(error instanceof ServerNotAllowedError);
    assert.match(error.message, /; an administrator can allow it with --cluster-servers$/);
    return false;
  }
};

const metadata = [
  ['169.254.169.254'],
  ['169.254.0.1'],
  ['fe80::1'],
  ['fe80::1%eth0'],
  ['febf::1'],
  ['fd00:ec2::254'],
  ['fd20:ce::254'],
  ['168.63.129.16'],
  ['100.100.100.200'],
  ['::ffff:169.254.169.254'],
  ['::ffff:a9fe:a9fe'],
  ['::169.254.169.254'],
  ['64:ff9b::a9fe:a9fe'],
  ['2002:a9fe:a9fe::1'],
] as const;

describe('kube/client server policy', () => {
  for (const [address] of metadata)
    test(`${address} is reserved, also behind a name`, () => {
      const all = [new ServerPolicy(), new ServerPolicy({ allowed: ['*', '0.0.0.0/0', '::/0'] })];
      for (const policy of all) {
        assert.equal(isAllowed(policy, address, address), false);
        assert.equal(isAllowed(policy, `[${address}]`, address), false);
        assert.equal(isAllowed(policy, 'innocent.example.com', address), false);
      }
    });

  test('names of metadata services are reserved, in any writing', () => {
    const policy = new ServerPolicy();
    for (const name of ['metadata.google.internal', 'METADATA.google.internal.', 'metadata'])
      assert.equal(isAllowed(policy, name, '10.0.0.1'), false);
    const explicit = new ServerPolicy({ allowed: ['metadata.google.internal', '10.0.0.0/8'] });
    assert.equal(isAllowed(explicit, 'metadata.google.internal', '10.0.0.1'), true);
  });

  test('only a range inside of a reserved one allows its addresses', () => {
    const policy = new ServerPolicy({ allowed: ['169.254.10.0/24', 'fd00:ec2::254'] });
    assert.equal(isAllowed(policy, '169.254.10.7', '169.254.10.7'), true);
    assert.equal(isAllowed(policy, '::ffff:169.254.10.7', '::ffff:169.254.10.7'), true);
    assert.equal(isAllowed(policy, 'fd00:ec2::254', 'fd00:ec2::254'), true);
    assert.equal(isAllowed(policy, '169.254.169.254', '169.254.169.254'), false);
  });

  test('without a list, all other servers are allowed', () => {
    const policy = new ServerPolicy();
    for (const address of ['10.0.0.1', '127.0.0.1', '203.0.113.7', '::1', '2001:db8::1', 'fd00::1'])
      assert.equal(isAllowed(policy, address, address), true);
    assert.equal(isAllowed(policy, 'kube.example.com', '10.0.0.1'), true);
  });

  test('a list allows names by globs, and addresses by ranges', () => {
    const policy = new ServerPolicy({
      allowed: ['*.Example.com', '10.1.0.0/16', '192.0.2.7', '2001:db8::/32'],
    });
    for (const [host, address, expected] of [
      ['paris.example.com', '203.0.113.7', true],
      ['PARIS.example.com.', '203.0.113.7', true],
      ['example.com', '203.0.113.7', false],
      ['paris.example.com.evil.test', '203.0.113.7', false],
      ['evil.test', '10.1.255.1', true],
      ['evil.test', '10.2.0.1', false],
      ['evil.test', '::ffff:10.1.0.1', true],
      ['10.1.0.1', '10.1.0.1', true],
      ['192.0.2.7', '192.0.2.7', true],
      ['192.0.2.8', '192.0.2.8', false],
      ['2001:db8:1::1', '2001:db8:1::1', true],
      ['2001:db9::1', '2001:db9::1', false],
    ] as const)
      assert.equal(isAllowed(policy, host, address), expected, `${host} ${address}`);
  });

  test('ranges of NAT64 and 6to4 allow their addresses; what is reserved stays so', () => {
    const policy = new ServerPolicy({ allowed: ['64:ff9b::/96', '2002:cb00::/24'] });
    for (const [address, expected] of [
      ['64:ff9b::cb00:7107', true],
      ['64:ff9b::203.0.113.7', true],
      ['2002:cb00:7107::1', true],
      ['2002:c000:207::1', false],
      ['203.0.113.7', false],
      ['::ffff:203.0.113.7', false],
      ['64:ff9b::a9fe:a9fe', false],
    ] as const)
      assert.equal(isAllowed(policy, address, address), expected, address);
    const other = new ServerPolicy({ allowed: ['203.0.113.0/24'] });
    assert.equal(isAllowed(other, '64:ff9b::cb00:7107', '64:ff9b::cb00:7107'), true);
  });

  test('behind a proxy, only the name or a written address counts', () => {
    const policy = new ServerPolicy({ allowed: ['*.example.com', '10.1.0.0/16'] });
    policy.checkBehindProxy('paris.example.com');
    policy.checkBehindProxy('10.1.0.1');
    for (const host of ['evil.test', '10.2.0.1', 'metadata.google.internal', '169.254.169.254'])
      assert.throws(() => policy.checkBehindProxy(host), ServerNotAllowedError);
    new ServerPolicy().checkBehindProxy('any.test');
    assert.throws(() => new ServerPolicy().checkBehindProxy('metadata.google.internal'));
  });

  test('loopback and the hub are noted', () => {
    const policy = new ServerPolicy({ hub: 'https://10.96.0.1' });
    for (const [host, port, address, expected] of [
      ['localhost', '6443', '127.0.0.1', 'loopback'],
      ['a.example.com', '6443', '::ffff:127.8.9.1', 'loopback'],
      ['0.0.0.0', '6443', '0.0.0.0', 'loopback'],
      ['::1', '443', '::1', 'loopback'],
      ['kubernetes.default.svc', '443', '10.96.0.1', 'hub'],
      ['10.96.0.1', '6443', '10.96.0.1', undefined],
      ['a.example.com', '443', '203.0.113.7', undefined],
    ] as const)
      assert.equal(policy.noteOf({ host, port, address, path: '/' }), expected, host);
    const named = new ServerPolicy({ hub: 'https://hub.example.com:6443' });
    const other = { host: 'HUB.example.com', port: '6443', address: '203.0.113.7', path: '' };
    assert.equal(named.noteOf(other), 'hub');
  });

  test('a gateway serves the hub and others below different paths', () => {
    const policy = new ServerPolicy({ hub: 'https://gate.example.com/k8s/clusters/local/' });
    const note = (path: string) =>
      policy.noteOf({ host: 'gate.example.com', port: '443', address: '203.0.113.7', path });
    assert.equal(note('/k8s/clusters/local'), 'hub');
    assert.equal(note('/k8s/clusters/local//'), 'hub');
    assert.equal(note('/k8s/clusters/c-abcde'), undefined);
    assert.equal(note('/'), undefined);
  });

  test('patterns are globs of names, addresses and ranges', () => {
    for (const text of [
      '*',
      '*.example.com',
      'a?b.example.com',
      '10.0.0.0/8',
      '10.0.0.1',
      '::1',
      '[::1]',
      'fd00::/8',
    ])
      assert.equal(isServerPattern(text), true, text);
    for (const text of [
      '',
      '10.*',
      '10.0.0.0/33',
      'fd00::/129',
      'https://a.example.com',
      'a b',
      'a:6443',
      'fe80::1%eth0',
    ])
      assert.equal(isServerPattern(text), false, text);
  });
});
