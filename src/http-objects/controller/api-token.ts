import { HttpTransportError, type TransportAnswer, type TransportTls } from '../../kube/roles.ts';
import { parseJson } from '../../util/exact-json.ts';
import type { Json } from '../../util/json.ts';
import { isJsonObject } from '../../util/json.ts';
import { evaluateCode } from '../spec/code-field.ts';
import type { EndpointSpec, LoginSpec, OAuth2Spec } from '../spec/endpoint-spec.ts';
import { fieldPathOf, withValueAt } from '../spec/field-path.ts';
import { isHeaderValue } from '../spec/header-names.ts';
import { urlBelow } from '../spec/location.ts';
import type { ValueSource } from '../spec/value-source.ts';
import type { HttpObjectPorts } from './ports.ts';

/** The header with a token. */
export type TokenHeader = Readonly<Record<string, string>>;

interface ApiTokenOptions {
  readonly auth: OAuth2Spec | LoginSpec;
  readonly spec: EndpointSpec;
  readonly namespace: string;
  /** Name of the endpoint. */
  readonly endpoint: string;
  readonly tls: TransportTls;
  readonly ports: HttpObjectPorts;
  readonly read: (source: ValueSource) => string;
}

/** Renewed after this part of its lifetime. */
const renewedAfter = 0.8;
const defaultLifetimeSeconds = 3600;
/** A rejected token that is younger is not renewed. */
const minRenewalGapMs = 10_000;
const maxTokenBytes = 64 * 1024;
/** After a failed renewal: a server that is asked by a thousand objects is asked once. */
const failureMs = 5_000;

interface IssuedToken {
  readonly value: string;
  readonly header: TokenHeader;
  readonly issuedAtMs: number;
  readonly renewAtMs: number;
}

/** The token of an endpoint: fetched once for all of its objects, and in memory only. */
export class ApiToken {
  readonly #options: ApiTokenOptions;
  #token: IssuedToken | undefined;
  #fetching: Promise<IssuedToken> | undefined;
  #failure: { readonly error: unknown; readonly untilMs: number } | undefined;

  constructor(options: ApiTokenOptions) {
    this.#options = options;
  }

  /** The text of the token. Undefined: there is none. */
  get current(): string | undefined {
    return this.#token?.value;
  }

  /** The header of the token, renewed in time. @throws HttpTransportError, KubeError */
  async header(signal: AbortSignal): Promise<TokenHeader> {
    const { clock } = this.#options.ports;
    const token = this.#token;
    if (token !== undefined && clock.monotonicMs() < token.renewAtMs) return token.header;
    return (await this.#fetch(signal)).header;
  }

  /**
   * A newer token than the rejected one. Undefined: it is new itself, so the account lacks rights.
   * @throws HttpTransportError, KubeError
   */
  async renewed(rejected: TokenHeader, signal: AbortSignal): Promise<TokenHeader | undefined> {
    const token = this.#token;
    if (token !== undefined && token.header !== rejected) return token.header;
    const ageMs = this.#options.ports.clock.monotonicMs() - (token?.issuedAtMs ?? 0);
    if (token !== undefined && ageMs < minRenewalGapMs) return undefined;
    return (await this.#fetch(signal)).header;
  }

  #fetch(signal: AbortSignal): Promise<IssuedToken> {
    const { clock } = this.#options.ports;
    const failure = this.#failure;
    if (failure !== undefined && clock.monotonicMs() < failure.untilMs)
      return Promise.reject(failure.error);
    this.#fetching ??= this.#issue(signal).finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #issue(signal: AbortSignal): Promise<IssuedToken> {
    const { auth, ports } = this.#options;
    try {
      const token =
        auth.kind === 'oauth2' ? await this.#grant(auth, signal) : await this.#login(auth, signal);
      this.#token = token;
      this.#failure = undefined;
      return token;
    } catch (error) {
      const untilMs = ports.clock.monotonicMs() + failureMs;
      if (!signal.aborted) this.#failure = { error, untilMs };
      throw error;
    }
  }

  async #grant(auth: OAuth2Spec, signal: AbortSignal): Promise<IssuedToken> {
    const { read } = this.#options;
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: read(auth.clientId),
      client_secret: read(auth.clientSecret).trim(),
      ...(auth.scopes.length > 0 && { scope: auth.scopes.join(' ') }),
    });
    const body = await this.#post(
      {
        url: auth.tokenUrl,
        contentType: 'application/x-www-form-urlencoded',
        text: form.toString(),
      },
      signal,
    );
    const fields = isJsonObject(body) ? body : {};
    return this.#issued(fields.access_token, fields.expires_in, undefined);
  }

  async #login(auth: LoginSpec, signal: AbortSignal): Promise<IssuedToken> {
    const { ports, namespace, endpoint, spec } = this.#options;
    const { serviceAccount, audience } = auth;
    const jwt = await ports.tokens.issue(
      { ...{ namespace, endpoint }, serviceAccount, audience },
      signal,
    );
    const content = withValueAt(auth.body, fieldPathOf(auth.jwtField) ?? [auth.jwtField], jwt);
    const url = urlBelow(spec, auth.path);
    if (url === undefined) throw rejected('The path of the login leaves the URL of the endpoint');
    const text = JSON.stringify(content);
    const body = await this.#post({ url, contentType: 'application/json', text }, signal);
    const scope = { ...(body !== undefined && { body }) };
    const token = await evaluateCode(auth.token, scope);
    const lifetime = auth.lifetimeSeconds && (await evaluateCode(auth.lifetimeSeconds, scope));
    return this.#issued(token, lifetime, auth.header);
  }

  /** Never follows a redirect: its target would receive the credentials. */
  async #post(
    request: { readonly url: string; readonly contentType: string; readonly text: string },
    signal: AbortSignal,
  ): Promise<Json | undefined> {
    const { ports, spec, namespace, tls } = this.#options;
    const answer = await ports.transport.send(
      {
        ...{ method: 'POST', url: request.url, namespace, timeoutMs: spec.timeoutMs },
        headers: { accept: 'application/json', 'content-type': request.contentType },
        body: request.text,
        maxBytes: maxTokenBytes,
        // Another server has other certificates.
        tls: new URL(request.url).origin === spec.origin ? tls : {},
      },
      signal,
    );
    if (answer.status < 200 || answer.status > 299)
      throw rejected(`The request for a token was answered with ${answer.status}`);
    return parsed(answer);
  }

  #issued(
    value: Json | undefined,
    lifetime: Json | undefined,
    header: string | undefined,
  ): IssuedToken {
    if (typeof value !== 'string' || value === '' || !isHeaderValue(value))
      throw rejected('Expected a token in the answer, found none');
    const isLifetime = typeof lifetime === 'number' && Number.isFinite(lifetime) && lifetime > 0;
    const seconds = isLifetime ? lifetime : defaultLifetimeSeconds;
    const nowMs = this.#options.ports.clock.monotonicMs();
    return {
      value,
      header:
        header === undefined
          ? { authorization: `Bearer ${value}` }
          : { [header.toLowerCase()]: value },
      issuedAtMs: nowMs,
      renewAtMs: nowMs + Math.max(1_000, seconds * 1000 * renewedAfter),
    };
  }
}

function parsed({ body }: TransportAnswer): Json | undefined {
  try {
    return parseJson(body);
  } catch {
    return undefined;
  }
}

/** Nothing of the object was sent. */
function rejected(message: string): HttpTransportError {
  return new HttpTransportError('token-rejected', message, { mayHaveArrived: false });
}
