import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import {
  type ConversionRules,
  type Converter,
  checkConversion,
  createConverter,
} from '#conversion';
import { type Proof, proveRoundTrips } from '#conversion/proof/index.ts';
import type { JsonObject } from '#util/json.ts';
import { preservedPrefix } from '#util/stored-names.ts';
import { type ConversionPair, pairsFolder, readPair, yaml } from '../support/conversion-pairs.ts';

/** `npm run bench -- conversion` checks 100,000 objects. */
const count = 500;

describe('unit/conversion-pairs', () => {
  for (const file of readdirSync(pairsFolder).filter((name) => name.endsWith('.yaml'))) {
    test(`${file}: random objects are equal after a conversion there and back`, () => {
      const { failures } = proveRoundTrips({ ...readPair(file), yaml, seed: 1, count });
      assert.deepEqual(failures, []);
    });

    test(`${file}: its rules have no error`, () => {
      const problems = checkConversion(readPair(file));
      assert.deepEqual(
        problems.filter(({ severity }) => severity === 'error'),
        [],
      );
    });
  }
});

describe('unit/conversion-proof', () => {
  const pair = readPair('renamed-and-remapped.yaml');

  test('finds a missing rule for a field that is required', () => {
    const proof = prove(withRules(pair, (rule) => rule.here !== 'spec.size'));
    assert.deepEqual(
      proof.failures.map(({ kind, path, difference }) => [kind, path.join(' '), difference]),
      [
        ['required', 'v1alpha1 v1 v1alpha1', 'spec.replicas: required, and missing'],
        ['required', 'v1 v1alpha1 v1', 'spec.size: required, and missing'],
      ],
    );
    assert.ok(JSON.stringify(specOf(proof, 0)).length < 60, 'the smallest object');
  });

  test('finds a table that loses a value', () => {
    const changed = withTable(pair, { fast: 'Parallel', slow: 'Parallel' });
    const { failures } = prove(changed);
    assert.deepEqual(
      failures.map(({ difference }) => difference),
      ['spec.mode: "slow" becomes the same value as another one in v1'],
    );
    assert.deepEqual(specOf({ failures }, 0), { mode: 'slow' });
  });

  test('finds a table that lacks a value', () => {
    const { failures } = prove(withTable(pair, { fast: 'Parallel' }));
    assert.deepEqual(
      failures.map(({ difference }) => difference),
      ['spec.mode: "slow" has no value in v1'],
    );
  });

  test('an object whose fields are all given up need not exist again by way of the hub', () => {
    const number = { type: 'integer' };
    const schemaOf = (name: string, others: JsonObject): JsonObject => ({
      type: 'object',
      properties: {
        spec: { type: 'object', required: [name], properties: { [name]: number, ...others } },
      },
    });
    const { failures } = proveRoundTrips({
      rules: {
        hub: 'v1',
        versions: [
          {
            version: 'v1alpha1',
            fields: [{ here: 'spec.size', there: 'spec.replicas' }],
            drop: ['spec.legacy'],
          },
          {
            version: 'v1beta1',
            fields: [{ here: 'spec.count', there: 'spec.replicas' }],
            drop: [],
          },
        ],
      },
      schemas: new Map([
        ['v1alpha1', schemaOf('size', {})],
        ['v1beta1', schemaOf('count', { legacy: { type: 'string' } })],
        ['v1', schemaOf('replicas', { legacy: { type: 'string' } })],
      ]),
      yaml,
      count: 1_000,
    });
    assert.deepEqual(failures, []);
  });

  for (const [title, damage, field] of [
    ['a field of a nested object', 'b', 'spec.old.b'],
    ['a field of items', 'note', 'spec.rules'],
    ['its preserved values', preservedPrefix, '(spec|status)'],
  ] as const) {
    test(`finds and shrinks what a converter loses: ${title}`, () => {
      const converter = damagedConverter(pair, damage);
      const { failures } = proveRoundTrips({ ...pair, yaml, count: 2_000, converter });
      const lost = failures.find(({ version, kind }) => kind === 'lost' && version === 'v1alpha1');
      assert.ok(lost !== undefined);
      assert.match(lost.difference, new RegExp(`^field +before +after\n${field}`));
      assert.ok(JSON.stringify(lost.object).length < 250, JSON.stringify(lost.object));
    });
  }

  test('the same seed gives the same objects', () => {
    const converter = damagedConverter(pair, 'b');
    const [first, second, other] = [3, 3, 4].map((seed) =>
      JSON.stringify(proveRoundTrips({ ...pair, yaml, seed, count: 300, converter })),
    );
    assert.equal(first, second);
    assert.notEqual(first, other);
  });
});

function prove(pair: ConversionPair): Proof {
  return proveRoundTrips({ ...pair, yaml, seed: 1, count: 1_000 });
}

function specOf({ failures }: Pick<Proof, 'failures'>, index: number): JsonObject {
  return (failures[index]?.object.spec ?? {}) as JsonObject;
}

function withRules(
  pair: ConversionPair,
  keep: (rule: ConversionRules['versions'][number]['fields'][number]) => boolean,
): ConversionPair {
  const versions = pair.rules.versions.map((each) => ({
    ...each,
    fields: each.fields.filter(keep),
  }));
  return { ...pair, rules: { ...pair.rules, versions } };
}

function withTable(pair: ConversionPair, values: Readonly<Record<string, string>>): ConversionPair {
  const versions = pair.rules.versions.map((each) => ({
    ...each,
    fields: each.fields.map((rule) => (rule.values === undefined ? rule : { ...rule, values })),
  }));
  return { ...pair, rules: { ...pair.rules, versions } };
}

/** A converter that loses fields whose name begins so: in objects of the older version, or annotations of both. */
function damagedConverter(pair: ConversionPair, damage: string): Converter {
  const converter = createConverter({ ...pair, yaml });
  return {
    convert(object, toVersion) {
      const converted = converter.convert(object, toVersion);
      if (converted.object === undefined) return converted;
      if (toVersion === 'v1' && damage !== preservedPrefix) return converted;
      const without = JSON.parse(JSON.stringify(converted.object), (key, value: unknown) =>
        key.startsWith(damage) ? undefined : value,
      ) as JsonObject;
      return { object: without };
    },
  };
}
