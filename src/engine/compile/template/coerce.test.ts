import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import { builtInType } from '../../../../test/support/builtin-type.ts';
import { schemaOfCustomResource } from '../schema/custom-resource-schema.ts';
import type { SchemaType } from '../schema/schema-type.ts';
import { CoercionError, coerce } from './coerce.ts';

const custom = schemaOfCustomResource(
  {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          texts: { type: 'array', items: { type: 'string' } },
          count: { type: 'integer' },
          ratio: { type: 'number' },
          on: { type: 'boolean' },
          text: { type: 'string' },
          maybe: { type: 'string', nullable: true },
          maybes: { type: 'array', items: { type: 'string', nullable: true } },
          port: { 'x-kubernetes-int-or-string': true },
          labels: { type: 'object', additionalProperties: { type: 'string' } },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          open: {
            type: 'object',
            'x-kubernetes-preserve-unknown-fields': true,
            properties: { count: { type: 'integer' } },
          },
          rows: {
            type: 'array',
            items: {
              type: 'object',
              properties: {
                name: { type: 'string' },
                ports: { type: 'array', items: { type: 'integer' } },
              },
            },
          },
        },
      },
    },
  },
  gvkOf('example.com/v1', 'Box'),
);

function typeAt(type: SchemaType, ...path: readonly string[]): SchemaType {
  let found = type;
  for (const step of path) {
    if (found.kind === 'list') found = found.item;
    assert.equal(found.kind, 'struct');
    const field = (found as Extract<SchemaType, { kind: 'struct' }>).fields.get(step);
    assert.ok(field, step);
    found = field.type;
  }
  return found;
}

const spec = typeAt(custom, 'spec');
const podSpec = typeAt(builtInType('v1', 'Pod'), 'spec');
const service = builtInType('v1', 'Service');

describe('compile/template/coerce', () => {
  const fitting: readonly (readonly [string, SchemaType, unknown, unknown])[] = [
    ['a single value becomes a list of one', spec, { texts: 'a' }, { texts: ['a'] }],
    ['a list stays one', spec, { texts: ['a', 'b'] }, { texts: ['a', 'b'] }],
    [
      'a single map becomes a list of one',
      spec,
      { rows: { name: 'a' } },
      { rows: [{ name: 'a' }] },
    ],
    [
      'lists inside of lists are fitted too',
      spec,
      { rows: { name: 1, ports: '80' } },
      { rows: [{ name: '1', ports: [80] }] },
    ],
    ['a text that is an integer becomes one', spec, { count: '-3' }, { count: -3 }],
    ['a text that is a number becomes one', spec, { ratio: '0.5' }, { ratio: 0.5 }],
    ['a text that is a boolean becomes one', spec, { on: 'false' }, { on: false }],
    [
      'numbers and booleans become text',
      spec,
      { texts: [1, 1.5, true] },
      { texts: ['1', '1.5', 'true'] },
    ],
    [
      'values of text maps become text',
      spec,
      { labels: { a: 1, b: false } },
      { labels: { a: '1', b: 'false' } },
    ],
    [
      'null is left out of maps',
      spec,
      { text: null, count: 1, labels: { a: null } },
      { count: 1, labels: {} },
    ],
    ['null stays where it is a value', spec, { maybe: null }, { maybe: null }],
    [
      'null stays in a list where it is a value',
      spec,
      { maybes: ['a', null, 1] },
      { maybes: ['a', null, '1'] },
    ],
    ['int-or-string of a custom kind stays as it is', spec, { port: '80' }, { port: '80' }],
    [
      'what has no schema stays as it is',
      spec,
      { free: { a: [null, { b: 1 }] } },
      { free: { a: [null, { b: 1 }] } },
    ],
    [
      'open objects take unknown fields',
      spec,
      { open: { count: '1', other: '1' } },
      { open: { count: 1, other: '1' } },
    ],
    [
      'an integer fits a quantity',
      podSpec,
      { containers: { name: 'a', resources: { limits: { cpu: 1, memory: '1Gi' } } } },
      { containers: [{ name: 'a', resources: { limits: { cpu: 1, memory: '1Gi' } } }] },
    ],
    [
      'a computed quantity has 15 digits',
      podSpec,
      { containers: [{ name: 'a', resources: { limits: { cpu: 0.1 + 0.2 } } }] },
      { containers: [{ name: 'a', resources: { limits: { cpu: 0.3 } } }] },
    ],
    [
      'digits become an integer in int-or-string of built-in kinds',
      service,
      { spec: { ports: { port: '80', targetPort: '8080' } } },
      { spec: { ports: [{ port: 80, targetPort: 8080 }] } },
    ],
    [
      'a port by name stays a text',
      service,
      { spec: { ports: { port: 80, targetPort: 'http' } } },
      { spec: { ports: [{ port: 80, targetPort: 'http' }] } },
    ],
    [
      'a label of a built-in kind becomes text',
      service,
      { metadata: { labels: { version: 2 } } },
      { metadata: { labels: { version: '2' } } },
    ],
  ];
  for (const [what, type, value, expected] of fitting) {
    test(what, () => {
      const before = structuredClone(value);
      assert.deepEqual(coerce(value, { type, field: 'spec', quotes: true }), expected);
      assert.deepEqual(value, before, 'the value itself is not changed');
    });
  }

  const misfits: readonly (readonly [string, unknown, string])[] = [
    [
      'a text that is no integer',
      { count: 'abc' },
      'Expected an integer at spec.count, found "abc"',
    ],
    ['a fraction', { count: 1.5 }, 'Expected an integer at spec.count, found "1.5"'],
    [
      'an integer with white space',
      { count: ' 3' },
      'Expected an integer at spec.count, found " 3"',
    ],
    ['an octal number', { count: '010' }, 'Expected an integer at spec.count, found "010"'],
    [
      'digits beyond exact numbers',
      { count: '9007199254740993' },
      'Expected an integer at spec.count, found "9007199254740993"',
    ],
    ['a word for a boolean', { on: 'yes' }, 'Expected a boolean at spec.on, found "yes"'],
    ['a number for a boolean', { on: 1 }, 'Expected a boolean at spec.on, found "1"'],
    ['a map for a text', { text: {} }, 'Expected a string at spec.text, found a map'],
    ['a list for a text', { text: ['a'] }, 'Expected a string at spec.text, found a list'],
    ['a text for a map', { labels: 'a' }, 'Expected a map at spec.labels, found "a"'],
    ['a list for a map', { labels: [] }, 'Expected a map at spec.labels, found a list'],
    ['null in a list', { texts: ['a', null] }, 'Expected a string at spec.texts[1], found null'],
    [
      'deep inside',
      { rows: [{ ports: [1, 'x'] }] },
      'Expected an integer at spec.rows[0].ports[1], found "x"',
    ],
    [
      'odd keys',
      { labels: { 'a.b/c': [] } },
      'Expected a string at spec.labels["a.b/c"], found a list',
    ],
    [
      'a long text',
      { count: 'x'.repeat(100) },
      'Expected an integer at spec.count, found a string',
    ],
    ['an unknown field', { cuont: 1 }, 'Unknown field spec.cuont'],
  ];
  for (const field of ['count', 'text'])
    test(`an integer that lost its last digits does not fit ${field}`, () => {
      const value = { [field]: JSON.parse('9007199254740993') };
      assert.throws(() => coerce(value, { type: spec, field: 'spec', quotes: true }), {
        message: `Expected an integer below 2^53 at spec.${field}, found "9007199254740992"`,
        hint: 'Larger integers lose digits: use strings',
      });
      assert.deepEqual(coerce({ ratio: 2 ** 60 }, { type: spec, field: 'spec', quotes: true }), {
        ratio: 2 ** 60,
      });
    });

  for (const [what, value, message] of misfits) {
    test(`${what} does not fit`, () => {
      assert.throws(
        () => coerce(value, { type: spec, field: 'spec', quotes: true }),
        (error) => {
          assert.ok(error instanceof CoercionError);
          assert.equal(error.message, message);
          const isUnknown = message.startsWith('Unknown');
          assert.equal(error.code, isUnknown ? 'unknown-field' : 'wrong-type');
          assert.equal(error.hint, isUnknown ? 'Did you mean "count"?' : undefined);
          return true;
        },
      );
    });
  }

  const builtIn: readonly (readonly [string, unknown, string])[] = [
    ['no quantity', '100Mii', 'Expected a quantity at x, found "100Mii"'],
    ['an empty quantity', '', 'Expected a quantity at x, found ""'],
    ['a boolean for a quantity', true, 'Expected a quantity at x, found "true"'],
  ];
  const limits = typeAt(podSpec, 'containers', 'resources', 'limits');
  for (const [what, value, message] of builtIn) {
    test(`${what} does not fit`, () => {
      const options = {
        type: (limits as Extract<SchemaType, { kind: 'map' }>).item,
        field: 'x',
        quotes: true,
      };
      assert.throws(() => coerce(value, options), { message });
    });
  }

  for (const quantity of ['1', '0.5', '.5', '100m', '1Gi', '1e3', '+1', '-1.5E2', '5k']) {
    test(`"${quantity}" is a quantity`, () => {
      const options = { type: limits, field: 'x', quotes: true };
      assert.deepEqual(coerce({ cpu: quantity }, options), { cpu: quantity });
    });
  }

  test('values of Secrets are not quoted', () => {
    assert.throws(
      () => coerce({ count: 'hunter2' }, { type: spec, field: 'spec', quotes: false }),
      {
        message: 'Expected an integer at spec.count, found a string',
      },
    );
  });

  test('schemas of CRDs may be a list, a schema or a boolean', () => {
    const crd = builtInType('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
    const version = typeAt(crd, 'spec', 'versions');
    const value = {
      name: 'v1',
      served: 'true',
      schema: {
        openAPIV3Schema: {
          properties: { a: { items: { maxLength: '3' } }, b: { additionalProperties: false } },
        },
      },
    };
    assert.deepEqual(coerce(value, { type: version, field: 'x', quotes: true }), [
      {
        name: 'v1',
        served: true,
        schema: {
          openAPIV3Schema: {
            properties: { a: { items: { maxLength: 3 } }, b: { additionalProperties: false } },
          },
        },
      },
    ]);
  });

  test('a value that fits is given back itself', () => {
    const value = { texts: ['a'], count: 1, rows: [{ name: 'a', ports: [1] }] };
    assert.equal(coerce(value, { type: spec, field: 'spec', quotes: true }), value);
  });
});
