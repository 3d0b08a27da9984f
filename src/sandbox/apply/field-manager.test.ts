import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json, JsonObject } from '#util/json.ts';
import { widgetType } from '../../../test/support/sandbox/widget-type.ts';
import { ApplyError } from './apply-error.ts';
import { FieldManager } from './field-manager.ts';
import { pathSetOf } from './path-set.ts';

const apiVersion = 'demo.io/v1';
const types = new Map([[apiVersion, widgetType]]);

interface Step {
  readonly by: string;
  readonly spec: JsonObject;
  /** @default 'apply' */
  readonly as?: 'apply' | 'force' | 'update';
  readonly metadata?: JsonObject;
}

function widget(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion, kind: 'Widget', metadata: { name: 'x', ...metadata }, spec };
}

/** Runs writes in order, one second apart. */
function run(steps: readonly Step[]): JsonObject {
  let live: JsonObject | undefined;
  for (const [index, { by: manager, spec, as = 'apply', metadata }] of steps.entries()) {
    const now = () => `2026-01-01T00:00:0${index}Z`;
    const fieldManager = new FieldManager({ apiVersion, kind: 'Widget', types, now });
    const config = widget(spec, metadata);
    live =
      as === 'update'
        ? fieldManager.update({ live, next: config, manager })
        : fieldManager.apply({ live, config, manager, force: as === 'force' });
  }
  assert.ok(live !== undefined);
  return live;
}

interface Entry {
  readonly manager: string;
  readonly operation: string;
  readonly time?: string;
  readonly fieldsV1: { readonly 'f:spec'?: Json };
}

function entriesOf(object: JsonObject): readonly Entry[] {
  return ((object.metadata as JsonObject).managedFields ?? []) as unknown as readonly Entry[];
}

/** The fields of the spec that each manager owns. */
function owners(object: JsonObject): Record<string, unknown> {
  return Object.fromEntries(
    entriesOf(object).map((entry) => [
      `${entry.manager} ${entry.operation}`,
      entry.fieldsV1['f:spec'],
    ]),
  );
}

function rejection(steps: readonly Step[]): ApplyError {
  try {
    run(steps);
  } catch (error) {
    if (error instanceof ApplyError) return error;
    throw error;
  }
  throw new Error('Expected a rejection');
}

describe('sandbox/apply/field-manager', () => {
  const merges: readonly (readonly [string, readonly Step[], JsonObject, object])[] = [
    [
      'an applier owns the fields it sets',
      [{ by: 'a', spec: { size: 1, nested: { a: 'x' } } }],
      { size: 1, nested: { a: 'x' } },
      { 'a Apply': { 'f:size': {}, 'f:nested': { 'f:a': {} } } },
    ],
    [
      'a field that is no longer set is removed, one of an updater is kept',
      [
        { by: 'a', spec: { nested: { a: 'x' } } },
        { by: 'u', as: 'update', spec: { nested: { a: 'x', b: 'y' } } },
        { by: 'a', spec: { size: 1 } },
      ],
      { nested: { b: 'y' }, size: 1 },
      { 'a Apply': { 'f:size': {} }, 'u Update': { 'f:nested': { 'f:b': {} } } },
    ],
    [
      'two appliers of the same value both own it, and it is kept until the last one removes it',
      [
        { by: 'a', spec: { size: 1, title: 't' } },
        { by: 'b', spec: { size: 1 } },
        { by: 'a', spec: { title: 't' } },
      ],
      { size: 1, title: 't' },
      { 'a Apply': { 'f:title': {} }, 'b Apply': { 'f:size': {} } },
    ],
    [
      'force takes a field from its owner, who disappears with the last',
      [
        { by: 'a', spec: { size: 1 } },
        { by: 'b', as: 'force', spec: { size: 2 } },
      ],
      { size: 2 },
      { 'b Apply': { 'f:size': {} } },
    ],
    [
      'an update takes what it changes',
      [
        { by: 'a', spec: { size: 1, title: 't' } },
        { by: 'u', as: 'update', spec: { size: 2, title: 't' } },
      ],
      { size: 2, title: 't' },
      { 'a Apply': { 'f:title': {} }, 'u Update': { 'f:size': {} } },
    ],
    [
      'items of a list map are found by their keys, a default of a key included',
      [
        { by: 'a', spec: { ports: [{ port: 1 }, { port: 2, name: 'two' }] } },
        { by: 'b', spec: { ports: [{ port: 2, protocol: 'TCP', name: 'two' }, { port: 3 }] } },
      ],
      {
        ports: [{ port: 1 }, { port: 2, name: 'two', protocol: 'TCP' }, { port: 3 }],
      },
      {
        'a Apply': {
          'f:ports': {
            'k:{"port":1,"protocol":"TCP"}': { '.': {}, 'f:port': {} },
            'k:{"port":2,"protocol":"TCP"}': { '.': {}, 'f:name': {}, 'f:port': {} },
          },
        },
        'b Apply': {
          'f:ports': {
            'k:{"port":2,"protocol":"TCP"}': {
              '.': {},
              'f:name': {},
              'f:port': {},
              'f:protocol': {},
            },
            'k:{"port":3,"protocol":"TCP"}': { '.': {}, 'f:port': {} },
          },
        },
      },
    ],
    [
      'items come in the order of the configuration, those of others keep their place',
      [
        { by: 'u', as: 'update', spec: { tags: ['a', 'b', 'c'] } },
        { by: 'a', spec: { tags: ['c', 'd', 'a'] } },
      ],
      { tags: ['b', 'c', 'd', 'a'] },
      {
        'a Apply': { 'f:tags': { 'v:"a"': {}, 'v:"c"': {}, 'v:"d"': {} } },
        'u Update': {
          '.': {},
          'f:tags': { '.': {}, 'v:"a"': {}, 'v:"b"': {}, 'v:"c"': {} },
        },
      },
    ],
    [
      'atomic lists and maps are owned and replaced as a whole',
      [
        { by: 'a', spec: { args: ['x', 'y'], limits: { cpu: '1', memory: '2' } } },
        { by: 'a', spec: { args: ['z'], limits: { cpu: '3' } } },
      ],
      { args: ['z'], limits: { cpu: '3' } },
      { 'a Apply': { 'f:args': {}, 'f:limits': {} } },
    ],
    [
      'what is left of a struct without its last field is null, as on the server',
      [
        { by: 'a', spec: { size: 1, nested: { a: 'x' } } },
        { by: 'u', as: 'update', spec: { size: 1, nested: { a: 'x', b: 'y' } } },
        { by: 'b', as: 'force', spec: { nested: { b: 'y' } } },
        { by: 'u', as: 'update', spec: { size: 1, nested: { a: 'x' } } },
        { by: 'a', spec: { size: 1, nested: {} } },
      ],
      { size: 1, nested: null },
      { 'a Apply': { 'f:nested': {}, 'f:size': {} } },
    ],
    [
      'keys of free-form objects are owned one by one',
      [
        { by: 'a', spec: { free: { x: { y: 1 }, list: [1] } } },
        { by: 'b', spec: { free: { x: { z: 2 } } } },
        { by: 'a', spec: { free: { list: [1] } } },
      ],
      { free: { x: { z: 2 }, list: [1] } },
      {
        'a Apply': { 'f:free': { 'f:list': {} } },
        'b Apply': { 'f:free': { 'f:x': { '.': {}, 'f:z': {} } } },
      },
    ],
  ];
  for (const [sentence, steps, spec, owned] of merges) {
    test(sentence, () => {
      const object = run(steps);
      assert.deepEqual(object.spec, spec);
      assert.deepEqual(owners(object), owned);
    });
  }

  test('an apply without changes keeps the time of its entry', () => {
    const spec = { size: 1 };
    const object = run([
      { by: 'a', spec },
      { by: 'a', spec },
    ]);
    assert.deepEqual(
      entriesOf(object).map(({ time }) => time),
      ['2026-01-01T00:00:00Z'],
    );
  });

  test('a conflict names the manager, its version if it is an updater, and every field', () => {
    const error = rejection([
      { by: 'u', as: 'update', spec: { size: 1, ports: [{ port: 1, name: 'x' }] } },
      { by: 'b', spec: { title: 'b' } },
      {
        by: 'a',
        spec: { size: 2, title: 'a', ports: [{ port: 1, protocol: 'TCP', name: 'y' }] },
      },
    ]);
    assert.equal(error.code, 'conflict');
    assert.equal(
      error.message,
      [
        'Apply failed with 3 conflicts: conflicts with "b":',
        '- .spec.title',
        'conflicts with "u" using demo.io/v1:',
        '- .spec.size',
        '- .spec.ports[port=1,protocol="TCP"].name',
      ].join('\n'),
    );
    assert.deepEqual(error.causes[0], {
      reason: 'FieldManagerConflict',
      message: 'conflict with "b"',
      field: '.spec.title',
    });
  });

  test('a single conflict is reported in one line', () => {
    const error = rejection([
      { by: 'b', spec: { size: 1 } },
      { by: 'a', spec: { size: 2 } },
    ]);
    assert.equal(error.message, 'Apply failed with 1 conflict: conflict with "b": .spec.size');
  });

  const misfits: readonly (readonly [JsonObject, string])[] = [
    [{ sise: 1 }, '.spec.sise: field not declared in schema'],
    [{ size: 'x' }, '.spec.size: expected numeric (int or float), got string'],
    [{ title: 5 }, '.spec.title: expected string, got &value.valueUnstructured{Value:5}'],
    [{ nested: [1] }, '.spec.nested: expected map, got &{[1]}'],
    [{ tags: ['a', 'a'] }, '.spec.tags: duplicate entries for key [="a"]'],
    [
      { ports: [{ port: 1 }, { port: 1 }] },
      '.spec.ports: duplicate entries for key [port=1,protocol="TCP"]',
    ],
  ];
  for (const [spec, message] of misfits) {
    test(`a configuration with ${JSON.stringify(spec)} is rejected: ${message}`, () => {
      const error = rejection([{ by: 'a', spec }]);
      assert.equal(error.code, 'untyped');
      const start = 'failed to create typed patch object (/x; demo.io/v1, Kind=Widget): ';
      assert.equal(error.message, start + message);
    });
  }

  test('managedFields in a configuration are rejected, even empty ones', () => {
    const error = rejection([{ by: 'a', spec: {}, metadata: { managedFields: [] } }]);
    assert.equal(error.code, 'bad-request');
  });

  test('fields set before the first apply get their own manager', () => {
    const { managedFields: _, ...metadata } = run([{ by: 'u', as: 'update', spec: { size: 1 } }])
      .metadata as JsonObject;
    const manager = new FieldManager({ apiVersion, kind: 'Widget', types, now: () => 'now' });
    const live = { ...widget({ size: 1 }), metadata };
    const config = widget({ title: 't' });
    const object = manager.apply({ live, config, manager: 'a', force: false });
    assert.deepEqual(Object.keys(owners(object)), ['a Apply', 'before-first-apply Update']);
  });

  test('an update that empties managedFields stops tracking', () => {
    const object = run([
      { by: 'a', spec: { size: 1 } },
      { by: 'u', as: 'update', spec: { size: 2 }, metadata: { managedFields: [] } },
    ]);
    assert.deepEqual(owners(object), {});
  });

  test('more than ten updaters: the oldest are merged', () => {
    const steps = Array.from({ length: 12 }, (_, index) => ({
      by: `u${index}`,
      as: 'update' as const,
      spec: {
        limits: {},
        free: Object.fromEntries(Array.from({ length: index + 1 }, (_, n) => [`k${n}`, 1])),
      },
    }));
    const names = Object.keys(owners(run(steps)));
    assert.equal(names.length, 10);
    assert.ok(names.includes('ancient-changes Update'));
    assert.ok(!names.includes('u0 Update') && names.includes('u3 Update'));
  });

  test('kubectl takes over unchanged fields of client-side apply', () => {
    const name = 'kubectl.kubernetes.io/last-applied-configuration';
    const last = JSON.stringify(widget({ size: 1 }));
    const annotations = { [name]: last };
    const object = run([
      {
        by: 'kubectl-client-side-apply',
        as: 'update',
        spec: { size: 1 },
        metadata: { annotations },
      },
      { by: 'kubectl', spec: { size: 2 } },
    ]);
    assert.deepEqual(object.spec, { size: 2 });
    const written = (object.metadata as JsonObject).annotations as Record<string, string>;
    assert.deepEqual(JSON.parse(written[name] ?? ''), widget({ size: 2 }));
    const changed = rejection([
      {
        by: 'kubectl-client-side-apply',
        as: 'update',
        spec: { size: 1 },
        metadata: { annotations },
      },
      { by: 'u', as: 'update', spec: { size: 3 }, metadata: { annotations } },
      { by: 'kubectl', spec: { size: 2 } },
    ]);
    assert.equal(changed.code, 'conflict');
  });

  test('an endpoint never owns its reset fields', () => {
    const resetFields = pathSetOf([['f:status']]);
    const options = { apiVersion, kind: 'Widget', types, resetFields, now: () => 'now' };
    const config = { ...widget({ size: 1 }), status: { phase: 'x' } };
    const manager = new FieldManager(options);
    const object = manager.apply({ live: undefined, config, manager: 'a', force: false });
    assert.deepEqual(entriesOf(object)[0]?.fieldsV1, { 'f:spec': { 'f:size': {} } });
  });

  test('ownership in another version applies in this one, until that version is no longer served', () => {
    const v2 = 'demo.io/v2';
    const both = new Map([...types, [v2, widgetType]]);
    const older = run([{ by: 'a', spec: { size: 1 } }]);
    const config = { ...widget({ size: 2 }), apiVersion: v2 };
    const request = { live: { ...older, apiVersion: v2 }, config, manager: 'b', force: false };
    const now = () => 'now';
    const options = { apiVersion: v2, kind: 'Widget', now };
    assert.throws(() => new FieldManager({ ...options, types: both }).apply(request), {
      code: 'conflict',
    });
    const alone = new FieldManager({ ...options, types: new Map([[v2, widgetType]]) });
    assert.deepEqual(Object.keys(owners(alone.apply(request))), ['b Apply']);
  });

  test('names of inherited properties are ordinary keys', () => {
    const labels = JSON.parse('{"constructor":"x","__proto__":"y"}');
    const object = run([
      { by: 'a', spec: {}, metadata: { labels } },
      { by: 'b', spec: { size: 1 }, metadata: { labels: { toString: 'z' } } },
    ]);
    const merged = (object.metadata as JsonObject).labels as JsonObject;
    assert.deepEqual(Object.entries(merged).sort(), [
      ['__proto__', 'y'],
      ['constructor', 'x'],
      ['toString', 'z'],
    ]);
  });
});

describe('sandbox/apply/field-manager: objects that do not fit their type', () => {
  const manager = 'a';
  const now = () => '2026-01-01T00:00:00Z';
  const fields = new FieldManager({ apiVersion, kind: 'Widget', types, now, allowsUntyped: true });
  const odd = widget({ size: 'nine', title: 'x' });

  test('an update clears all ownership', () => {
    const live = fields.update({ live: undefined, next: widget({ size: 9 }), manager });
    assert.equal(entriesOf(live).length, 1);
    const metadata = live.metadata as JsonObject;
    const next = { ...odd, metadata };
    assert.deepEqual(entriesOf(fields.update({ live, next, manager })), []);
  });

  test('duplicate items are allowed', () => {
    const next = widget({ ports: [{ port: 1 }, { port: 1 }] });
    assert.equal(entriesOf(fields.update({ live: undefined, next, manager })).length, 1);
  });

  test('an apply is rejected, with or without managers', () => {
    const config = widget({ title: 'y' });
    const tracked = {
      ...odd,
      metadata: fields.update({ live: undefined, next: config, manager }).metadata ?? {},
    };
    for (const [live, message] of [
      [
        odd,
        /failed to create manager for existing fields: failed to convert new object \(\/x; demo\.io\/v1, Kind=Widget\) to smd typed: \.spec\.size: /,
      ],
      [
        tracked,
        /failed to create typed live object \(\/x; demo\.io\/v1, Kind=Widget\): \.spec\.size: /,
      ],
    ] as const)
      assert.throws(() => fields.apply({ live, config, manager, force: false }), message);
  });
});
