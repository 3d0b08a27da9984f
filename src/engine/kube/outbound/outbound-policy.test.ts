import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isOutboundRule, OutboundNotAllowedError, OutboundPolicy } from './outbound-policy.ts';

const namespace = 'shop';

/** Whether a connection to a host at an address is made. */
function isAllowed(
  allowed: readonly string[],
  { host, address, port = 443 }: { host: string; address?: string; port?: number },
): boolean {
  const policy = new OutboundPolicy({
    allowed,
    protectedAddresses: () => ['10.96.0.1', '10.1.2.3'],
  });
  const target = { host, port, namespace };
  try {
    policy.checkTarget(target);
    if (address !== undefined) policy.checkAddress(target, address);
    return true;
  } catch (error) {
    assert.ok(error instanceof OutboundNotAllowedError);
    return false;
  }
}

describe('kube/outbound policy', () => {
  for (const [host, address, expected] of [
    ['api.shop.svc', '10.96.7.7', true],
    ['api.shop.svc.', '10.96.7.7', true],
    ['API.Shop.svc.cluster.local', '10.96.7.7', true],
    ['api.shop.svc', 'fd00::7', true],
    ['api.other.svc', '10.96.7.7', false],
    ['api.shop', '10.96.7.7', false],
    ['api.shop.svc.example.com', '10.96.7.7', false],
    ['pod.api.shop.svc', '10.96.7.7', false],
    ['.shop.svc', '10.96.7.7', false],
    ['example.com', '93.184.216.34', false],
    ['93.184.216.34', undefined, false],
    ['kubernetes.default.svc', '10.96.0.1', false],
    ['api.shop.svc', '10.96.0.1', false],
    ['api.shop.svc', '10.1.2.3', false],
    ['api.shop.svc', '127.0.0.1', false],
    ['api.shop.svc', '0.0.0.0', false],
    ['api.shop.svc', '::1', false],
    ['api.shop.svc', '::ffff:127.0.0.1', false],
    ['api.shop.svc', '64:ff9b::a9fe:a9fe', false],
    ['api.shop.svc', '2002:a9fe:a9fe::1', false],
    ['api.shop.svc', '169.254.169.254', false],
    ['api.shop.svc', 'fe80::1', false],
    ['api.shop.svc', '100.100.100.200', false],
    ['api.shop.svc', '168.63.129.16', false],
    ['api.shop.svc', 'fd00:ec2::254', false],
    ['localhost', '127.0.0.1', false],
    ['127.0.0.1', undefined, false],
    ['[::1]', undefined, false],
    ['[::ffff:7f00:1]', undefined, false],
  ] as const)
    test(`by default ${host} at ${address ?? 'itself'} is ${expected ? 'allowed' : 'rejected'}`, () => {
      assert.equal(isAllowed([], { host, ...(address !== undefined && { address }) }), expected);
    });

  for (const [rule, host, address, port, expected] of [
    ['*.example.com', 'api.example.com', '93.184.216.34', 443, true],
    ['*.example.com', 'example.com', '93.184.216.34', 443, false],
    ['*.example.com:8443', 'api.example.com', '93.184.216.34', 8443, true],
    ['*.example.com:8443', 'api.example.com', '93.184.216.34', 443, false],
    ['*.example.com', 'api.example.com', '169.254.169.254', 443, false],
    ['*.example.com', 'api.example.com', '10.96.0.1', 443, false],
    ['*.example.com', 'api.example.com', 'fd00:ec2::23', 80, false],
    ['*.example.com', 'api.example.com', '64:ff9b:1::a9fe:a9fe', 80, false],
    ['*.example.com', 'api.example.com', '::ffff:0:169.254.169.254', 80, false],
    ['*', 'localhost', '127.0.0.1', 443, false],
    ['10.0.0.0/8', '10.2.0.1', undefined, 443, true],
    ['10.0.0.0/8', 'db.example.com', '10.2.0.1', 443, true],
    ['10.0.0.0/8', 'db.example.com', '11.2.0.1', 443, false],
    ['10.0.0.0/8', '10.96.0.1', undefined, 443, false],
    ['10.96.0.1', '10.96.0.1', undefined, 443, true],
    ['10.0.0.0/8:5432', '10.2.0.1', undefined, 5432, true],
    ['10.0.0.0/8:5432', '10.2.0.1', undefined, 443, false],
    ['0.0.0.0/0', '169.254.169.254', undefined, 80, false],
    ['0.0.0.0/0', '127.0.0.1', undefined, 80, false],
    ['127.0.0.1:8080', '127.0.0.1', undefined, 8080, true],
    ['127.0.0.1:8080', 'localhost', '127.0.0.1', 8080, true],
    ['127.0.0.1:8080', '127.0.0.1', undefined, 80, false],
    ['127.0.0.1', '[::ffff:127.0.0.1]', undefined, 80, true],
    ['[fd00::]/8:443', '[fd00::5]', undefined, 443, true],
    ['[::1]:8080', '[::1]', undefined, 8080, true],
    ['::1', '[::1]', undefined, 8080, true],
    ['169.254.169.254', '169.254.169.254', undefined, 80, true],
  ] as const)
    test(`"${rule}" ${expected ? 'allows' : 'does not allow'} ${host} at ${address ?? 'itself'}, port ${port}`, () => {
      assert.equal(
        isAllowed([rule], { host, port, ...(address !== undefined && { address }) }),
        expected,
      );
    });

  for (const [rule, host, port, expected] of [
    ['api.example.com', 'api.example.com', 443, true],
    ['api.example.com', 'API.example.com.', 443, true],
    ['api.example.com:443', 'api.example.com', 8443, false],
    ['*.example.com', 'api.example.com', 443, false],
    ['*', 'api.example.com', 443, false],
    ['10.0.0.0/8', 'api.example.com', 443, false],
    ['10.0.0.0/8', '10.2.0.1', 443, true],
    ['10.0.0.0/8', '10.96.0.1', 443, false],
    ['kubernetes.default.svc', 'kubernetes.default.svc', 443, false],
  ] as const)
    test(`behind a proxy "${rule}" ${expected ? 'allows' : 'does not allow'} ${host}:${port}`, () => {
      const policy = new OutboundPolicy({
        allowed: [rule],
        protectedAddresses: () => ['10.96.0.1'],
      });
      const check = () => policy.checkBehindProxy({ host, port, namespace });
      if (expected) check();
      else assert.throws(check, OutboundNotAllowedError);
    });

  for (const [text, expected] of [
    ['*.example.com', true],
    ['*.example.com:443', true],
    ['10.0.0.0/8:443', true],
    ['[fd00::]/8:443', true],
    ['fd00::1', true],
    ['*', true],
    ['10.*', false],
    ['10.0.0.0/40', false],
    ['example.com:70000', false],
    ['https://example.com', false],
    ['', false],
  ] as const)
    test(`"${text}" is ${expected ? 'a' : 'no'} rule`, () => {
      // `*` alone is a glob of all names.
      assert.equal(isOutboundRule(text), expected);
    });
});
