import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bundledPlural } from '#compile';
import { gvkOf } from '#util/gvk.ts';
import { createPluralOf } from './access-rule.ts';

const pluralOf = createPluralOf([], bundledPlural);

describe('check/rights: plurals', () => {
  for (const [apiVersion, kind, plural] of [
    ['v1', 'Endpoints', 'endpoints'],
    ['networking.k8s.io/v1', 'Ingress', 'ingresses'],
    ['networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies'],
  ] as const) {
    test(`"${kind}" is built in: "${plural}"`, () => {
      assert.deepEqual(pluralOf(gvkOf(apiVersion, kind)), { plural, isGuessed: false });
    });
  }

  for (const [kind, plural] of [
    ['Certificate', 'certificates'],
    ['Gateway', 'gateways'],
    ['Proxy', 'proxies'],
    ['Switch', 'switches'],
    ['VirtualBus', 'virtualbuses'],
  ] as const) {
    test(`"${kind}" is not known: "${plural}"`, () => {
      assert.deepEqual(pluralOf(gvkOf('x.example.com/v1', kind)), { plural, isGuessed: true });
    });
  }
});
