import assert from 'node:assert/strict';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { type ConsoleServer, startConsoleServer } from '#console/node/index.ts';
import { createSystemClock } from '#util/clock.ts';
import { createSystemRandom } from '#util/random.ts';
import { type SimulatedConsole, simulateConsole } from '../support/console/simulated-console.ts';
import { thingDefinition } from '../support/definitions.ts';

const resource = { apiVersion: 'v1', kind: 'Pod', name: 'a' };
const manifest = { file: 'a.yaml', text: 'a' };

/** A right body of each question. */
const questions: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  request: { method: 'GET', path: '/api/v1/pods' },
  definition: { name: 'one' },
  check: manifest,
  parse: { text: 'a: 1' },
  explain: resource,
  preview: { kind: 'definition', manifest },
  evaluate: { resource, expression: '1' },
  save: manifest,
};
const streams: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  watch: { kind: 'watch', path: '/api/v1/pods' },
  reconciles: { kind: 'reconciles', resource },
};

/** Values that are in no field. */
const wrong: readonly unknown[] = [null, 3, true, [], {}, [{}], { toString: 1 }, undefined];

describe('attacks/console-requests', () => {
  let simulated: SimulatedConsole;
  let server: ConsoleServer;
  before(async () => {
    simulated = await simulateConsole(
      [{ file: 'one.yaml', text: thingDefinition('one', '  children: []\n') }],
      [],
    );
    server = await startConsoleServer({
      backend: simulated.service,
      clock: createSystemClock(),
      random: createSystemRandom(),
    });
  });
  after(async () => {
    await server.close();
    await simulated.close();
  });

  async function ask(method: string, path: string, content?: string) {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
    const { origin, hostname, port, pathname } = new URL(server.url);
    const options = { method, hostname, port, path: `${pathname}${path}`, headers: { origin } };
    const sent = request(options, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    sent.on('error', reject).end(content);
    return simulated.drive(promise);
  }

  /** The name of a connection for streams, which ends with the signal. */
  async function openSession(signal: AbortSignal): Promise<string> {
    const response = await fetch(`${server.url}streams`, { signal });
    const { value } = (await response.body?.getReader().read()) ?? {};
    return (JSON.parse(new TextDecoder().decode(value)) as { session: string }).session;
  }

  const post = (question: string, body: unknown) =>
    ask('POST', `api/${question}`, JSON.stringify(body));

  for (const [question, right] of Object.entries(questions))
    for (const field of Object.keys(right))
      test(`${question}: a wrong "${field}" is 400 with the field`, async () => {
        for (const value of wrong) {
          const { status, body } = await post(question, { ...right, [field]: value });
          assert.equal(status, 400, body);
          assert.match(body, new RegExp(`"code":"invalid".*\\\\"${field}`), body);
          assert.doesNotMatch(body, /Cannot read|is not a function|undefined/);
        }
      });

  test('a name may be that of an RBAC object, but no other path', async () => {
    for (const question of ['explain', 'evaluate'])
      for (const [name, isRejected] of [
        ['alice@example.com', false],
        ['system:node', false],
        ['_a b', true],
        ['..', true],
        ['a/b', true],
        ['a%2Fb', true],
        ['a\n', true],
      ] as const) {
        const named = { ...resource, name };
        const body = question === 'explain' ? named : { resource: named, expression: '1' };
        const answer = await post(question, body);
        assert.equal(/"Invalid text/.test(answer.body), isRejected, `${name}: ${answer.body}`);
      }
  });

  test('streams: a wrong field is 400 with the field', async () => {
    const stopper = new AbortController();
    const session = await openSession(stopper.signal);
    for (const right of Object.values(streams))
      for (const field of Object.keys(right))
        for (const value of wrong) {
          const content = JSON.stringify({ ...right, [field]: value });
          const { status, body } = await ask('PUT', `streams/${session}/1`, content);
          assert.equal(status, 400, body);
          assert.match(body, new RegExp(`"code":"invalid".*\\\\"${field}`), body);
        }
    stopper.abort();
  });

  test('a body that is no map, for every question', async () => {
    for (const question of ['info', ...Object.keys(questions)])
      for (const content of ['', '3', 'null', '[]', '"a"', '{', '[[]]'])
        assert.equal((await ask('POST', `api/${question}`, content)).status, 400);
  });

  test('names of questions that every map of JavaScript has', async () => {
    for (const question of ['constructor', '__proto__', 'toString', 'hasOwnProperty'])
      assert.equal((await post(question, {})).status, 404);
  });

  for (const body of [
    { query: { watch: 'true' } },
    { query: { watch: '1' } },
    { query: { watch: '' } },
    { path: '/api/v1/pods?watch' },
    { path: '/api/v1/watch/pods' },
    { path: '/api/v1/namespaces/a/pods/b/log', query: { follow: 'true' } },
  ])
    test(`a request without an end is 400: ${JSON.stringify(body)}`, async () => {
      const { status } = await post('request', { ...questions.request, ...body });
      assert.equal(status, 400);
    });

  for (const path of ['assets/%E0%A4%A', 'api/%E0%A4%A', '%E0%A4%A', 'assets/%', 'streams/%FF'])
    test(`a malformed address is no error of the server: ${path}`, async () => {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
        const { status } = await ask(method, path, method === 'GET' ? undefined : '{}');
        assert.ok(status === 400 || status === 404, `${method}: ${status}`);
      }
    });

  test('a malformed address of a stream', async () => {
    for (const path of ['streams/%E0%A4%A/1', 'streams/a/%E0%A4%A', 'streams/a/b'])
      assert.ok([400, 404, 410].includes((await ask('PUT', path, '{"kind":"queues"}')).status));
  });
});
