import {
  HttpTransportError,
  type TransportAnswer,
  type TransportRequest,
  type TransportTls,
} from '#kube/roles.ts';
import { encodeBase64 } from '#util/base64.ts';
import { type KubeObject, keyOf } from '#util/kube-object.ts';
import type { FarRequest } from '../core/record.ts';
import type { RequestBody } from '../core/request-body.ts';
import type { Blocked } from '../core/view.ts';
import { isAllowed } from '../spec/allowed-request.ts';
import {
  authText,
  type BasicSpec,
  type EndpointSpec,
  endpointSources,
} from '../spec/endpoint-spec.ts';
import { isHeaderValue, isMethodOverride } from '../spec/header-names.ts';
import { urlBelow } from '../spec/location.ts';
import { sourceText, type ValueSource } from '../spec/value-source.ts';
import { AnswerMemory } from './answer-memory.ts';
import { ApiToken, type TokenHeader } from './api-token.ts';
import { Deadline } from './deadline.ts';
import type { HttpObjectPorts, InputValue } from './ports.ts';
import type { RequestLimits } from './request-limits.ts';
import { maskSecrets } from './secret-mask.ts';

/** One request of an object. */
export interface SessionRequest extends FarRequest {
  readonly body?: RequestBody;
  /** Set by the runtime: `If-Match`, `Idempotency-Key`. */
  readonly ownHeaders?: Readonly<Record<string, string>>;
}

type SentRequest = SessionRequest &
  Pick<TransportRequest, 'onLargeAnswer'> & { readonly deadline: Deadline };

/** Largest answer, after decompression. */
const maxBytes = 1024 * 1024;
const maxRedirects = 3;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

interface SessionOptions {
  readonly object: KubeObject;
  readonly spec: EndpointSpec;
  readonly ports: HttpObjectPorts;
  readonly limits: RequestLimits;
}

/** Requests to one endpoint with one set of credentials, which are in memory only. */
export class EndpointSession {
  readonly #options: SessionOptions;
  readonly #values: ReadonlyMap<string, InputValue>;
  readonly #token: ApiToken | undefined;
  readonly #namespace: string;

  private constructor(options: SessionOptions, values: ReadonlyMap<string, InputValue>) {
    const { spec, object } = options;
    const { name, namespace = '' } = object.metadata;
    const ports = measuredPorts(options.ports, keyOf(namespace, name));
    this.#options = { ...options, ports };
    this.#values = values;
    this.#namespace = namespace;
    const { auth } = spec;
    const isToken = auth?.kind === 'oauth2' || auth?.kind === 'login';
    this.#token = isToken
      ? new ApiToken({
          ...{ auth, spec, namespace, endpoint: name },
          ...{ ports, tls: this.#tls },
          read: (source) => this.#valueOf(source),
        })
      : undefined;
  }

  /** Reads the credentials of an endpoint. @throws KubeError */
  static async open(
    options: SessionOptions,
    signal: AbortSignal,
  ): Promise<EndpointSession | Blocked> {
    const { spec, object, ports } = options;
    const values = new Map<string, InputValue>();
    for (const source of endpointSources(spec)) {
      const value = await ports.values.read(object.metadata.namespace ?? '', source, signal);
      if ('reason' in value) return { ...value, isGone: true };
      values.set(sourceText(source), value);
    }
    return new EndpointSession(options, values);
  }

  /** The versions of the credentials: another one needs another session. */
  get version(): string {
    return Array.from(this.#values.values(), ({ version }) => version).join(' ');
  }

  get usesCredentials(): boolean {
    return this.#options.spec.auth !== undefined;
  }

  /** See {@link authText}. */
  get authText(): string {
    return authText(this.#options.spec.auth);
  }

  /** Removes credentials from a text. */
  mask(text: string): string {
    const values = Array.from(this.#values.values(), ({ value }) => value);
    const token = this.#token?.current;
    const { auth } = this.#options.spec;
    return maskSecrets(text, [
      ...values,
      ...(token === undefined ? [] : [token]),
      // Its Base64 is what the header has.
      ...(auth?.kind === 'basic' ? [this.#basicText(auth)] : []),
    ]);
  }

  /**
   * Sends a request when the limits of the endpoint permit it, and reads its answer. A large answer takes memory of the shared pool until
   * it is read. The time-out of the endpoint is that of all requests that this needs.
   * @throws HttpTransportError
   */
  async send<Result>(
    request: SessionRequest,
    read: (answer: TransportAnswer) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const { ports, limits, spec } = this.#options;
    const memory = new AnswerMemory(ports.memory, maxBytes);
    try {
      const release = await limits.acquire(signal);
      const deadline = new Deadline(ports.clock, spec.timeoutMs);
      const onLargeAnswer = () => memory.reserve();
      const sent = this.#sendWithToken({ ...request, deadline, onLargeAnswer }, signal);
      return await read(await sent.finally(release));
    } finally {
      memory.release();
    }
  }

  async #sendWithToken(request: SentRequest, signal: AbortSignal): Promise<TransportAnswer> {
    const { deadline } = request;
    const issuer = this.#token;
    if (issuer === undefined) return this.#follow(request, undefined, signal);
    const token = await deadline.within(() => issuer.header(signal));
    const answer = await this.#follow(request, token, signal);
    if (answer.status !== 401) return answer;
    // Rejected, so it had no effect: once more with a new token.
    const renewed = await deadline.within(() => issuer.renewed(token, signal));
    return renewed === undefined ? answer : this.#follow(request, renewed, signal);
  }

  /** Redirects are followed for GET only, and within the location of the endpoint. */
  async #follow(
    request: SentRequest,
    token: TokenHeader | undefined,
    signal: AbortSignal,
  ): Promise<TransportAnswer> {
    let { path, query } = request;
    for (let count = 0; ; count++) {
      const answer = await this.#sendOnce(
        { ...request, path, ...(query && { query }) },
        token,
        signal,
      );
      const { location } = answer.headers;
      const follows = request.method === 'GET' && redirects.has(answer.status);
      if (!follows || location === undefined || count === maxRedirects) return answer;
      const target = this.#targetOf(location, path);
      if (target === undefined) return answer;
      path = target.path;
      query = target.query;
    }
  }

  #targetOf(
    location: string,
    from: string,
  ): { readonly path: string; readonly query: Readonly<Record<string, string>> } | undefined {
    const { origin, basePath } = this.#options.spec;
    let url: URL;
    try {
      url = new URL(location, `${origin}${basePath}${from}`);
    } catch {
      return undefined;
    }
    if (url.origin !== origin || !url.pathname.startsWith(`${basePath}/`)) return undefined;
    if (url.username !== '' || url.password !== '') return undefined;
    const query = Object.fromEntries(url.searchParams);
    if (Object.keys(query).some(isMethodOverride)) return undefined;
    return { path: url.pathname.slice(basePath.length), query };
  }

  async #sendOnce(
    request: SentRequest,
    token: TokenHeader | undefined,
    signal: AbortSignal,
  ): Promise<TransportAnswer> {
    const { spec, ports } = this.#options;
    const { method, path, query, body, deadline } = request;
    const url = urlBelow(spec, path, query);
    if (url === undefined || !isAllowed(spec.allow, { method, path }))
      throw notAllowed(`The endpoint does not allow ${method} requests to "${path}"`);
    const { beforeWrite } = ports;
    const sent = ports.transport.send(
      {
        ...{ method, url, maxBytes, timeoutMs: deadline.leftMs, tls: this.#tls },
        headers: { ...this.#headers(request), ...token },
        ...(body !== undefined && { body: body.text }),
        ...(request.onLargeAnswer && { onLargeAnswer: request.onLargeAnswer }),
        namespace: this.#namespace,
        ...(method !== 'GET' && beforeWrite !== undefined && { beforeSend: beforeWrite }),
      },
      signal,
    );
    return sent.catch((error: unknown) => {
      const isLate = error instanceof HttpTransportError && error.code === 'timeout';
      throw isLate ? deadline.error(error.mayHaveArrived, error) : error;
    });
  }

  #headers({ headers, ownHeaders, body }: SessionRequest): Readonly<Record<string, string>> {
    const entries = Object.entries({ ...this.#options.spec.headers, ...headers, ...ownHeaders });
    return {
      accept: 'application/json',
      ...Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value])),
      ...(body !== undefined && { 'content-type': body.contentType }),
      ...this.#credentials(),
    };
  }

  #credentials(): Readonly<Record<string, string>> {
    const { auth } = this.#options.spec;
    switch (auth?.kind) {
      case 'basic': {
        return { authorization: `Basic ${encodeBase64(this.#basicText(auth))}` };
      }
      case 'bearer':
        return { authorization: `Bearer ${this.#headerValueOf(auth.token)}` };
      case 'header':
        return { [auth.name.toLowerCase()]: this.#headerValueOf(auth.value) };
      default:
        return {};
    }
  }

  #basicText({ username, password }: BasicSpec): string {
    return `${this.#valueOf(username)}:${this.#valueOf(password)}`;
  }

  get #tls(): TransportTls {
    const { ca, certificate, key, serverName, insecureSkipVerify } = this.#options.spec.tls;
    return {
      ...(ca && { ca: this.#valueOf(ca) }),
      ...(certificate && { certificate: this.#valueOf(certificate) }),
      ...(key && { key: this.#valueOf(key) }),
      ...(serverName !== undefined && { serverName }),
      ...(insecureSkipVerify && { insecureSkipVerify }),
    };
  }

  #valueOf(source: ValueSource): string {
    return this.#values.get(sourceText(source))?.value ?? '';
  }

  /** Without the line feed at the end that files have. */
  #headerValueOf(source: ValueSource): string {
    const value = this.#valueOf(source).trim();
    if (!isHeaderValue(value))
      throw notAllowed(`Expected a value that can be a header in ${sourceText(source)}`);
    return value;
  }
}

function measuredPorts(ports: HttpObjectPorts, endpoint: string): HttpObjectPorts {
  const { metrics, transport, clock } = ports;
  if (metrics === undefined) return ports;
  return { ...ports, transport: metrics.measured(transport, endpoint, clock) };
}

function notAllowed(message: string): HttpTransportError {
  return new HttpTransportError('address-not-allowed', message, { mayHaveArrived: false });
}
