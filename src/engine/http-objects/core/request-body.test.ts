import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json, JsonObject } from '#util/json.ts';
import { codeParser, httpObject } from '../../../../test/support/http-objects/test-objects.ts';
import { decodeObject } from '../spec/object-spec.ts';
import { requestBody } from './request-body.ts';

function bodyOf(
  role: 'create' | 'update',
  template: JsonObject,
  { desired, observed, ...more }: JsonObject & { desired: JsonObject; observed?: Json },
) {
  const { spec, problems } = decodeObject(
    httpObject({
      ...{ desired, observe: { path: '/x' }, delete: { path: '/x' }, ...more },
      [role]: { path: '/x', ...template },
    }),
    codeParser(),
  );
  assert.ok(spec, JSON.stringify(problems));
  return requestBody(role, { spec, inputs: { password: 'p&=ü' }, observed });
}

const inputs = { password: { secretKeyRef: { name: 'db', key: 'password' } } };

describe('http-objects/core bodies', () => {
  for (const [title, role, template, content, contentType, text] of [
    [
      'a create sends what is desired',
      'create',
      {},
      { desired: { a: 1 } },
      'application/json',
      '{"a":1}',
    ],
    [
      'a PUT keeps fields of others',
      'update',
      { method: 'PUT' },
      { desired: { a: 1, c: { d: 2 } }, observed: { a: 0, b: 5, c: { e: 6 } } },
      'application/json',
      '{"a":1,"b":5,"c":{"d":2,"e":6}}',
    ],
    [
      'a PATCH sends what is desired',
      'update',
      { method: 'PATCH' },
      { desired: { a: 1 }, observed: { a: 0, b: 5 } },
      'application/json',
      '{"a":1}',
    ],
    [
      'a merge patch is named as one, and has no fields of others',
      'update',
      { method: 'PATCH', contentType: 'merge-patch' },
      { desired: { a: null, b: [1] }, observed: { a: 0, c: 5 } },
      'application/merge-patch+json',
      '{"a":null,"b":[1]}',
    ],
    [
      'a merge patch by PUT is not merged with what was observed',
      'update',
      { method: 'PUT', contentType: 'merge-patch' },
      { desired: { a: 1 }, observed: { c: 5 } },
      'application/merge-patch+json',
      '{"a":1}',
    ],
    [
      'a form is encoded, with its secret',
      'create',
      { contentType: 'form' },
      {
        desired: { name: 'a b&c=d', size: 3, on: true },
        inputs,
        secretFields: { pass: 'password' },
      },
      'application/x-www-form-urlencoded',
      'name=a+b%26c%3Dd&size=3&on=true&pass=p%26%3D%C3%BC',
    ],
    [
      'a secret is set within objects',
      'create',
      {},
      { desired: { auth: { user: 'a' } }, inputs, secretFields: { 'auth.password': 'password' } },
      'application/json',
      '{"auth":{"user":"a","password":"p&=ü"}}',
    ],
  ] as const)
    test(title, () => {
      const body = bodyOf(
        role,
        template,
        content as unknown as JsonObject & { desired: JsonObject },
      );
      assert.equal(body.contentType, contentType);
      const isJson = contentType !== 'application/x-www-form-urlencoded';
      if (isJson) assert.deepEqual(JSON.parse(body.text), JSON.parse(text));
      else assert.equal(body.text, text);
    });
});
