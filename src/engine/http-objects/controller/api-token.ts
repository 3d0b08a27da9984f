import {
  HttpTransportError,
  KubeError,
  type TransportAnswer,
  type TransportTls,
} from '#kube/roles.ts';
import { parseJson } from '#util/exact-json.ts';
import type { Json } from '#util/json.ts';
import { isJsonObject } from '#util/json.ts';
import { evaluateCode } from '../spec/code-field.ts';
import {
  authText,
  type EndpointSpec,
  type LoginSpec,
  type OAuth2Spec,
} from '../spec/endpoint-spec.ts';
import { fieldPathOf, withValueAt } from '../spec/field-path.ts';
import { isHeaderValue } from '../spec/header-names.ts';
import { urlBelow } from '../spec/location.ts';
import type { ValueSource } from '../spec/value-source.ts';
import { codeBudget } from './code-budget.ts';
import { Deadline } from './deadline.ts';
import { isAccountMissing, TokenRefusedError } from './login-tokens.ts';
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

  /** The header of the token, renewed in time. @throws HttpTransportError */
  async header(signal: AbortSignal): Promise<TokenHeader> {
    const { clock } = this.#options.ports;
    const token = this.#token;
    if (token !== undefined && clock.monotonicMs() < token.renewAtMs) return token.header;
    return (await this.#fetch(signal)).header;
  }

  /**
   * A newer token than the rejected one. Undefined: it is new itself, so the account lacks rights.
   * @throws HttpTransportError
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
    const { auth, ports, spec } = this.#options;
    const deadline = new Deadline(ports.clock, spec.timeoutMs);
    try {
      const token =
        auth.kind === 'oauth2'
          ? await this.#grant(auth, deadline, signal)
          : await this.#login(auth, deadline, signal);
      this.#token = token;
      this.#failure = undefined;
      ports.metrics?.countToken('success');
      return token;
    } catch (error) {
      const untilMs = ports.clock.monotonicMs() + failureMs;
      if (!signal.aborted) {
        this.#failure = { error, untilMs };
        ports.metrics?.countToken('error');
      }
      throw error;
    }
  }

  async #grant(auth: OAuth2Spec, deadline: Deadline, signal: AbortSignal): Promise<IssuedToken> {
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
      deadline,
      signal,
    );
    const fields = isJsonObject(body) ? body : {};
    return this.#issued(fields.access_token, fields.expires_in, undefined);
  }

  async #login(auth: LoginSpec, deadline: Deadline, signal: AbortSignal): Promise<IssuedToken> {
    const { spec, ports, namespace } = this.#options;
    const jwt = await deadline.within(() => this.#accountToken(auth, signal));
    const content = withValueAt(auth.body, fieldPathOf(auth.jwtField) ?? [auth.jwtField], jwt);
    const url = urlBelow(spec, auth.path);
    if (url === undefined) throw rejected('The path of the login leaves the URL of the endpoint');
    const text = JSON.stringify(content);
    const body = await this.#post({ url, contentType: 'application/json', text }, deadline, signal);
    const scope = { ...(body !== undefined && { body }) };
    const budget = codeBudget(ports, namespace);
    const token = await evaluateCode(auth.token, scope, budget);
    const lifetime =
      auth.lifetimeSeconds && (await evaluateCode(auth.lifetimeSeconds, scope, budget));
    return this.#issued(token, lifetime, auth.header);
  }

  /** @throws HttpTransportError */
  async #accountToken(
    { serviceAccount, audience }: LoginSpec,
    signal: AbortSignal,
  ): Promise<string> {
    const { ports, namespace, endpoint } = this.#options;
    try {
      const request = { namespace, endpoint, serviceAccount, audience };
      return await ports.tokens.issue(request, signal);
    } catch (error) {
      signal.throwIfAborted();
      const isExpected = error instanceof KubeError || error instanceof TokenRefusedError;
      if (!isExpected) throw error;
      const code = isAccountMissing(error) ? 'account-missing' : 'token-rejected';
      const message = `No token of ServiceAccount "${serviceAccount}": ${error.message}`;
      throw new HttpTransportError(code, message, { mayHaveArrived: false, cause: error });
    }
  }

  /** Never follows a redirect: its target would receive the credentials. */
  async #post(
    request: { readonly url: string; readonly contentType: string; readonly text: string },
    deadline: Deadline,
    signal: AbortSignal,
  ): Promise<Json | undefined> {
    const { ports, spec, namespace, tls } = this.#options;
    const sent = ports.transport.send(
      {
        ...{ method: 'POST', url: request.url, namespace, timeoutMs: deadline.leftMs },
        headers: { accept: 'application/json', 'content-type': request.contentType },
        body: request.text,
        maxBytes: maxTokenBytes,
        // Another server has other certificates.
        tls: new URL(request.url).origin === spec.origin ? tls : {},
      },
      signal,
    );
    const answer = await sent.catch((error: unknown) => {
      throw ofToken(error, deadline);
    });
    if (answer.status < 200 || answer.status > 299) {
      const isAuth = answer.status === 401 || answer.status === 403;
      const sent = isAuth ? ` (sent with ${authText(this.#options.auth)})` : '';
      const { pathname } = new URL(request.url);
      throw rejected(
        `The request for a token (POST ${pathname}) was answered with ${answer.status}${sent}`,
      );
    }
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

/** A request for a token that may have arrived changes no object: nothing of the object was sent. */
function ofToken(error: unknown, deadline: Deadline): unknown {
  if (!(error instanceof HttpTransportError)) return error;
  if (error.code === 'timeout') return deadline.error(false, error);
  const { code, message } = error;
  return new HttpTransportError(code, message, { mayHaveArrived: false, cause: error });
}

/** Nothing of the object was sent. */
function rejected(message: string): HttpTransportError {
  return new HttpTransportError('token-rejected', message, { mayHaveArrived: false });
}
