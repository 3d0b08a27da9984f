import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  bundleOfCrd,
  parseConversionPath,
  type WebhookAddress,
  webhookClientConfig,
  webhookNames,
} from './webhook-address.ts';

const service: WebhookAddress = {
  ...{ kind: 'service', namespace: 'system', name: 'conversion', port: 443 },
};
const url: WebhookAddress = { kind: 'url', url: 'https://127.0.0.1:9443' };

describe('conversion-webhook/webhook-address', () => {
  for (const address of [service, url])
    test(`a CRD that leads to a ${address.kind} is found by the address, and parsed from its path`, () => {
      const clientConfig = {
        ...webhookClientConfig(address, 'dials.example.com', 'a1'),
        caBundle: 'x',
      };
      const conversion = { strategy: 'Webhook', webhook: { clientConfig } };
      const crd = {
        ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
        metadata: { name: 'dials.example.com' },
        spec: { conversion },
      };
      assert.equal(bundleOfCrd(crd, address), 'x');
      assert.equal(bundleOfCrd(crd, address === url ? service : url), undefined);
      assert.equal(bundleOfCrd({ ...crd, spec: {} }, address), undefined);
      const path =
        'url' in clientConfig ? new URL(clientConfig.url).pathname : clientConfig.service.path;
      assert.deepEqual(parseConversionPath(path), { crd: 'dials.example.com', digest: 'a1' });
    });

  for (const path of ['/', '/convert', '/convert/a', '/convert/A/b1', '/convert/a/b1/c', '/x/a/b1'])
    test(`"${path}" is no path of a conversion`, () => {
      assert.equal(parseConversionPath(path), undefined);
    });

  test('a certificate has the names by which the API server verifies it', () => {
    assert.deepEqual(webhookNames(service), [
      'conversion.system.svc',
      'conversion.system.svc.cluster.local',
    ]);
    assert.deepEqual(webhookNames(url), ['127.0.0.1']);
    assert.deepEqual(webhookNames({ kind: 'url', url: 'https://[::1]:9443' }), ['::1']);
  });
});
