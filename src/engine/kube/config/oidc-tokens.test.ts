import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import {
  type ReceivedRequest,
  type ScriptedAnswer,
  ScriptedServer,
} from '../../../../test/support/scripted-server.ts';
import { type OidcSettings, OidcTokens } from './oidc-tokens.ts';

const nowMs = Date.UTC(2026, 0, 1);

/** A JWT without a signature. */
function token(subject: string, lifetimeS: number): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part({ sub: subject, exp: nowMs / 1_000 + lifetimeS })}.x`;
}

describe('kube/oidc-tokens', () => {
  let provider: ScriptedServer | undefined;

  afterEach(() => provider?.stop());

  /** Tokens of a provider that answers so to each refresh, and what it was sent. */
  async function tokensOf(
    settings: OidcSettings,
    answers: readonly ScriptedAnswer[],
    metadata: object = {},
  ) {
    const asked: ReceivedRequest[] = [];
    const server = await ScriptedServer.start((request) => {
      if (request.path === '/idp/.well-known/openid-configuration')
        return { status: 200, body: { token_endpoint: `${server.url}/token`, ...metadata } };
      asked.push(request);
      return answers[asked.length - 1] ?? { status: 500 };
    });
    provider = server;
    const known = { 'client-id': 'me', 'idp-issuer-url': `${server.url}/idp` };
    return { tokens: new OidcTokens({ ...known, ...settings }), asked };
  }

  const expired = { 'id-token': token('old', 5), 'refresh-token': 'first' };

  test('a token that is good is sent as it is', async () => {
    const good = token('good', 60);
    const { tokens, asked } = await tokensOf({ ...expired, 'id-token': good }, []);
    assert.equal(await tokens.load(nowMs), good);
    assert.equal(asked.length, 0);
  });

  test('one that expires is refreshed, and the new one is kept until it expires', async () => {
    const fresh = token('fresh', 60);
    const { tokens, asked } = await tokensOf(expired, [{ status: 200, body: { id_token: fresh } }]);
    assert.equal(await tokens.load(nowMs), fresh);
    assert.equal(await tokens.load(nowMs), fresh);
    assert.deepEqual(
      asked.map(({ method, headers, body }) => [method, headers.authorization, body]),
      [['POST', undefined, 'grant_type=refresh_token&refresh_token=first&client_id=me']],
    );
  });

  test('a refresh token that works once is replaced by the one that came with the answer', async () => {
    const { tokens, asked } = await tokensOf(expired, [
      { status: 200, body: { id_token: token('a', 60), refresh_token: 'second' } },
      { status: 200, body: { id_token: token('b', 600) } },
    ]);
    await tokens.load(nowMs);
    assert.equal(await tokens.load(nowMs + 60_000), token('b', 600));
    assert.match(asked[1]?.body ?? '', /refresh_token=second/);
  });

  for (const [methods, authorization, secretInForm] of [
    [undefined, 'Basic bWU6YSUyRmI=', false],
    [['client_secret_basic'], 'Basic bWU6YSUyRmI=', false],
    [['client_secret_post'], undefined, true],
  ] as const) {
    test(`a client's secret is sent as the provider accepts it: ${methods ?? 'not reported'}`, async () => {
      const { tokens, asked } = await tokensOf(
        { ...expired, 'client-secret': 'a/b' },
        [{ status: 200, body: { id_token: token('fresh', 60) } }],
        methods && { token_endpoint_auth_methods_supported: methods },
      );
      await tokens.load(nowMs);
      assert.equal(asked[0]?.headers.authorization, authorization);
      assert.equal(asked[0]?.body.includes('client_secret=a%2Fb'), secretInForm);
    });
  }

  for (const [what, settings, answer, message] of [
    ['nothing to refresh with', { 'id-token': token('old', 0) }, undefined, /"refresh-token"/],
    ['a rejection', expired, { status: 400, body: { error: 'invalid_grant' } }, /status 400/],
    ['no identity token', expired, { status: 200, body: { access_token: 'x' } }, /no id_token/],
    ['an answer that is no JSON', expired, { status: 200, body: 'secret' }, /is not JSON$/],
  ] as const) {
    test(`${what} is reported, without what is secret`, async () => {
      const { tokens } = await tokensOf(settings, [answer]);
      await assert.rejects(tokens.load(nowMs), (error: Error) => {
        assert.equal(error.name, 'KubeConfigError');
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /secret|first/);
        return true;
      });
    });
  }
});
