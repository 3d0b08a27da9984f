import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { writeRules } from '#conversion';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { conversionsAnnotation } from '#util/stored-names.ts';
import { fieldConversion } from './converted-fields.ts';

const rules = {
  hub: 'v1',
  versions: [
    {
      version: 'v1alpha1',
      fields: [
        { here: 'spec.size', there: 'spec.replicas' },
        { here: 'spec.mode', there: 'spec.strategy.type' },
        { here: 'spec.timeout', there: 'spec.seconds', as: 'durationToSeconds' as const },
        { here: 'spec.rules[].port', there: 'spec.rules[].target.port' },
      ],
      drop: [],
    },
  ],
};

const object = (properties: JsonObject): JsonObject => ({ type: 'object', properties });
const spec = object({
  replicas: { type: 'integer' },
  color: { type: 'string' },
  strategy: object({ type: { type: 'string' } }),
  rules: { type: 'array', items: object({ name: { type: 'string' } }) },
});

function crd(annotations: Readonly<Record<string, string>>): KubeObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'dials.example.com', annotations },
    spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: object({ spec }) } }] },
  };
}

describe('runtime/crd/conversion/converted-fields', () => {
  const convert = fieldConversion(crd({ [conversionsAnnotation]: writeRules(rules) }), 'v1');

  for (const [what, fields, expected] of [
    [
      'moved fields have their new path',
      { 'f:spec': { 'f:size': {}, 'f:color': {} } },
      { 'f:spec': { 'f:replicas': {}, 'f:color': {} } },
    ],
    [
      'a field moves into another one',
      { 'f:spec': { 'f:mode': {} } },
      { 'f:spec': { 'f:strategy': { 'f:type': {} } } },
    ],
    [
      'fields of another form are left out',
      { 'f:spec': { '.': {}, 'f:timeout': {} } },
      { 'f:spec': { '.': {} } },
    ],
    [
      'fields that the version does not have are left out',
      { 'f:spec': { 'f:gone': { 'f:deep': {} } } },
      {},
    ],
    [
      'items of lists keep what they have in both',
      { 'f:spec': { 'f:rules': { 'k:{"name":"a"}': { '.': {}, 'f:name': {}, 'f:port': {} } } } },
      { 'f:spec': { 'f:rules': { 'k:{"name":"a"}': { '.': {}, 'f:name': {} } } } },
    ],
    [
      'metadata stays',
      { 'f:metadata': { 'f:labels': { 'f:a': {} } } },
      { 'f:metadata': { 'f:labels': { 'f:a': {} } } },
    ],
  ] as const)
    test(what, () => {
      assert.deepEqual(convert?.(fields, 'v1alpha1'), expected);
    });

  test('a CRD without rules converts no fields', () => {
    assert.equal(fieldConversion(crd({}), 'v1'), undefined);
  });
});
