import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { isAccountMissing, LoginTokens, TokenRefusedError } from './login-tokens.ts';

const { signal } = new AbortController();
const request = { namespace: 'shop', serviceAccount: 'robot', audience: 'vault', endpoint: 'api' };

function setUp(annotation: string | undefined, error?: Error) {
  const requested: (readonly string[])[] = [];
  const tokens = new LoginTokens({
    cluster: {
      async get({ name, namespace = '' }) {
        if (annotation === undefined) return undefined;
        const annotations = { 'homeostat.dev/http-login': annotation };
        const metadata = { name, namespace, annotations };
        const object = { apiVersion: 'v1', kind: 'ServiceAccount', metadata };
        return { object, cluster: undefined, appliedBy: [] };
      },
      managedFields: async () => [],
    },
    requests: {
      async create(_account, audiences) {
        if (error) throw error;
        requested.push(audiences);
        const granted = audiences.length === 0 ? ['https://kubernetes.default.svc'] : audiences;
        return { token: `token for ${granted.join()}`, audiences: granted };
      },
    },
  });
  return { tokens, requested };
}

describe('http-objects/controller logins', () => {
  test('requests a token for the audience, and asks for those of the API server once', async () => {
    const { tokens, requested } = setUp('other=aws, api=vault');
    assert.equal(await tokens.issue(request, signal), 'token for vault');
    assert.equal(await tokens.issue(request, signal), 'token for vault');
    assert.deepEqual(requested, [[], ['vault'], ['vault']]);
  });

  for (const [title, annotation, more, code] of [
    ['an account that does not exist', undefined, {}, 'account-missing'],
    ['an account that names another endpoint', 'other=vault', {}, 'not-allowed'],
    ['an account that names no audience', 'api', {}, 'not-allowed'],
    ['another audience than the account names', 'api=vault', { audience: 'sts' }, 'not-allowed'],
    [
      'the audience of the API server',
      'api=https://kubernetes.default.svc',
      { audience: 'https://kubernetes.default.svc' },
      'not-allowed',
    ],
  ] as const)
    test(`requests no token for ${title}`, async () => {
      const { tokens, requested } = setUp(annotation);
      await assert.rejects(tokens.issue({ ...request, ...more }, signal), (error) => {
        assert.ok(error instanceof TokenRefusedError);
        assert.equal(error.code, code);
        assert.equal(isAccountMissing(error), code === 'account-missing');
        return true;
      });
      assert.ok(requested.every((audiences) => audiences.length === 0));
    });

  test('an account that is deleted meanwhile is missing', async () => {
    const error = new KubeError('not-found', 'not found', { status: 404 });
    await assert.rejects(setUp('api=vault', error).tokens.issue(request, signal), isAccountMissing);
  });
});
