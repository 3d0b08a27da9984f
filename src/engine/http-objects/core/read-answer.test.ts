import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TransportAnswer } from '#kube/roles.ts';
import type { JsonObject } from '#util/json.ts';
import {
  codeParser,
  httpObject,
  queueSpec,
  recordSpec,
} from '../../../../test/support/http-objects/test-objects.ts';
import { decodeObject } from '../spec/object-spec.ts';
import { type Role, retryAfterOf } from './answer.ts';
import { type AnswerReader, readAnswer } from './read-answer.ts';

const parser = codeParser();
const json = (status: number, body: unknown, headers = {}): TransportAnswer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});
const find = recordSpec.find as JsonObject;
const page = (status: number): TransportAnswer => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: '<!doctype html><title>Not Found</title>',
});

async function read(
  spec: JsonObject,
  role: Role,
  raw: TransportAnswer,
  more: Partial<AnswerReader> = {},
): Promise<string> {
  const decoded = decodeObject(httpObject(spec), parser).spec;
  const { answer } = await readAnswer(role, raw, {
    ...{ spec: decoded, metadata: { name: 'www' }, id: undefined, match: { name: 'www' } },
    ...{ request: 'POST /v1/x', auth: 'key "token" of Secret "api"' },
    ...{ showsErrors: true, mask: (text) => text, nowMs: 0 },
    ...more,
  });
  switch (answer.kind) {
    case 'absent':
      return 'absent';
    case 'failed': {
      const { class: when, reason, message, mayHaveArrived } = answer.failure;
      return `${reason} ${when}${mayHaveArrived ? ' arrived' : ''}: ${message}`;
    }
    case 'ok':
      return JSON.stringify({
        result: answer.result,
        id: answer.id,
        found: answer.found?.map(({ id }) => id ?? null),
      });
  }
}

describe('http-objects/core answers', () => {
  for (const [name, spec, role, raw, expected] of [
    ['an object', queueSpec, 'observe', json(200, { a: 1 }), '{"result":{"a":1}}'],
    [
      'an object in an envelope',
      recordSpec,
      'observe',
      json(200, { result: { id: 'r' } }),
      '{"result":{"id":"r"}}',
    ],
    ['a missing one', queueSpec, 'observe', json(404, {}), 'absent'],
    ['one that is gone', queueSpec, 'observe', { status: 410, headers: {}, body: '' }, 'absent'],
    [
      'a page with the status 404',
      queueSpec,
      'observe',
      page(404),
      'Rejected later: POST /v1/x was answered with 404, a page of HTML, which is not the answer of an API',
    ],
    [
      'a page that does not say so',
      queueSpec,
      'observe',
      { status: 404, headers: {}, body: '\n<html>' },
      'Rejected later: POST /v1/x was answered with 404, a page of HTML, which is not the answer of an API',
    ],
    [
      'a page with the status 200',
      queueSpec,
      'observe',
      page(200),
      'NotJson later arrived: Expected JSON in the answer, found a page of HTML',
    ],
    [
      'an empty body',
      queueSpec,
      'observe',
      { status: 200, headers: {}, body: '' },
      'NotJson later arrived: Expected JSON in the answer, found an empty body',
    ],
    [
      'an error in the envelope',
      recordSpec,
      'observe',
      json(200, { error: 'x' }),
      'ResultMissing later arrived: Expected an object in the answer ("observe.result"), found none',
    ],
    [
      'what the API calls absent',
      { ...queueSpec, absent: '$(body.code = 7)' },
      'observe',
      json(200, { code: 7 }),
      'absent',
    ],
    [
      'no list',
      recordSpec,
      'find',
      json(200, { error: 'x' }),
      'ResultMissing later arrived: Expected a list in the answer ("find.results"), found none',
    ],
    [
      'an object with a list as no list',
      { ...recordSpec, find: { path: '/records', match: ['name'] } },
      'find',
      json(200, { items: [{ id: 'a', name: 'www' }], total: 1, name: 'www' }),
      'ResultMissing later arrived: Expected a list in the answer ("find.results"), found an object with "items"',
    ],
    [
      'an object as no list',
      recordSpec,
      'find',
      json(200, { result: { id: 'a', name: 'www' } }),
      'ResultMissing later arrived: Expected a list in the answer ("find.results"), found an object',
    ],
    [
      'a text as no list',
      recordSpec,
      'find',
      json(200, { result: 'www' }),
      'ResultMissing later arrived: Expected a list in the answer ("find.results"), found a string',
    ],
    [
      'the only object that code selects',
      { ...recordSpec, find: { ...find, results: '$(body.result[name = "www"])' } },
      'find',
      json(200, { result: [{ id: 'a', name: 'www' }] }),
      '{"found":["a"]}',
    ],
    [
      'a list whose objects lack a field of "match"',
      recordSpec,
      'find',
      json(200, { result: [{ id: 'a', title: 'www' }] }),
      'MatchInvalid later arrived: Expected the field "name" ("find.match") in an object of the answer, found none',
    ],
    [
      'a list that does not exist',
      recordSpec,
      'find',
      { status: 404, headers: {}, body: '' },
      'Rejected later: POST /v1/x was answered with 404; if "find" answers so when nothing exists, set "absent: $(code = 404)"',
    ],
    [
      'rejected credentials',
      queueSpec,
      'observe',
      json(401, {}),
      'Unauthorized change: POST /v1/x was answered with 401 (sent with key "token" of Secret "api"): {}',
    ],
    [
      'a list that the spec calls absent',
      { ...recordSpec, absent: '$(code = 404)' },
      'find',
      json(404, {}),
      'absent',
    ],
    ['an empty list', recordSpec, 'find', json(200, { result: [] }), '{"found":[]}'],
    [
      'objects that do not match',
      recordSpec,
      'find',
      json(200, {
        result: [
          { id: 'a', name: 'x' },
          { id: 'b', name: 'www' },
        ],
      }),
      '{"found":["b"]}',
    ],
    [
      'several',
      recordSpec,
      'find',
      json(200, {
        result: [
          { id: 1, name: 'www' },
          { id: 2, name: 'www' },
        ],
      }),
      '{"found":["1","2"]}',
    ],
    [
      'an id of the body, in a list',
      { ...recordSpec, id: '$(body.result.id)' },
      'find',
      json(200, {
        result: [
          { id: 'a', name: 'x' },
          { id: 'b', name: 'www' },
        ],
      }),
      '{"found":["b"]}',
    ],
    [
      'an id that leaves the path',
      recordSpec,
      'find',
      json(200, { result: [{ id: '../x', name: 'www' }] }),
      '{"found":[null]}',
    ],
    [
      'the id of a created one',
      { ...recordSpec, id: '$(body.result.id)' },
      'create',
      json(201, { result: { id: 'r9' } }),
      '{"result":{"id":"r9"},"id":"r9"}',
    ],
    [
      'its id by "result"',
      recordSpec,
      'create',
      json(201, { result: { id: 'r9' } }),
      '{"result":{"id":"r9"},"id":"r9"}',
    ],
    [
      'an id that is an exact integer',
      recordSpec,
      'create',
      { status: 201, headers: {}, body: '{"result":{"id":9007199254740993}}' },
      '{"result":{"id":9007199254740993},"id":"9007199254740993"}',
    ],
    [
      'the id of one without an envelope, by "result"',
      recordSpec,
      'create',
      json(201, { id: 'r9' }),
      '{"id":"r9"}',
    ],
    [
      'an id with a path',
      recordSpec,
      'create',
      json(201, { result: { id: '..' } }),
      '{"result":{"id":".."}}',
    ],
    [
      'a created one without an answer',
      recordSpec,
      'create',
      { status: 201, headers: {}, body: '' },
      '{}',
    ],
    [
      'a conflict',
      recordSpec,
      'create',
      json(409, { message: 'exists' }),
      'Conflict later: POST /v1/x was answered with 409: {"message":"exists"}',
    ],
    [
      'a redirect after a POST',
      recordSpec,
      'create',
      { status: 303, headers: { location: '/x' }, body: '' },
      'Redirected change arrived: POST /v1/x was answered with 303',
    ],
    [
      'an error of the server',
      recordSpec,
      'create',
      json(500, {}),
      'ServerError soon arrived: POST /v1/x was answered with 500: {}',
    ],
    ['a deleted one that was missing', queueSpec, 'delete', json(404, {}), '{}'],
    [
      'code that fails',
      { ...queueSpec, absent: '$($number(body.a) > 1)' },
      'observe',
      json(200, { a: 'x' }),
      'CodeFailed later arrived',
    ],
    [
      'an error text of the author',
      { ...queueSpec, error: '$(body.message)' },
      'update',
      json(422, { message: 'too long\u001b[1m', secret: 'x' }),
      'Rejected later: POST /v1/x was answered with 422: too long\ufffd[1m',
    ],
  ] as const)
    test(`reads ${name}`, async () => {
      const text = await read(spec as JsonObject, role, raw);
      assert.ok(text.startsWith(expected), `${text}\n${expected}`);
    });

  test('a field of "match" that "desired" lacks finds and creates nothing', async () => {
    const match = { name: 'www', adress: undefined };
    for (const result of [[], [{ id: 'a', name: 'www' }]])
      assert.equal(
        await read(recordSpec, 'find', json(200, { result }), { match }),
        'MatchInvalid later arrived: Expected the field "adress" ("find.match") in "desired", found none',
      );
  });

  test('shows no text of an error if credentials or inputs are used', async () => {
    const text = await read(queueSpec, 'update', json(422, { message: 'password "hunter2"' }), {
      showsErrors: false,
    });
    assert.equal(text, 'Rejected later: POST /v1/x was answered with 422');
  });

  test('masks values of Secrets in the text of the author', async () => {
    const text = await read(
      { ...queueSpec, error: '$(body.message)' },
      'update',
      json(422, { message: 'bad hunter2' }),
      {
        mask: (each) => each.replaceAll('hunter2', '…'),
      },
    );
    assert.equal(text, 'Rejected later: POST /v1/x was answered with 422: bad …');
  });

  test('a body that is nested too deep is no JSON', async () => {
    const body = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    const text = await read(queueSpec, 'observe', { status: 200, headers: {}, body });
    assert.equal(text, 'NotJson later arrived: Expected JSON in the answer, found another body');
  });

  for (const [value, expected] of [
    ['7', 7_000],
    ['0', 0],
    ['100000', 600_000],
    ['Thu, 01 Jan 1970 00:00:09 GMT', 9_000],
    ['soon', undefined],
    [undefined, undefined],
  ] as const)
    test(`Retry-After "${value}" is ${expected} ms`, () => {
      assert.equal(retryAfterOf(value, 0), expected);
    });
});
