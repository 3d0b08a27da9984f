import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { type ConversionRules, createConverter } from '#conversion';
import { ConversionHandler } from '#conversion-webhook/server/conversion-handler.ts';
import { conversionYaml } from '#definition';
import { createSystemClock } from '#util/clock.ts';
import type { JsonObject } from '#util/json.ts';
import { excessOf } from '#util/json-scan.ts';
import { preservedAnnotation } from '#util/stored-names.ts';
import { freshMetrics, silentLogger } from '../support/silent-telemetry.ts';

/** What API servers accept. */
const levels = 10_000;
const nested = (depth: number): JsonObject =>
  JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
const [open, text] = [
  { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  { type: 'string' },
];
const kindOf = (properties: JsonObject): JsonObject => ({
  type: 'object',
  properties: { spec: { type: 'object', properties } },
});
const rules: ConversionRules = {
  hub: 'v1',
  versions: [
    {
      version: 'v1alpha1',
      fields: [
        { here: 'spec.odd', there: 'spec.moved.deep.odd' },
        { here: 'spec.settings', there: 'spec.config', as: 'textToYaml' },
        { here: 'spec.texts[].settings', there: 'spec.texts[].config', as: 'textToYaml' },
      ],
      drop: [],
    },
  ],
};
const list = (field: string, schema: JsonObject): JsonObject => ({
  type: 'array',
  items: { type: 'object', properties: { [field]: schema } },
});
const schemas = new Map([
  [
    'v1alpha1',
    kindOf({
      size: text,
      open,
      odd: open,
      settings: text,
      mine: open,
      texts: list('settings', text),
    }),
  ],
  [
    'v1',
    kindOf({
      size: text,
      open,
      moved: {
        type: 'object',
        properties: { deep: { type: 'object', properties: { odd: open } } },
      },
      config: open,
      texts: list('config', open),
    }),
  ],
]);
const version = { v1alpha1: 'v1', v1: 'v1alpha1' } as const;
type Version = keyof typeof version;

/** What a webhook answers to a list in one request, of a resource of an attacker and one of somebody else. */
async function converted(from: Version, spec: string, storage: Version = from) {
  const converter = createConverter({ rules, schemas, yaml: conversionYaml, storage });
  const found = {
    converter,
    definition: '',
    group: 'example.com',
    kind: 'Dial',
    versions: ['v1', 'v1alpha1'],
  };
  const handler = new ConversionHandler({
    crds: { find: async () => found },
    clock: createSystemClock(),
    logger: silentLogger(),
    metrics: freshMetrics(),
  });
  const object = (name: string, own: string) =>
    `{"apiVersion":"example.com/${from}","kind":"Dial","metadata":{"name":"${name}","managedFields":[{"fieldsV1":{"f:spec":${own}}}]},"spec":${own}}`;
  const objects = `[${object('hostile', spec)},${object('good', '{"size":"s","open":{"a":9007199254740993}}')}]`;
  const body = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u","desiredAPIVersion":"example.com/${version[from]}","objects":${objects}}}`;
  const request = Object.assign(Readable.from([Buffer.from(body)]), {
    method: 'POST',
    url: '/convert/dials.example.com/0123456789abcdef',
  }) as unknown as IncomingMessage;
  const answer = await handler.handle(request, new AbortController().signal);
  assert.ok(answer !== undefined, 'the connection was closed');
  return answer.body;
}

/** Both are there, the other one with all of its digits, and the server can read the response. */
function assertRead(body: string, from: Version): readonly JsonObject[] {
  assert.equal(excessOf(body, { fromLength: 0, maxCost: Infinity, maxDepth: levels }), undefined);
  const { uid, result, convertedObjects } = JSON.parse(body).response;
  assert.deepEqual([uid, result], ['u', { status: 'Success' }]);
  assert.equal(convertedObjects.length, 2);
  assert.ok(
    convertedObjects.every(
      ({ apiVersion }: JsonObject) => apiVersion === `example.com/${version[from]}`,
    ),
  );
  assert.match(body, /"name":"good"},"spec":\{"size":"s","open":\{"a":9007199254740993\}\}/);
  return convertedObjects;
}

/** Texts that take seconds to parse, or become values of megabytes. */
const expensiveYaml: Readonly<Record<string, string>> = {
  'open brackets': '['.repeat(60_000),
  'nested lists': '- '.repeat(30_000),
  'many keys': Array.from({ length: 6_000 }, (_, at) => `k${at}: 1\n`).join(''),
  'many anchors': Array.from({ length: 6_000 }, (_, at) => `- &a${at} x\n`).join(''),
  'broken expressions': '- ${ "a: b", c: }\n'.repeat(2_000),
  'aliases of aliases': `a: &a [${'x,'.repeat(90)}]\nb: &b [${'*a,'.repeat(40)}]\nc: [${'*b,'.repeat(40)}]\n`,
};

describe('attacks/conversion-of-lists', () => {
  for (const depth of [600, 5_000, levels])
    for (const [from, field] of [
      ['v1', 'open'],
      ['v1', 'config'],
      ['v1', 'moved'],
      ['v1alpha1', 'open'],
      ['v1alpha1', 'odd'],
      ['v1alpha1', 'mine'],
    ] as const)
      test(`a value of ${depth} levels in "${field}" of ${from} is missing in the other version, and a list has all resources`, async () => {
        const inside = `${'{"a":'.repeat(depth)}9007199254740993${'}'.repeat(depth)}`;
        const value = field === 'moved' ? `{"deep":{"odd":${inside}}}` : inside;
        const spec = `{"size":"h","${field}":${value}}`;
        const [hostile] = assertRead(await converted(from, spec), from);
        const { metadata, spec: fields } = hostile as Record<string, JsonObject>;
        assert.deepEqual(
          [metadata?.annotations, fields?.size, JSON.stringify(fields).length < 100],
          [{ [preservedAnnotation]: 'incomplete' }, 'h', true],
        );
      });

  test('a write of it that would be stored in the other version is rejected by name', async () => {
    const spec = `{"open":${JSON.stringify(nested(600))}}`;
    const { result } = JSON.parse(await converted('v1alpha1', spec, 'v1')).response;
    assert.match(result.message, /^Dial "hostile": Version "v1" cannot express all fields/);
  });

  for (const [what, yaml] of Object.entries(expensiveYaml))
    test(`YAML of ${what} is kept as it is, and a list has all resources`, async () => {
      for (const spec of [
        { size: 'h', settings: yaml },
        { size: 'h', texts: Array.from({ length: 20 }, () => ({ settings: yaml })) },
      ]) {
        const body = await converted('v1alpha1', JSON.stringify(spec));
        const [hostile] = assertRead(body, 'v1alpha1');
        assert.ok(!JSON.stringify(hostile?.spec).includes('config'), 'it was parsed');
        assert.ok(body.length < 300_000, String(body.length));
      }
    });
});
