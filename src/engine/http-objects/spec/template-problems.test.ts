import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createDefaultLeafParser } from '#compile';
import { isJsonObject, type Json, type JsonObject, objectAt } from '#util/json.ts';
import { httpKinds } from '../kinds/index.ts';
import { exampleValue } from './example-value.ts';
import { patchProblems, templateProblems } from './template-problems.ts';

const parser = createDefaultLeafParser();
const head = (kind: string) => ({ apiVersion: 'homeostat.dev/v1alpha1', kind });
const texts = (problems: ReturnType<typeof templateProblems>) =>
  problems.map(({ severity, path, message }) => `${severity} ${path}: ${message}`);
const found = (kind: string, spec: Json) =>
  texts(templateProblems({ ...head(kind), metadata: { name: 'x' }, spec }, parser));

const record = {
  endpoint: { name: 'dns' },
  params: { zone: '${ spec.zone }' },
  desired: { name: '${ metadata.name }' },
  observe: { path: '/zones/{zone}/records/{id}', result: '$(body.result)' },
  find: { path: '/zones/{zone}/records', match: ['name'] },
  create: { path: '/zones/{zone}/records' },
  update: { path: '/zones/{zone}/records/{id}' },
  delete: { path: '/zones/{zone}/records/{id}' },
  id: '$(result.id)',
};

describe('http-objects/spec/template-problems', () => {
  const valid: readonly (readonly [string, string, JsonObject])[] = [
    ['computed data', 'HttpObject', record],
    ['computed parameters', 'HttpObject', { ...record, params: '${ spec.params }' }],
    ['parameters with computed names', 'HttpObject', { ...record, params: { '${ spec.a }': 'b' } }],
    [
      'computed inputs',
      'HttpObject',
      { ...record, inputs: '${ spec.inputs }', secretFields: { a: 'password' } },
    ],
    [
      'a computed number, choice, duration and optional map',
      'HttpObject',
      { ...record, adopt: '${ spec.adopt }', every: '${ spec.every }', find: record.find },
    ],
    [
      'values with computed names',
      'HttpObject',
      { ...record, values: { '${ spec.name }': '$(result.a)' } },
    ],
    [
      'a computed URL, limit and authentication',
      'HttpEndpoint',
      {
        url: '${ spec.url }',
        limits: { concurrent: '${ spec.limit }' },
        tls: '${? spec.tls }',
        auth: { bearer: { tokenFrom: { secretKeyRef: { name: '${ spec.name }', key: 'token' } } } },
      },
    ],
    ['a missing value as null', 'HttpObject', { ...record, ready: null }],
  ];
  for (const [title, kind, spec] of valid)
    test(`accepts ${title}`, () => assert.deepEqual(found(kind, spec), []));

  test('literal mistakes beside computed values are found', () => {
    assert.deepEqual(found('HttpObject', { ...record, evry: '10m', adopt: 'Always' }), [
      'error /spec/evry: Unknown field "evry"',
      'error /spec/adopt: Expected one of "Never", "IfFound", found "Always"',
    ]);
    assert.deepEqual(found('HttpObject', { ...record, id: '$(body.', every: '1s' }), [
      'error /spec/id: Expected code "$( … )", found "$(body."',
      'error /spec/every: Expected "0", or a duration of at least "10s"',
    ]);
  });

  test('"$( )" in data that is valid code is warned about', () => {
    const spec = {
      ...record,
      desired: { name: 'n', a: '$(body.a)', b: 'costs $(5)', c: '$(HOME)' },
      delete: { path: '/records/$(id)' },
    };
    assert.deepEqual(found('HttpObject', spec), [
      'warning /spec/desired/a: "$( )" is data here: it is evaluated in code fields only',
      'warning /spec/delete/path: "$( )" is not evaluated in a path',
    ]);
  });

  test('fields of a resource in data are expressions of the definition', () => {
    const spec = {
      ...record,
      params: { zone: '$(spec.zone)' },
      desired: { name: 'www-$(metadata.name)', quota: '$( spec.quotaMb )', home: '$(HOME)' },
    };
    const problems = templateProblems(
      { ...head('HttpObject'), metadata: { name: 'x' }, spec },
      parser,
    );
    assert.deepEqual(
      problems.map(({ severity, path, hint }) => `${severity} ${path}: ${hint}`),
      [
        'warning /spec/params/zone: Write "${ spec.zone }"',
        'warning /spec/desired/name: Write "${ metadata.name }"',
        'warning /spec/desired/quota: Write "${ spec.quotaMb }"',
      ],
    );
  });

  test('values of parameters that are no part of a path', () => {
    assert.deepEqual(found('HttpObject', { ...record, params: { zone: 'a/b' } }), [
      'error /spec/params/zone: Expected a value of the parameter "zone" without slashes: some servers decode "%2F" before they route',
    ]);
    const permitted = { ...record, params: { zone: 'a/b' }, slashesIn: ['zone'] };
    assert.deepEqual(found('HttpObject', permitted), []);
    assert.deepEqual(
      found('HttpObject', { ...record, params: { zone: '%2e%2e' }, slashesIn: ['zone'] }),
      [
        'error /spec/params/zone: Expected a value of the parameter "zone" that is no relative path, and not empty, also when it is decoded again',
      ],
    );
  });

  test('which values may have slashes is literal', () => {
    for (const slashesIn of ['${ spec.names }', ['${ spec.name }']])
      assert.deepEqual(
        found('HttpObject', { ...record, slashesIn }).map((text) => text.replace(/\/0:/, ':')),
        [
          'error /spec/slashesIn: Expected literal names of parameters, found computed ones: they decide which object a path names',
        ],
      );
  });

  test('a header or query that overrides the method is found beside computed values', () => {
    const create = {
      path: '/zones/{zone}/records',
      headers: { 'X-HTTP-Method': '${ spec.method }' },
      query: { _method: '${ spec.method }' },
    };
    assert.deepEqual(found('HttpObject', { ...record, create }), [
      'error /spec/create/headers/X-HTTP-Method: The header "X-HTTP-Method" makes some servers use another method or path',
      'error /spec/create/query/_method: "_method" makes some servers use another method',
    ]);
  });

  describe('find.match', () => {
    const matching = (desired: Json, match: readonly string[]) =>
      templateProblems(
        {
          ...head('HttpObject'),
          spec: { ...record, desired, find: { path: '/zones/{zone}/records', match } },
        },
        parser,
      ).map(({ path, message, hint }) => `${path}: ${message} (${hint})`);
    test('names fields of "desired"', () =>
      assert.deepEqual(matching({ name: 'a', owner: { team: 'x' } }, ['nam', 'owner.taem', 'x']), [
        '/spec/find/match/0: Expected a field of "desired", found "nam" (Did you mean "name"?)',
        '/spec/find/match/1: Expected a field of "desired", found "owner.taem" (Did you mean "owner.team"?)',
        '/spec/find/match/2: Expected a field of "desired", found "x" (An object is found by fields that are equal in "desired" and in the object)',
      ]));
    for (const [title, desired] of [
      ['a computed "desired"', '${ spec.desired }'],
      ['a computed part', { owner: '${ spec.owner }' }],
      ['a computed name', { '${ spec.field }': 1 }],
    ] as const)
      test(`may name fields of ${title}`, () =>
        assert.deepEqual(matching(desired, ['owner.team']), []));
  });

  test('a patch may not compute code', () => {
    const patch = { spec: { values: { a: '$(${ spec.x })' }, every: '${ spec.every }' } };
    assert.deepEqual(texts(patchProblems(patch, head('HttpObject'), parser)), [
      'error /spec/values/a: Expected code without "${" and "{{": a computed part could be code of another author',
    ]);
  });

  for (const { gvk, schema } of httpKinds)
    describe(gvk.kind, () => {
      const spec = objectAt(objectAt(schema(), 'properties'), 'spec') ?? {};
      for (const { steps, description } of placesIn(spec, [])) {
        const isCode =
          /^(?:Whether an answer says|The text of an error|Whether the object is ready|The id in)|\$\(|^A value\.$/;
        const mustBeLiteral =
          /(?:^|\/)path$/.test(steps.join('/')) ||
          (isCode.test(description) && !/(?:query|headers)/.test(steps.join('/')));
        if (!mustBeLiteral) continue;
        for (let length = 0; length <= steps.length; length += 1) {
          const at = steps.slice(0, length);
          test(`${steps.join('.')} is not computed by an expression at "${at.join('.')}"`, () => {
            const value = withValue(exampleValue(spec), at, '${ spec.x }');
            const problems = templateProblems({ ...head(gvk.kind), spec: value }, parser);
            const pointer = ['/spec', ...at].join('/');
            assert.ok(
              problems.some(
                ({ path, code }) => path === pointer && code === 'forbidden-expression',
              ),
              JSON.stringify(problems),
            );
          });
        }
      }
    });
});

interface Place {
  readonly steps: readonly string[];
  readonly description: string;
}

/** The texts of a schema; `key` stands for any key. */
function* placesIn(schema: JsonObject, steps: readonly string[]): Generator<Place> {
  const { description } = schema;
  if (schema.type === 'string') yield { steps, description: String(description) };
  const values = objectAt(schema, 'additionalProperties');
  if (values !== undefined) yield* placesIn(values, [...steps, 'key']);
  for (const [name, field] of Object.entries(objectAt(schema, 'properties') ?? {}))
    if (isJsonObject(field)) yield* placesIn(field, [...steps, name]);
}

function withValue(object: Json, [step, ...rest]: readonly string[], value: Json): Json {
  if (step === undefined) return value;
  const map = isJsonObject(object) ? object : {};
  return { ...map, [step]: withValue(map[step] ?? {}, rest, value) };
}
