import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createOperatorTestParser } from '#definition';
import { SimulatedApi } from '#http-objects';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { recordDefinition } from '../../../test/support/http-objects/record-definition.ts';
import { runTest } from './run-test.ts';

const parser = createOperatorTestParser();

const head = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorTest
metadata: { name: records }
spec:
  apis:
    - url: http://dns.default.svc/v1
      collections:
        - { path: /zones/z1/records, key: id, envelope: result }
      answers:
        - { request: { method: GET, path: /health }, answer: { status: 204 } }
  given:
    - { apiVersion: v1, kind: Secret, metadata: { name: dns }, stringData: { token: x } }
  steps:
    - name: the endpoint
      apply:
        apiVersion: homeostat.dev/v1alpha1
        kind: HttpEndpoint
        metadata: { name: dns }
        spec:
          url: http://dns.default.svc/v1
          auth: { bearer: { tokenFrom: { secretKeyRef: { name: dns, key: token } } } }
          check: { path: /health }
`;

const record = (name: string, ip: string) =>
  `{ apiVersion: shop.example/v1, kind: Record, metadata: { name: ${name} }, spec: { zone: z1, ip: ${ip} } }`;
const objects = (list: string) => `{ api: { path: /zones/z1/records, objects: ${list} } }`;

/** Runs the test with these steps after the endpoint was applied. */
async function run(...steps: readonly string[]) {
  const text = `${head}${steps.map((step) => `    - ${step}\n`).join('')}`;
  const { tests, diagnostics } = parser.parse(text, 'records_test.yaml');
  assert.deepEqual(diagnostics, []);
  const [only] = tests;
  assert.ok(only);
  const file = [{ file: 'record.yaml', text: recordDefinition }];
  return runTest(only, {
    definitions: file,
    loadDefinitions: async () => file,
    loadObjects: async () => [],
  });
}

const created = `{ name: create, apply: ${record('www', '192.0.2.1')}, expect: [{ condition: { of: Record/www, type: Ready, status: "True" } }] }`;

describe('testing/http-apis', () => {
  test('a list may have an envelope that an object has not', async () => {
    const api = new SimulatedApi({
      clock: new FakeClock(),
      spec: {
        url: 'http://api',
        collections: [{ path: '/a', key: 'id', idBy: 'server', listEnvelope: 'items' }],
      },
    });
    const answerOf = async (method: string, path: string, body?: string) => {
      const request = { method, url: `http://api${path}`, headers: {}, maxBytes: 1e6 };
      const sent = { ...request, timeoutMs: 1e3, tls: {}, namespace: '', ...(body && { body }) };
      const answer = await api.send(sent as never, new AbortController().signal);
      return JSON.parse(answer.body);
    };
    assert.deepEqual(await answerOf('POST', '/a', '{"name":"x"}'), { id: 'id-1', name: 'x' });
    assert.deepEqual(await answerOf('GET', '/a/id-1'), { id: 'id-1', name: 'x' });
    assert.deepEqual(await answerOf('GET', '/a'), { items: [{ id: 'id-1', name: 'x' }] });
    assert.deepEqual(await answerOf('GET', '/a?name=y'), { items: [] });
  });

  test('objects are created, changed and deleted in a simulated API', async () => {
    const { failures } = await run(
      `{ name: create, apply: ${record('www', '192.0.2.1')}, expect: [${objects('[{ name: www, content: 192.0.2.1 }]')}, { requests: { method: POST, body: { name: www }, count: 1 } }, { status: { of: Record/www, is: { id: id-1 } } }] }`,
      `{ name: change, patch: { target: Record/www, merge: { spec: { ip: 192.0.2.2 } } }, expect: [${objects('[{ content: 192.0.2.2 }]')}, { requests: { method: POST, count: 0 } }] }`,
      `{ name: delete, delete: Record/www, expect: [${objects('[]')}, { nothingLeft: true }] }`,
    );
    assert.deepEqual(failures, []);
  });

  test('what others change or delete in the API is reverted at the next observation', async () => {
    const { failures } = await run(
      created,
      `{ name: change, api: { put: { /zones/z1/records: [{ id: id-1, type: A, name: www, content: 198.51.100.1 }] } }, advance: 11m, expect: [${objects('[{ id: id-1, content: 192.0.2.1 }]')}] }`,
      `{ name: delete, api: { remove: { /zones/z1/records: [id-1] } }, advance: 11m, expect: [${objects('[{ name: www }]')}], within: 5m }`,
    );
    assert.deepEqual(failures, []);
  });

  test('an API that fails delays a change, and a lost answer creates nothing twice', async () => {
    const { failures } = await run(
      created,
      `{ name: limited, api: { fail: { requests: { method: PUT }, status: 429, headers: { retry-after: "5" }, times: 2 } }, patch: { target: Record/www, merge: { spec: { ip: 192.0.2.2 } } }, within: 2m, expect: [${objects('[{ content: 192.0.2.2 }]')}, { requests: { method: PUT, count: 3 } }] }`,
      `{ name: down, api: { down: 30s }, patch: { target: Record/www, merge: { spec: { ip: 192.0.2.3 } } }, within: 3m, expect: [${objects('[{ content: 192.0.2.3 }]')}] }`,
      `{ name: lost, api: { fail: { requests: { method: POST }, lostAnswer: true } }, apply: ${record('two', '192.0.2.2')}, within: 5m, expect: [${objects('[{ name: www }, { name: two }]')}, { requests: { method: POST, count: 1 } }] }`,
    );
    assert.deepEqual(failures, []);
  });

  const wrong: readonly (readonly [string, string, string, string])[] = [
    [
      'another field',
      objects('[{ content: 192.0.2.9 }]'),
      '/spec/steps/1/expect/0/api/objects/0/content',
      'The object of "/zones/z1/records" is not as expected',
    ],
    [
      'an object that is missing',
      objects('[{ name: www }, { name: two }]'),
      '/spec/steps/1/expect/0/api/objects/1',
      '"/zones/z1/records" has no other object',
    ],
    [
      'an object too many',
      objects('[]'),
      '/spec/steps/1/expect/0/api/objects',
      '"/zones/z1/records" has 1 more: {"content":"192.0.2.1","name":"www","type":"A","id":"id-1"}',
    ],
    [
      'a collection that does not exist',
      '{ api: { path: /zones, objects: [] } }',
      '/spec/steps/1/expect/0/api/path',
      'The API has no collection "/zones"',
    ],
    [
      'a request that was not sent',
      '{ requests: { method: DELETE } }',
      '/spec/steps/1/expect/0/requests',
      'The API got no such request (DELETE); it got GET /zones/z1/records, POST /zones/z1/records',
    ],
    [
      'another number of requests',
      '{ requests: { method: POST, count: 2 } }',
      '/spec/steps/1/expect/0/requests/count',
      'The number of requests (POST) is not as expected',
    ],
  ];
  for (const [title, expectation, pointer, message] of wrong)
    test(`${title} is a failure`, async () => {
      const { failures } = await run(
        `{ name: create, apply: ${record('www', '192.0.2.1')}, expect: [${expectation}] }`,
      );
      assert.deepEqual(
        failures.map((each) => ({ pointer: each.pointer, message: each.message })),
        [{ pointer, message }],
      );
    });

  test('an API that is not simulated cannot be reached', async () => {
    const { failures } = await run(
      '{ name: elsewhere, patch: { target: HttpEndpoint.homeostat.dev/dns, merge: { spec: { url: http://dns.default.svc/v2 } } } }',
      `{ name: create, apply: ${record('www', '192.0.2.1')}, expect: [{ condition: { of: HttpObject.homeostat.dev/www, type: Synced, status: "False", message: { $match: 'No simulated API has "http://dns.default.svc/v2/zones/z1/records"; apis have "http://dns.default.svc/v1"' } } }] }`,
    );
    assert.deepEqual(failures, []);
  });

  test('a failed step shows the conditions that are not true', async () => {
    const { failures } = await run(
      '{ name: elsewhere, patch: { target: HttpEndpoint.homeostat.dev/dns, merge: { spec: { url: http://dns.default.svc/v2 } } } }',
      `{ name: create, apply: ${record('www', '192.0.2.1')}, expect: [${objects('[{ name: www }]')}, { requests: { method: POST } }] }`,
    );
    const shown = failures.map(({ conditions }) =>
      conditions?.map((line) => line.replace(/: No simulated API.*/, '')),
    );
    assert.deepEqual(shown, [
      [
        'HttpEndpoint/default/dns: Reachable is False, reason Unreachable',
        'HttpObject/default/www: Ready is False, reason Unreachable',
        'HttpObject/default/www: Synced is False, reason Unreachable',
        'Record/default/www: Ready is False, reason Progressing: record "www": Ready is False (Unreachable)',
      ],
      undefined,
    ]);
  });
});
