import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { proxySettings } from './proxy-settings.ts';

const proxies = { HTTPS_PROXY: 'http://proxy:3128', HTTP_PROXY: 'other:80' };

describe('kube/outbound proxies', () => {
  for (const [url, noProxy, expected] of [
    ['https://api.example.com', '', 'http://proxy:3128'],
    ['http://api.example.com', '', 'http://other:80'],
    ['https://api.example.com', 'example.com', undefined],
    ['https://api.example.com', '.example.com', undefined],
    ['https://api.example.com', '*.example.com', undefined],
    ['https://example.com', '.example.com', undefined],
    ['https://badexample.com', 'example.com', 'http://proxy:3128'],
    ['https://API.example.com.', 'a, api.Example.com', undefined],
    ['https://api.example.com', 'api.example.com:8443', 'http://proxy:3128'],
    ['https://api.example.com:8443', 'api.example.com:8443', undefined],
    ['https://api.example.com', 'api.example.com:443', undefined],
    ['https://10.1.2.3', '10.0.0.0/8', undefined],
    ['https://11.1.2.3', '10.0.0.0/8', 'http://proxy:3128'],
    ['https://[fd00::1]', 'fd00::/8', undefined],
    ['https://10.1.2.3', '2.3', 'http://proxy:3128'],
    ['https://api.example.com', '*', undefined],
  ] as const)
    test(`${url} with NO_PROXY "${noProxy}": ${expected ?? 'none'}`, () => {
      assert.equal(proxySettings({ ...proxies, NO_PROXY: noProxy })(new URL(url)), expected);
    });

  test('names in lower case come first, and nothing is set without them', () => {
    const environment = { ...proxies, https_proxy: 'https://lower' };
    assert.equal(proxySettings(environment)(new URL('https://a.b')), 'https://lower');
    assert.equal(proxySettings({})(new URL('https://a.b')), undefined);
  });
});
