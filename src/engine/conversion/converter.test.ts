import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonicalJson } from '#util/canonical-json.ts';
import type { JsonObject } from '#util/json.ts';
import { sha256Hex } from '#util/sha256.ts';
import { preservedAnnotation, preservedPrefix } from '#util/stored-names.ts';
import { type ConverterOptions, createConverter } from './converter.ts';
import { findLosses } from './loss.ts';
import { rootNode } from './schema-node.ts';

const text = { type: 'string' };
const whole = { type: 'integer' };
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const byName = (fields: JsonObject): JsonObject => ({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: objectOf({ name: text, ...fields }),
});

const schemas = new Map([
  [
    'v1alpha1',
    kindOf({
      size: whole,
      mode: text,
      timeout: text,
      settings: text,
      legacy: text,
      note: text,
      comment: text,
      hosts: { type: 'array', items: text },
      zones: { type: 'object', additionalProperties: objectOf({ weight: whole }) },
      rules: byName({ port: whole, weight: whole }),
      steps: { type: 'array', items: objectOf({ run: text, shell: text }) },
    }),
  ],
  [
    'v1',
    kindOf({
      replicas: whole,
      strategy: objectOf({ type: { ...text, enum: ['Parallel', 'Ordered', 'Random'] } }),
      timeoutSeconds: whole,
      config: open,
      free: open,
      hostObjects: byName({ port: whole }),
      zoneList: byName({ weight: whole, taint: text }),
      rules: byName({ target: objectOf({ port: whole, host: text }) }),
      steps: { type: 'array', items: objectOf({ run: text }) },
    }),
  ],
  ['v1beta1', kindOf({ replicas: whole, rules: byName({}), extra: text, free: open })],
]);

const options: ConverterOptions = {
  rules: {
    hub: 'v1',
    versions: [
      {
        version: 'v1alpha1',
        fields: [
          { here: 'spec.size', there: 'spec.replicas' },
          {
            here: 'spec.mode',
            there: 'spec.strategy.type',
            values: { fast: 'Parallel', slow: 'Ordered' },
          },
          { here: 'spec.rules[].port', there: 'spec.rules[].target.port' },
          { here: 'spec.timeout', there: 'spec.timeoutSeconds', as: 'durationToSeconds' },
          { here: 'spec.settings', there: 'spec.config', as: 'textToYaml' },
          { here: 'spec.hosts', there: 'spec.hostObjects', as: { itemsToObjects: 'name' } },
          { here: 'spec.zones', there: 'spec.zoneList', as: { mapToList: 'name' } },
        ],
        drop: ['spec.legacy'],
      },
      { version: 'v1beta1', fields: [], drop: [] },
    ],
  },
  schemas,
  yaml: { parse: (source) => JSON.parse(source), print: (value) => JSON.stringify(value) },
  storage: 'v1',
};
const converter = createConverter(options);

describe('conversion/converter', () => {
  test('a boolean and a text have a value for each other in a table, in both directions', () => {
    const flag = { type: 'boolean' };
    const booleans = createConverter({
      ...options,
      rules: {
        hub: 'v1',
        versions: [
          {
            version: 'v1alpha1',
            fields: [
              {
                here: 'spec.paused',
                there: 'spec.state',
                values: { true: 'Paused', false: 'Running' },
              },
              { here: 'spec.level', there: 'spec.isHigh', values: { High: 'true', Low: 'false' } },
            ],
            drop: [],
          },
        ],
      },
      schemas: new Map([
        ['v1alpha1', kindOf({ paused: flag, level: text })],
        ['v1', kindOf({ state: text, isHigh: flag })],
      ]),
    });
    for (const [paused, state, level, isHigh] of [
      [true, 'Paused', 'High', true],
      [false, 'Running', 'Low', false],
    ] as const) {
      const old = v1alpha1({ paused, level });
      const { object } = booleans.convert(old, 'v1');
      assert.deepEqual(object, v1({ state, isHigh }));
      assert.deepEqual(booleans.convert(object, 'v1alpha1').object, old);
    }
  });

  for (const [name, here, there] of [
    ['moves a field', { size: 3 }, { replicas: 3 }],
    ['moves a field with other values', { mode: 'slow' }, { strategy: { type: 'Ordered' } }],
    ['converts a duration', { timeout: '1m30s' }, { timeoutSeconds: 90 }],
    ['converts a text', { settings: '{"a":[1]}' }, { config: { a: [1] } }],
    ['converts texts', { hosts: ['b', 'a'] }, { hostObjects: [{ name: 'b' }, { name: 'a' }] }],
    [
      'converts a map',
      { zones: { a: { weight: 1 }, b: {} } },
      { zoneList: [{ name: 'a', weight: 1 }, { name: 'b' }] },
    ],
    [
      'converts items of lists',
      { rules: [{ name: 'x', port: 1 }, { name: 'w' }] },
      { rules: [{ name: 'x', target: { port: 1 } }, { name: 'w' }] },
    ],
    ['keeps an empty object', {}, {}],
  ] as const) {
    test(`${name}, and back`, () => {
      assert.deepEqual(convert(v1alpha1(here), 'v1'), v1(there));
      assert.deepEqual(convert(v1(there), 'v1alpha1'), v1alpha1(here));
    });
  }

  test('changes nothing in an object of the version, and shares what is equal', () => {
    const object = v1({ rules: [{ name: 'a' }], replicas: 1 });
    assert.equal(convert(object, 'v1'), object);
    assert.equal(convert(object, 'v1beta1').metadata, object.metadata);
  });

  test('a version that is not known is a problem', () => {
    assert.equal(converter.convert(v1({}), 'v3').problem, 'Version "v3" does not exist');
    assert.equal(converter.convert({ apiVersion: 'example.com/v3' }, 'v1').object, undefined);
  });

  describe('preserved values', () => {
    test('a field that the other version does not have is in an annotation, and comes back', () => {
      const object = v1alpha1({ note: 'n', size: 1 });
      const there = convert(object, 'v1');
      assert.deepEqual(there.spec, { replicas: 1 });
      assert.deepEqual(preservedIn(there), [
        { at: ['spec', 'note'], in: 1, value: 'n', version: 'v1alpha1' },
      ]);
      assert.deepEqual(convert(there, 'v1alpha1'), object);
    });

    test('a field that is given up is in none', () => {
      const there = convert(v1alpha1({ legacy: 'x', size: 1 }), 'v1');
      assert.deepEqual(there, v1({ replicas: 1 }));
    });

    test('a value that the other version does not know comes back, unless another one is set', () => {
      const object = v1({ strategy: { type: 'Random' } });
      const there = convert(object, 'v1alpha1');
      assert.deepEqual(there.spec, {});
      assert.deepEqual(convert(there, 'v1'), object);
      const edited = convert({ ...there, spec: { mode: 'fast' } }, 'v1');
      assert.deepEqual(edited, v1({ strategy: { type: 'Parallel' } }));
    });

    for (const [field, odd, other, edit] of [
      ['timeout', '90s', { timeoutSeconds: 90 }, { timeoutSeconds: 91 }],
      ['timeout', 'soon', {}, { timeoutSeconds: 91 }],
      ['timeout', '1500ms', { timeoutSeconds: 2 }, { timeoutSeconds: 91 }],
      ['settings', '{ "a": 1 }', { config: { a: 1 } }, { config: { a: 2 } }],
      ['settings', '{', {}, { config: {} }],
    ] as const) {
      test(`the ${field} "${odd}" comes back as it was written, unless the value is changed`, () => {
        const object = v1alpha1({ [field]: odd });
        const there = convert(object, 'v1');
        assert.deepEqual(there.spec, other);
        assert.deepEqual(convert(there, 'v1alpha1'), object);
        const edited = spec(convert({ ...there, spec: edit }, 'v1alpha1'));
        assert.notEqual(edited[field], odd);
        assert.notEqual(edited[field], undefined);
      });
    }

    test('fields of items come back by the keys of the items, in any order', () => {
      const object = v1alpha1({
        rules: [
          { name: 'a', weight: 1 },
          { name: 'b', weight: 2, port: 2 },
        ],
      });
      const there = convert(object, 'v1');
      assert.deepEqual(there.spec, { rules: [{ name: 'a' }, { name: 'b', target: { port: 2 } }] });
      const rules = [{ name: 'new' }, { name: 'b', target: { port: 3 } }];
      assert.deepEqual(spec(convert({ ...there, spec: { rules } }, 'v1alpha1')).rules, [
        { name: 'new' },
        { name: 'b', weight: 2, port: 3 },
      ]);
    });

    test('fields of objects that were removed do not create them again', () => {
      const there = convert(v1({ rules: [{ name: 'a', target: { host: 'h' } }] }), 'v1alpha1');
      assert.deepEqual(convert({ ...there, spec: {} }, 'v1').spec, {});
    });

    test('a list without keys comes back only if it is unchanged', () => {
      const object = v1alpha1({ steps: [{ run: 'a', shell: 'sh' }, { run: 'b' }] });
      const there = convert(object, 'v1');
      assert.deepEqual(there.spec, { steps: [{ run: 'a' }, { run: 'b' }] });
      assert.deepEqual(convert(there, 'v1alpha1'), object);
      const steps = [{ run: 'a' }, { run: 'c' }];
      assert.deepEqual(convert({ ...there, spec: { steps } }, 'v1alpha1').spec, { steps });
    });

    test('pass through the hub: each version gets its own ones back', () => {
      const object = v1alpha1({ note: 'n', size: 1, rules: [{ name: 'a', port: 1, weight: 1 }] });
      const beta = convert(object, 'v1beta1');
      assert.deepEqual(beta.spec, { replicas: 1, rules: [{ name: 'a' }] });
      const edited = { ...beta, spec: { ...spec(beta), replicas: 2, extra: 'e' } };
      const hub = convert(edited, 'v1');
      assert.deepEqual(hub.spec, { replicas: 2, rules: [{ name: 'a', target: { port: 1 } }] });
      assert.deepEqual(convert(hub, 'v1alpha1').spec, { ...spec(object), size: 2 });
      assert.deepEqual(spec(convert(hub, 'v1beta1')).extra, 'e');
    });

    test('each has an annotation of its own: without one of them, server-side apply keeps the others', () => {
      const there = convert(v1alpha1({ note: 'n', comment: 'c' }), 'v1');
      const { annotations } = there.metadata as { annotations: Record<string, string> };
      const kept = Object.entries(annotations).filter(([, value]) => !value.includes('"note"'));
      assert.equal(kept.length, 1);
      const metadata = { name: 'x', annotations: Object.fromEntries(kept) };
      assert.deepEqual(convert({ ...there, metadata }, 'v1alpha1').spec, { comment: 'c' });
    });

    test('annotations that are damaged, or lead into metadata, change nothing', () => {
      const annotations = Object.fromEntries(
        [
          '{',
          '[]',
          '{"version":"v1","at":["metadata","name"],"in":1,"value":"y"}',
          '{"version":"v1","at":["spec","replicas"],"in":1,"value":"many"}',
          '{"version":"v1","at":["spec",{"name":"a"}],"in":1,"value":"many"}',
          '{"version":"v1","at":["__proto__","x"],"in":0,"value":"y"}',
          '{"version":"v9","at":["spec","replicas"],"in":1,"value":1}',
        ].map((value, index) => [keyOf(value) ?? preservedPrefix + index, value]),
      );
      const object = { ...v1alpha1({ note: 'n' }), metadata: { name: 'x', annotations } };
      const there = convert(object, 'v1');
      assert.deepEqual(there.spec, {});
      assert.equal(preservedIn(there).length, 1);
    });

    test('there is one for each place: those under other keys change nothing', () => {
      const forged = '{"version":"v1","at":["spec","replicas"],"in":1,"value":1}';
      const annotations = { [`${preservedPrefix}0`]: forged };
      const object = { ...v1alpha1({ note: 'n' }), metadata: { name: 'x', annotations } };
      assert.deepEqual(convert(object, 'v1').spec, {});
      const own = {
        ...object,
        metadata: { name: 'x', annotations: { [`${keyOf(forged)}`]: forged } },
      };
      assert.deepEqual(convert(own, 'v1').spec, { replicas: 1 });
    });
  });

  describe('limits', () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const longPath = [...['spec', 'config'], ...Array.from({ length: 20_000 }, () => 'a')];
    for (const [name, version, value] of [
      ['a value', 'v1', `{"version":"v1","at":["spec","config","a"],"in":1,"value":${deep}}`],
      [
        'an item',
        'v1',
        `{"version":"v1","at":["spec","hostObjects",{"name":${deep}}],"in":1,"value":1}`,
      ],
      [
        'an item of a third version',
        'v1beta1',
        `{"version":"v1beta1","at":["spec",[${deep}]],"in":1,"value":1}`,
      ],
      ['a path', 'v1', JSON.stringify({ version: 'v1', at: longPath, in: 1, value: 1 })],
    ] as const)
      test(`an annotation with ${name} that is nested deeper than the stack changes nothing: a list has the objects of other users, too`, () => {
        const key = name === 'a path' ? keyOf(value) : undefined;
        const annotations = { [key ?? `${preservedPrefix}0`]: value };
        const object = { ...v1alpha1({ size: 1 }), metadata: { name: 'x', annotations } };
        const there = convert(object, 'v1');
        assert.deepEqual(JSON.parse(JSON.stringify(there.spec)), { replicas: 1 }, version);
      });

    test('a value that is nested deeper than an annotation may be is not written back', () => {
      const config = JSON.parse(`${'['.repeat(600)}${']'.repeat(600)}`);
      const there = convert(v1({ config }), 'v1beta1');
      assert.deepEqual(annotationsOf(there), { [preservedAnnotation]: 'incomplete' });
    });

    const long = 'x'.repeat(65 * 1024);

    test('a read of an object with too much to preserve is marked, and not written back', () => {
      const there = convert(v1({ config: { a: 1 }, replicas: 1, hostObjects: hosts() }), 'v1beta1');
      assert.deepEqual(there.spec, { replicas: 1 });
      assert.deepEqual(annotationsOf(there), { [preservedAnnotation]: 'incomplete' });
      assert.match(converter.convert(there, 'v1').problem ?? '', /Write it in the version/);
    });

    test('server-side apply still compares a marked object: it has a resourceVersion', () => {
      const there = convert(v1({ hostObjects: hosts() }), 'v1beta1');
      const compared = { ...there, metadata: { ...meta(there), resourceVersion: '5' } };
      assert.deepEqual(convert(compared, 'v1').spec, {});
    });

    test('a stored object is complete, whatever its annotations say', () => {
      const annotations = { [preservedAnnotation]: 'incomplete' };
      const object = { ...v1({ replicas: 1 }), metadata: { name: 'x', annotations } };
      assert.deepEqual(convert(object, 'v1beta1').metadata, { name: 'x' });
    });

    test('a write with too much to preserve is rejected', () => {
      const { problem } = converter.convert(v1alpha1({ note: long }), 'v1');
      assert.match(problem ?? '', /Version "v1" cannot express all fields/);
    });

    for (const [size, place] of [
      [250 * 1024, 'annotations'],
      [256 * 1024 - 4, 'labels'],
    ] as const) {
      test(`beside ${size} bytes of annotations, the mark is in ${place}`, () => {
        const metadata = { name: 'x', annotations: { a: 'y'.repeat(size - 1) } };
        const there = convert({ ...v1({ config: { a: long } }), metadata }, 'v1beta1');
        assert.equal((meta(there)[place] as JsonObject)[preservedAnnotation], 'incomplete');
        assert.notEqual(converter.convert(there, 'v1').problem, undefined);
      });
    }

    test('values below the limit are preserved beside 190 KiB of annotations', () => {
      const metadata = { name: 'x', annotations: { a: 'y'.repeat(190 * 1024) } };
      const object = { ...v1({ config: { a: 'x'.repeat(60 * 1024) } }), metadata };
      assert.deepEqual(convert(convert(object, 'v1beta1'), 'v1'), object);
    });

    for (const depth of [400, 600, 10_000])
      test(`a value of ${depth} levels does not fail, and is ${depth > 500 ? 'missing' : 'there'} in a version that has its field`, () => {
        let deep: JsonObject = { a: 1 };
        for (let level = 1; level < depth; level++) deep = { a: deep };
        for (const field of ['config', 'free']) {
          const there = convert(v1({ [field]: deep, replicas: 1 }), 'v1beta1');
          const isThere = depth <= 500 && field === 'free';
          assert.deepEqual(spec(there), isThere ? { free: deep, replicas: 1 } : { replicas: 1 });
          const { [preservedAnnotation]: mark } = annotationsOf(there);
          assert.equal(mark, depth > 500 ? 'incomplete' : undefined);
        }
      });

    test('more lost fields than annotations can hold are not looked for one by one', () => {
      const config = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`f${at}`, 1]));
      const node = rootNode(schemas.get('v1') ?? {});
      const [original, returned] = [{ spec: { config } }, { spec: {} }];
      assert.equal(findLosses({ original, returned, node, drop: [], most: 1_000 }).length, 1_000);
      const there = convert(v1({ config }), 'v1beta1');
      assert.deepEqual(annotationsOf(there), { [preservedAnnotation]: 'incomplete' });
    });
  });

  test('nulls of partial objects do not fail, and come back as no value', () => {
    const object = v1alpha1({ size: null, rules: null, zones: { a: null }, note: null });
    assert.deepEqual(convert(object, 'v1').spec, { zoneList: [] });
    assert.deepEqual(
      convert(v1({ rules: [{ name: 'a', target: null }] }), 'v1alpha1'),
      v1alpha1({ rules: [{ name: 'a' }] }),
    );
    const bare = { apiVersion: 'example.com/v1', kind: 'Thing', spec: null, status: null };
    assert.deepEqual(convert(bare, 'v1alpha1').metadata, {});
    const nothing = { name: 'x', annotations: null, labels: null };
    assert.deepEqual(convert({ ...v1({}), metadata: nothing }, 'v1alpha1').metadata, nothing);
  });

  function hosts(): JsonObject[] {
    return Array.from({ length: 1_000 }, (_, index) => ({ name: `host-${index}`, port: index }));
  }
});

function convert(object: JsonObject, version: string): JsonObject {
  const { object: converted, problem } = converter.convert(object, version);
  assert.ok(converted !== undefined, problem);
  return converted;
}

function v1(fields: JsonObject): JsonObject {
  return { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'x' }, spec: fields };
}

function v1alpha1(fields: JsonObject): JsonObject {
  return { ...v1(fields), apiVersion: 'example.com/v1alpha1' };
}

function spec(object: JsonObject): JsonObject {
  return object.spec as JsonObject;
}

function meta(object: JsonObject): JsonObject {
  return object.metadata as JsonObject;
}

function annotationsOf(object: JsonObject): JsonObject {
  return (meta(object).annotations ?? {}) as JsonObject;
}

/** The key of a preserved value. Undefined: it is none. */
function keyOf(value: string): string | undefined {
  const [, version] = /"version":"(\w+)"/.exec(value) ?? [];
  const [, at] = /"at":(\[.*\]),"in"/.exec(value) ?? [];
  if (version === undefined || at === undefined) return undefined;
  const place = canonicalJson([version, JSON.parse(at)]);
  return preservedPrefix + sha256Hex(place).slice(0, 16);
}

function preservedIn(object: JsonObject): readonly unknown[] {
  const entries = Object.entries(annotationsOf(object));
  return entries
    .filter(([key]) => key.startsWith(preservedPrefix))
    .map(([, value]) => JSON.parse(String(value)));
}

function objectOf(properties: JsonObject): JsonObject {
  return { type: 'object', properties };
}

function kindOf(fields: JsonObject): JsonObject {
  return objectOf({ spec: objectOf(fields), status: objectOf({ ready: { type: 'boolean' } }) });
}
