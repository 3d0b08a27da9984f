import { Pool } from 'undici';
import { messageOf } from '#util/homeostat-error.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { KubeConfigError } from './cluster-config.ts';
import { readCredentialFile } from './credential-file.ts';

/** Fields of `auth-provider.config` of an `oidc` user in a kubeconfig. */
export interface OidcSettings {
  readonly 'id-token'?: string;
  readonly 'refresh-token'?: string;
  readonly 'client-id'?: string;
  readonly 'client-secret'?: string;
  readonly 'idp-issuer-url'?: string;
  readonly 'idp-certificate-authority'?: string;
  readonly 'idp-certificate-authority-data'?: string;
}

/** Tokens are refreshed this long before they expire. */
const earlyMs = 10_000;
const timeoutMs = 10_000;

/**
 * ID tokens of an OpenID Connect provider. Expired tokens are refreshed as in kubectl, but not written back to the
 * kubeconfig. Own implementation: the library's refresh never works, because it passes a string where its client
 * expects a URL.
 */
export class OidcTokens {
  readonly #settings: OidcSettings;
  #idToken: string | undefined;
  #refreshToken: string | undefined;

  constructor(settings: OidcSettings) {
    this.#settings = settings;
    this.#idToken = settings['id-token'];
    this.#refreshToken = settings['refresh-token'];
  }

  /**
   * The current token. Do not call concurrently: a refresh token may be valid only once.
   * @param nowMs wall-clock time
   * @throws KubeConfigError when the token has expired and cannot be refreshed.
   */
  async load(nowMs: number): Promise<string> {
    if (this.#idToken !== undefined && expiresAtMs(this.#idToken) - earlyMs > nowMs)
      return this.#idToken;
    const answer = await this.#refresh();
    if (typeof answer.id_token !== 'string') throw tokenError('the response has no id_token');
    this.#idToken = answer.id_token;
    if (typeof answer.refresh_token === 'string') this.#refreshToken = answer.refresh_token;
    return this.#idToken;
  }

  async #refresh(): Promise<JsonObject> {
    const { 'idp-issuer-url': issuer, 'client-id': clientId } = this.#settings;
    const refreshToken = this.#refreshToken;
    if (refreshToken === undefined || issuer === undefined || clientId === undefined) {
      const required = '"refresh-token", "idp-issuer-url" and "client-id"';
      throw tokenError(`the token has expired; to refresh it, set ${required}`);
    }
    const ca = await this.#authority();
    const metadataUrl = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const provider = await fetchJson({ url: metadataUrl, ca });
    if (typeof provider.token_endpoint !== 'string')
      throw tokenError('its metadata has no token_endpoint');
    return fetchJson({
      url: provider.token_endpoint,
      ca,
      form: { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId },
      secret: this.#settings['client-secret'],
      isBasic: takesBasic(provider),
    });
  }

  async #authority(): Promise<string | undefined> {
    const file = this.#settings['idp-certificate-authority'];
    const data = this.#settings['idp-certificate-authority-data'];
    if (data) return Buffer.from(data, 'base64').toString('utf8');
    return file ? readCredentialFile('certificate authority', file) : undefined;
  }
}

/** `exp` of a JWT in ms. Without `exp` 0: the token counts as expired. */
function expiresAtMs(token: string): number {
  try {
    const payload: unknown = JSON.parse(
      Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'),
    );
    return isJsonObject(payload) ? Number(payload.exp ?? 0) * 1_000 : 0;
  } catch {
    // Not a JWT: request one from the provider.
    return 0;
  }
}

/** Whether the client authenticates by `client_secret_basic`, the standard's default. */
function takesBasic(provider: JsonObject): boolean {
  const methods = provider.token_endpoint_auth_methods_supported;
  return !Array.isArray(methods) || methods.includes('client_secret_basic');
}

interface Exchange {
  readonly url: string;
  readonly ca: string | undefined;
  /** Sent by POST. */
  readonly form?: Readonly<Record<string, string>>;
  readonly secret?: string | undefined;
  readonly isBasic?: boolean;
}

async function fetchJson({ url, ca, form, secret, isBasic = true }: Exchange): Promise<JsonObject> {
  const { origin, pathname, search } = new URL(url);
  const pool = new Pool(origin, { connect: { timeout: timeoutMs, ...(ca ? { ca } : {}) } });
  try {
    const { statusCode, body } = await pool.request({
      path: pathname + search,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      ...(form === undefined ? { method: 'GET' } : post(form, secret, isBasic)),
    });
    const answer: unknown = await body.json();
    if (statusCode !== 200 || !isJsonObject(answer)) throw tokenError(`status ${statusCode}`);
    return answer;
  } catch (error) {
    if (error instanceof KubeConfigError) throw error;
    // The parser's message may quote a token.
    if (error instanceof SyntaxError) throw tokenError('the response is not JSON');
    throw tokenError(messageOf(error), error);
  } finally {
    await pool.destroy();
  }
}

function post(
  form: Readonly<Record<string, string>>,
  secret: string | undefined,
  isBasic: boolean,
) {
  const inForm = secret && !isBasic ? { client_secret: secret } : {};
  const basic = [form.client_id ?? '', secret ?? ''].map(encodeURIComponent).join(':');
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      ...(secret && isBasic
        ? { authorization: `Basic ${Buffer.from(basic).toString('base64')}` }
        : {}),
    },
    body: new URLSearchParams({ ...form, ...inForm }).toString(),
  } as const;
}

function tokenError(why: string, cause?: unknown): KubeConfigError {
  const message = `Cannot get a token from the OIDC provider: ${why}`;
  return new KubeConfigError('invalid', message, { cause });
}
