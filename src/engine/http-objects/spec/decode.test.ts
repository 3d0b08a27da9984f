import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import {
  codeParser,
  endpointObject,
  httpObject,
  queueSpec,
  recordSpec,
} from '../../../../test/support/http-objects/test-objects.ts';
import { compileCode, evaluateCode } from './code-field.ts';
import { decodeEndpoint } from './endpoint-spec.ts';
import { decodeObject } from './object-spec.ts';
import type { SpecProblem } from './problem.ts';

const parser = codeParser();
const texts = (problems: readonly SpecProblem[]) =>
  problems.map(({ path, message, hint }) => `${path}: ${message}${hint ? ` (${hint})` : ''}`);
const objectProblems = (spec: JsonObject) => texts(decodeObject(httpObject(spec), parser).problems);
const endpointProblems = (spec: JsonObject) =>
  texts(decodeEndpoint(endpointObject(spec), parser).problems);
const from = { secretKeyRef: { name: 'db', key: 'password' } };

describe('http-objects/spec HttpObject', () => {
  for (const [name, spec] of [
    ['with an id', recordSpec],
    ['with a name', queueSpec],
    ['that is only observed', { observe: { path: '/x' }, values: { a: '$(result.a)' } }],
    [
      'that is found, and only observed',
      {
        desired: { name: 'www', zone: { id: 'z1' } },
        observe: { path: '/records/{id}' },
        find: { path: '/records', match: ['name', 'zone.id'] },
        id: '$(result.id)',
      },
    ],
    ['with an id of either answer', { ...recordSpec, id: '$(result.id ?? body.id)' }],
    ['with inputs', { ...queueSpec, inputs: { p: from }, secretFields: { 'auth.password': 'p' } }],
  ] as const)
    test(`one ${name} is valid`, () => {
      assert.deepEqual(objectProblems(spec), []);
    });

  const { find: _, ...unfound } = recordSpec;
  const { id: ___, ...unnamed } = recordSpec;
  const { delete: __, ...undeleted } = queueSpec;
  for (const [name, spec, expected] of [
    [
      'an unknown field',
      { ...queueSpec, desird: {} },
      '/spec/desird: Unknown field "desird" (Did you mean "desired"?)',
    ],
    [
      'a nested unknown field',
      { ...queueSpec, observe: { path: '/x', pth: '' } },
      '/spec/observe/pth: Unknown field "pth" (Did you mean "path"?)',
    ],
    ['a missing field', { endpoint: { name: 'api' } }, '/spec: Expected the field "observe"'],
    ['a wrong type', { ...queueSpec, every: 5 }, '/spec/every: Expected a text, found an integer'],
    [
      'a wrong value',
      { ...queueSpec, adopt: 'Always' },
      '/spec/adopt: Expected one of "Never", "IfFound", found "Always"',
    ],
    [
      'a duration',
      { ...queueSpec, every: 'soon' },
      '/spec/every: Expected a duration such as "30s" or "10m", found "soon"',
    ],
    [
      'a short duration',
      { ...queueSpec, every: '1s' },
      '/spec/every: Expected "0", or a duration of at least "10s"',
    ],
    [
      'text for code',
      { ...queueSpec, ready: 'result.a' },
      '/spec/ready: Expected code "$( … )", found "result.a" (Write "$(result.a)")',
    ],
    [
      'an unknown name',
      { ...queueSpec, ready: '$(reslt.a)' },
      '/spec/ready: Expected one of "id", "params", "desired", "code", "headers", "body", "result", "metadata" in code, found "reslt" (Did you mean "result"?)',
    ],
    [
      'a field of a resource in code',
      { ...queueSpec, ready: '$(spec.a = 1)' },
      '/spec/ready: Expected one of "id", "params", "desired", "code", "headers", "body", "result", "metadata" in code, found "spec" (The field "spec" cannot be read here: put the value into "params")',
    ],
    [
      'the name of an endpoint in place of a map',
      { ...queueSpec, endpoint: 'api' },
      '/spec/endpoint: Expected an object, found a text (Write "{ name: api }")',
    ],
    [
      'a path without a slash',
      { ...queueSpec, observe: { path: 'queues/{name}' } },
      '/spec/observe/path: Expected a path that begins with "/", found "queues/{name}" (Write "/queues/{name}")',
    ],
    [
      'a URL in place of a path',
      { ...queueSpec, observe: { path: 'http://api/queues' } },
      '/spec/observe/path: Expected a path that begins with "/", found "http://api/queues"',
    ],
    [
      'an id of the answer to create where find is, too',
      { ...recordSpec, id: '$(body.result.id)' },
      '/spec/id: The id is evaluated on the answer to "create" and on the object that "find" found, and "body" may differ (Write "$(result.id)": "result" is the object in both)',
    ],
    [
      'inputs in code',
      { ...queueSpec, ready: '$(inputs.a)' },
      '/spec/ready: Expected one of "id", "params", "desired", "code", "headers", "body", "result", "metadata" in code, found "inputs"',
    ],
    [
      'a computed part of code',
      { ...queueSpec, ready: '$(result.a = "${x}")' },
      '/spec/ready: Expected code without "${" and "{{": a computed part could be code of another author (Use "params" or "desired" in the code)',
    ],
    [
      'a computed path',
      { ...queueSpec, observe: { path: '/queues/${spec.name}' } },
      '/spec/observe/path: Expected a literal path, found a computed one (Put computed values into "params", and write "{name}" in the path)',
    ],
    [
      'a reserved header',
      { ...queueSpec, create: { path: '/x', headers: { Authorization: 'x' } } },
      '/spec/create/headers/Authorization: The header "Authorization" is set by the runtime (Use "auth" for credentials)',
    ],
    [
      'two lines in a header',
      { ...queueSpec, create: { path: '/x', headers: { A: 'a\r\nB: c' } } },
      '/spec/create/headers/A: Expected a printable value of the header "A"',
    ],
    [
      'a header that overrides the method',
      { ...queueSpec, create: { path: '/x', headers: { 'X-HTTP-Method-Override': 'DELETE' } } },
      '/spec/create/headers/X-HTTP-Method-Override: The header "X-HTTP-Method-Override" makes some servers use another method or path (Use "method" and "path")',
    ],
    [
      'a header that overrides the method behind a gateway',
      { ...queueSpec, observe: { path: '/x', headers: { x_method_override: 'DELETE' } } },
      '/spec/observe/headers/x_method_override: The header "x_method_override" makes some servers use another method or path (Use "method" and "path")',
    ],
    [
      'a header that overrides the path',
      { ...queueSpec, observe: { path: '/x', headers: { 'X-Original-URL': '/admin' } } },
      '/spec/observe/headers/X-Original-URL: The header "X-Original-URL" makes some servers use another method or path (Use "method" and "path")',
    ],
    [
      'another method in a query',
      { ...queueSpec, create: { path: '/x', query: { _method: 'DELETE' } } },
      '/spec/create/query/_method: "_method" makes some servers use another method (Use "method")',
    ],
    [
      'another method in a query, as PHP reads it',
      { ...queueSpec, create: { path: '/x', query: { '.method[]': 'DELETE' } } },
      '/spec/create/query/.method[]: ".method[]" makes some servers use another method (Use "method")',
    ],
    [
      'another method in the body',
      { ...queueSpec, desired: { _method: 'DELETE' } },
      '/spec/desired/_method: "_method" makes some servers use another method (Use "method")',
    ],
    [
      'another method in the body, of a Secret',
      { ...queueSpec, inputs: { p: from }, secretFields: { _method: 'p' } },
      '/spec/secretFields/_method: "_method" makes some servers use another method (Use "method")',
    ],
    [
      'slashes in what is no parameter',
      { ...queueSpec, slashesIn: ['nme'] },
      '/spec/slashesIn/0: Expected the name of an entry of "params", found "nme" (Did you mean "name"?)',
    ],
    [
      'a name that is no parameter',
      { ...queueSpec, params: { name: 'a', id: 'b' } },
      '/spec/params/id: Expected the name of a parameter, found "id"',
    ],
    [
      'an input that does not exist',
      { ...queueSpec, secretFields: { a: 'p' } },
      '/spec/secretFields/a: Expected the name of an entry of "inputs", found "p"',
    ],
    [
      'content of an object that is found, and only observed',
      {
        desired: { name: 'www', zone: { id: 'z1', ttl: 5 } },
        observe: { path: '/records/{id}' },
        find: { path: '/records', match: ['name', 'zone.id'] },
        id: '$(result.id)',
      },
      '/spec/desired: Expected "create" or "update" for the desired content (Without them, "desired" has the fields of "find.match" only)',
    ],
    [
      'content of an object that is only observed',
      { desired: { name: 'www' }, observe: { path: '/x' } },
      '/spec/desired: Expected "create" or "update" for the desired content',
    ],
    [
      'an id that is not known',
      unnamed,
      '/spec/id: Expected the field "id": the path of "observe" has "{id}"',
    ],
    [
      'an id that is not used',
      { ...queueSpec, id: '$(result.id)' },
      '/spec/observe/path: Expected "{id}" in the path, or no field "id": without it, "observe" reads another object',
    ],
    [
      'a create with an id',
      { ...recordSpec, create: { path: '/x/{id}' } },
      '/spec/create/path: Expected a path without "{id}": the id is not known yet',
    ],
    ['no delete', undeleted, '/spec: Expected the field "delete", or "deletionPolicy: Orphan"'],
    [
      'a create that cannot be found again',
      unfound,
      '/spec/create: Without "find", an object whose record is lost, for example after a restore of a backup, is created twice (Add "find")',
    ],
    [
      'a form with objects',
      { ...queueSpec, desired: { a: {} }, create: { path: '/x', contentType: 'form' } },
      '/spec/create/contentType: Expected texts, numbers and booleans in "desired" for a form',
    ],
    [
      'a secret of both answers',
      { ...recordSpec, secret: { name: 's', data: { a: '$(body.a & result.b)' } } },
      '/spec/secret/data/a: Expected either "body" (the answer to "create") or "result" (what is observed), found both',
    ],
    [
      'two sources of a value',
      { ...queueSpec, inputs: { p: { ...from, configMapKeyRef: { name: 'a', key: 'b' } } } },
      '/spec/inputs/p: Expected exactly one of "secretKeyRef", "configMapKeyRef", found 2',
    ],
    [
      'a list as a parameter',
      { ...queueSpec, params: { name: ['a'] } },
      '/spec/params/name: Expected a text, number or boolean, found a list',
    ],
  ] as const)
    test(`reports ${name}`, () => {
      assert.deepEqual(objectProblems(spec as JsonObject), [expected]);
    });

  test('fields of the content with such names below the top are content', () => {
    const desired = { form: { _method: 'x' }, method: 'y', _methods: 'z' };
    assert.deepEqual(objectProblems({ ...queueSpec, desired }), []);
  });

  test('reports all errors at once', () => {
    const problems = objectProblems({ ...queueSpec, ready: 'a', absent: 'b', id: 'c' });
    assert.equal(problems.length, 3);
  });

  test('what is desired is data, whatever it contains', () => {
    const desired = { a: '$(body.x)', b: '${ spec.x }', __proto__x: { c: '{{ d }}' } };
    const { spec } = decodeObject(httpObject({ ...queueSpec, desired }), parser);
    assert.deepEqual(spec?.desired, desired);
  });
});

describe('http-objects/spec HttpEndpoint', () => {
  for (const [name, spec] of [
    ['basic', { auth: { basic: { usernameFrom: from, passwordFrom: from } } }],
    ['bearer', { auth: { bearer: { tokenFrom: from } }, limits: { requestsPerSecond: 5 } }],
    [
      'oauth2',
      {
        auth: {
          oauth2: { tokenUrl: 'https://idp/token', clientIdFrom: from, clientSecretFrom: from },
        },
      },
    ],
    ['login', { auth: { login: loginSpec() } }],
  ] as const)
    test(`one with ${name} is valid`, () => {
      assert.deepEqual(endpointProblems(spec as JsonObject), []);
    });

  for (const [name, spec, expected] of [
    [
      'two kinds of credentials',
      { auth: { bearer: { tokenFrom: from }, basic: { usernameFrom: from, passwordFrom: from } } },
      '/spec/auth: Expected exactly one of "basic", "bearer", "header", "oauth2", "login", found 2',
    ],
    [
      'a URL with a password',
      { url: 'https://a:b@c.svc' },
      '/spec/url: Expected a URL without a user name and password; use "auth"',
    ],
    [
      'a reserved header',
      { headers: { host: 'x' } },
      '/spec/headers/host: The header "host" is set by the runtime (Use "auth" for credentials)',
    ],
    [
      'a long time-out',
      { timeout: '5m' },
      '/spec/timeout: Expected a duration between 100ms and 60s',
    ],
    [
      'half a client certificate',
      { tls: { keyFrom: from } },
      '/spec/tls: Expected both "certificateFrom" and "keyFrom", or neither',
    ],
    [
      'no verification',
      { tls: { insecureSkipVerify: true } },
      '/spec/tls/insecureSkipVerify: Any server can answer, and receives the credentials (Use "caFrom")',
    ],
    [
      'a check elsewhere',
      { check: { path: '/../x' } },
      '/spec/check/path: Expected a path without ".." and "//", found "/../x"',
    ],
    [
      'too many requests',
      { limits: { concurrent: 100 } },
      '/spec/limits/concurrent: Expected at most 20, found 100',
    ],
    [
      'a login without an audience',
      { auth: { login: { ...loginSpec(), serviceAccount: { name: 'a', audience: '' } } } },
      '/spec/auth/login/serviceAccount/audience: Expected a text that is not empty',
    ],
  ] as const)
    test(`reports ${name}`, () => {
      assert.deepEqual(endpointProblems(spec as JsonObject), [expected]);
    });
});

describe('http-objects/spec code', () => {
  const evaluate = async (text: string, scope: JsonObject) => {
    const compiled = compileCode(text, '/spec/ready', parser);
    assert.ok('code' in compiled, JSON.stringify(compiled));
    return evaluateCode(compiled.code, scope);
  };

  for (const [text, scope, expected] of [
    ['$( result.status = "active" )', { result: { status: 'active' } }, true],
    ['$(body.result.id)', { body: { result: { id: 7 } } }, 7],
    ['$(headers.location)', { headers: { location: '/x/1' } }, '/x/1'],
    ['$(body.a)', {}, undefined],
    ['$(code = 404 and body.reason = "x")', { code: 404, body: { reason: 'x' } }, true],
    ['$({"a": ")}"}.a)', {}, ')}'],
    [
      '$( $sift(body, function($value, $name) { $exists($lookup(desired, $name)) }) )',
      { body: { tags: [], hash: 'x', limit: 5 }, desired: { tags: ['a'], limit: 1 } },
      { tags: [], limit: 5 },
    ],
  ] as const)
    test(`${text} is ${JSON.stringify(expected)}`, async () => {
      assert.deepEqual(await evaluate(text, scope as JsonObject), expected);
    });

  for (const text of [
    '',
    'body',
    '$()',
    '$( )',
    '$(body) $(body)',
    '$(? body)',
    '$(... body)',
    '$(body } x ${ body)',
    '$(children.a)',
    '$(reads.a)',
    '$(vars.a)',
    '$($item)',
    '$($now())',
    '$($randomString(4))',
    '$($definition.name)',
    '$($cluster.name)',
    '$(body.)',
    '${ body }',
  ])
    test(`"${text}" is rejected`, () => {
      assert.ok('problem' in compileCode(text, '/spec/ready', parser));
    });
});

function loginSpec(): JsonObject {
  return {
    path: '/auth/kubernetes/login',
    body: { role: 'shop' },
    jwtField: 'jwt',
    serviceAccount: { name: 'shop', audience: 'vault' },
    token: '$(body.auth.client_token)',
    lifetimeSeconds: '$(body.auth.lease_duration)',
    header: 'X-Vault-Token',
  };
}
