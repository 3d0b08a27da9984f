import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ApiRequest, KubeError } from '#kube';
import { ProxiedRecords } from './proxied-records.ts';

const base = '/api/v1/namespaces/hs';
const secretPath = `${base}/secrets/token`;
const podsPath = `${base}/pods`;
const { signal } = new AbortController();

const pod = (name: string, { phase = 'Running', port = 9090 } = {}) => ({
  metadata: { name },
  spec: {
    containers: [
      {
        ports: [
          { name: 'other', containerPort: 1 },
          { name: 'http', containerPort: port },
        ],
      },
    ],
  },
  status: { phase },
});
const secret = (token: string) => ({ data: { token: btoa(token) } });
const failed = (code: 'not-found' | 'forbidden' | 'unauthorized' | 'unavailable', status: number) =>
  new KubeError(code, `status ${status}`, { status });

/** An API server that answers paths with bodies or errors; a function is called each time. */
function recordsOver(answers: Record<string, unknown>) {
  const asked: ApiRequest[] = [];
  const records = new ProxiedRecords({
    secret: { namespace: 'hs', name: 'token' },
    api: {
      request: async (request) => {
        asked.push(request);
        const given = answers[request.path] ?? failed('not-found', 404);
        const answer: unknown = typeof given === 'function' ? given(request) : given;
        if (answer instanceof KubeError) throw answer;
        return { status: 200, body: answer };
      },
    },
  });
  return { records, asked, paths: () => asked.map(({ path }) => path.replace(base, '')) };
}

describe('console/node/proxied-records', () => {
  test('asks the Pod that leads, with the token of the Secret, and remembers it', async () => {
    const { records, asked, paths } = recordsOver({
      [secretPath]: secret('abc\n'),
      [podsPath]: { items: [pod('old', { phase: 'Pending' }), pod('follower'), pod('leader')] },
      [`${podsPath}/follower:9090/proxy/records`]: failed('unavailable', 503),
      [`${podsPath}/leader:9090/proxy/records`]: { queues: {} },
    });
    assert.deepEqual(await records.read({ name: 'a' }, signal), { queues: {} });
    await records.read({}, signal);
    assert.deepEqual(paths(), [
      '/secrets/token',
      '/pods',
      '/pods/follower:9090/proxy/records',
      '/pods/leader:9090/proxy/records',
      '/pods/leader:9090/proxy/records',
    ]);
    const last = asked.at(-2);
    assert.deepEqual(last?.headers, { 'x-homeostat-records-token': 'abc' });
    assert.deepEqual(last?.query, { name: 'a' });
  });

  test('finds the new leader, and a changed token', async () => {
    let token = 'first';
    const answer = ({ headers }: ApiRequest) =>
      headers?.['x-homeostat-records-token'] === token
        ? { queues: {} }
        : failed('unauthorized', 401);
    const { records } = recordsOver({
      [secretPath]: () => secret(token),
      [podsPath]: { items: [pod('one')] },
      [`${podsPath}/one:9090/proxy/records`]: answer,
    });
    await records.read({}, signal);
    token = 'second';
    assert.deepEqual(await records.read({}, signal), { queues: {} });
  });

  for (const [title, answers, problem] of [
    ['there is no Secret', {}, /not recorded: there is no Secret "hs\/token" with a token/],
    [
      'the Secret may not be read',
      { [secretPath]: failed('forbidden', 403) },
      /Records cannot be read: status 403/,
    ],
    [
      'the Secret has no token',
      { [secretPath]: { data: {} } },
      /Secret "hs\/token" has no key "token"/,
    ],
    [
      'no Pod runs',
      { [secretPath]: secret('abc'), [podsPath]: { items: [] } },
      /No Pod with the label "app.kubernetes.io\/name=homeostat" runs in namespace "hs"/,
    ],
    [
      'the runtime records nothing',
      { [secretPath]: secret('abc'), [podsPath]: { items: [pod('one')] } },
      /does not record reconciles: start it with --console-records/,
    ],
    [
      'the token is another',
      {
        [secretPath]: secret('abc'),
        [podsPath]: { items: [pod('one')] },
        [`${podsPath}/one:9090/proxy/records`]: failed('unauthorized', 401),
      },
      /rejects the token/,
    ],
  ] satisfies readonly (readonly [string, Record<string, unknown>, RegExp])[])
    test(`says what to do when ${title}`, async () => {
      const { records } = recordsOver(answers);
      await assert.rejects(records.read({}, signal), problem);
    });
});
