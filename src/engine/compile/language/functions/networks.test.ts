import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTestParser, evaluate } from '../../../../../test/support/compile/test-scope.ts';

async function call(name: string, ...args: readonly unknown[]): Promise<unknown> {
  const names = args.map((_, index) => `spec.a${index}`);
  const spec = Object.fromEntries(args.map((value, index) => [`a${index}`, value]));
  return evaluate(`$${name}(${names.join(', ')})`, { spec });
}

describe('compile/language/functions networks', () => {
  for (const [ip, cidr, expected] of [
    ['10.1.2.3', '10.0.0.0/8', true],
    ['11.0.0.0', '10.0.0.0/8', false],
    ['10.255.255.255', '10.7.0.1/8', true],
    ['10.0.0.1', '10.0.0.1/32', true],
    ['1.2.3.4', '0.0.0.0/0', true],
    ['fd00::1', 'fd00::/64', true],
    ['fd00:0:0:1::', 'fd00::/64', false],
    ['FD00::A', 'fd00::/8', true],
    ['::ffff:10.0.0.1', '10.0.0.0/8', true],
    ['10.0.0.1', '::ffff:10.0.0.0/104', true],
    ['::ffff:a00:1', '10.0.0.0/8', true],
    ['10.0.0.1', '::/0', false],
    ['::1.2.3.4', '::102:300/120', true],
    ['64:ff9b::10.0.0.1', '64:ff9b::/96', true],
  ] as const) {
    test(`${ip} is ${expected ? '' : 'not '}in ${cidr}`, async () => {
      assert.equal(await call('ipIn', ip, cidr), expected);
    });
  }

  for (const ip of [
    '010.0.0.1',
    '0x7f.1',
    '1',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '1.2.3.4.',
    ' 1.2.3.4',
    'fe80::1%eth0',
    '1::2::3',
    '::1.2.3.04',
    '',
    ':'.repeat(100_000),
    1,
  ]) {
    test(`${String(ip).slice(0, 20)} is no address`, async () => {
      await assert.rejects(async () => call('ipIn', ip, '10.0.0.0/8'), {
        code: 'evaluation-failed',
      });
    });
  }

  for (const cidr of [
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/',
    '::/129',
    '/8',
    '10.0.0.0/-1',
  ]) {
    test(`${cidr} is no range`, async () => {
      await assert.rejects(async () => call('cidr', cidr), { code: 'evaluation-failed' });
    });
  }

  for (const [cidr, expected] of [
    [
      '10.0.1.5/24',
      { network: '10.0.1.0/24', family: 4, prefix: 24, first: '10.0.1.0', last: '10.0.1.255' },
    ],
    [
      '0.0.0.0/0',
      { network: '0.0.0.0/0', family: 4, prefix: 0, first: '0.0.0.0', last: '255.255.255.255' },
    ],
    [
      '2001:DB8:0::1/32',
      {
        network: '2001:db8::/32',
        family: 6,
        prefix: 32,
        first: '2001:db8::',
        last: '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
      },
    ],
  ] as const) {
    test(`the parts of ${cidr}`, async () => {
      assert.deepEqual(await call('cidr', cidr), expected);
    });
  }

  for (const [args, expected] of [
    [
      ['10.0.0.0/16', 24, 2],
      ['10.0.0.0/24', '10.0.1.0/24'],
    ],
    [['10.0.0.0/24', 24, 1], ['10.0.0.0/24']],
    [
      ['fd00::/48', 64, 2],
      ['fd00::/64', 'fd00:0:0:1::/64'],
    ],
    [['10.0.0.0/16', 24, 0], []],
  ] as const) {
    test(`$subnets(${args.join(', ')})`, async () => {
      assert.deepEqual(await call('subnets', ...args), expected);
    });
  }

  for (const args of [
    ['10.0.0.0/24', 25, 3],
    ['10.0.0.0/24', 16, 1],
    ['10.0.0.0/24', 33, 1],
    ['::/0', 128, 10_001],
    ['::/0', 128, 1.5],
  ]) {
    test(`$subnets(${args.join(', ')}) is an error`, async () => {
      await assert.rejects(async () => call('subnets', ...args), { code: 'evaluation-failed' });
    });
  }

  for (const [text, expected] of [
    ['http://a', { scheme: 'http', host: 'a', port: 80, path: '/' }],
    [
      'postgres://me:p%40ss@db:5432/shop?sslmode=require#x',
      {
        scheme: 'postgres',
        host: 'db',
        port: 5432,
        path: '/shop',
        query: { sslmode: 'require' },
        fragment: 'x',
        user: 'me',
        password: 'p@ss',
      },
    ],
    ['https://[FD00::1]:8443/', { scheme: 'https', host: 'fd00::1', port: 8443, path: '/' }],
    ['redis://h', { scheme: 'redis', host: 'h' }],
    ['http://u%zz@a', { scheme: 'http', host: 'a', port: 80, path: '/', user: 'u%zz' }],
  ] as const) {
    test(`the parts of ${text}`, async () => {
      assert.deepEqual(await call('url', text), expected);
    });
  }

  for (const text of ['a/b', '', 'http://', 'http://a?__proto__=1', 1]) {
    test(`$url("${text}") is an error`, async () => {
      await assert.rejects(async () => call('url', text), { code: 'evaluation-failed' });
    });
  }

  test('invalid literals are rejected at load', () => {
    const source =
      '[$ipIn("1", "10.0.0.0/8"), $cidr("10.0.0.0"), $url("a"), $ipIn(spec.ip, "::/0")]';
    const { problems } = createTestParser().parse(`\${ ${source} }`);
    assert.deepEqual(
      problems.map(({ code }) => code),
      ['invalid-value', 'invalid-value', 'invalid-value'],
    );
  });
});
