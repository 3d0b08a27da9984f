import { once } from 'node:events';
import {
  type AgentOptions,
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { type Clock, createSystemClock } from '#util/clock.ts';
import { parseJson } from '#util/exact-json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { patienceMs } from '../patience.ts';
import { type KindInfo, parseKinds } from './discovery.ts';
import { isEstablished } from './established.ts';
import { type FollowOptions, follow } from './follow.ts';
import { splitPath } from './resource-path.ts';
import { type ListPredicate, type ObjectPredicate, type UntilOptions, until } from './until.ts';

export const mergePatchType = 'application/merge-patch+json';
export const applyType = 'application/apply-patch+yaml';
const jsonType = 'application/json';
const lostCodes: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE']);

export interface PlaneClientOptions {
  readonly server: string;
  readonly token: string;
  /** PEM text that verifies the server. */
  readonly caCertificate: string;
  /** @default 'test' */
  readonly userAgent?: string;
  /** Of the waits between two requests: on a virtual time, hours would pass while a real timer runs. @default the system's */
  readonly clock?: Clock;
}

export interface PlaneRequest {
  readonly method: string;
  /** Path and query: `/api/v1/namespaces/default/pods?limit=1`. */
  readonly path: string;
  /** Sent as JSON, a string as it is. */
  readonly body?: unknown;
  /** @default 'application/json' */
  readonly contentType?: string;
  /** In what form to answer. @default 'application/json' */
  readonly accept?: string;
  readonly signal?: AbortSignal;
}

export interface PlaneAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON; text when it is none; undefined when there is none. */
  readonly body: unknown;
}

export interface ApplyOptions {
  /** @default 'test' */
  readonly fieldManager?: string;
  /** @default true */
  readonly force?: boolean;
}

/** An HTTP status outside of what was expected, with the server's answer. */
export class PlaneRequestError extends Error {
  readonly status: number;
  readonly body: unknown;
  constructor({ method, path }: PlaneRequest, { status, body }: PlaneAnswer) {
    super(`${method} ${path}: ${status} ${JSON.stringify(body)?.slice(0, 1000)}`);
    this.status = status;
    this.body = body;
  }
}

/**
 * A small client for tests, independent of the product's own: node:https, HTTP/1.1 with keep-alive,
 * one user. Paths are the server's; `pathOf` finds the one of a manifest.
 */
export class PlaneClient {
  readonly #base: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #requests: HttpAgent;
  readonly #watches: HttpAgent;
  readonly #clock: Clock;
  readonly #kinds = new Map<string, Promise<readonly KindInfo[]>>();

  constructor(options: PlaneClientOptions) {
    const { server, token, caCertificate: ca, userAgent = 'test' } = options;
    this.#base = new URL(server);
    this.#headers = { authorization: `Bearer ${token}`, 'user-agent': userAgent };
    const isPlain = this.#base.protocol === 'http:';
    const makeAgent = (agentOptions: AgentOptions) =>
      isPlain ? new HttpAgent(agentOptions) : new Agent({ ...agentOptions, ca });
    this.#requests = makeAgent({ keepAlive: true, maxSockets: 32 });
    this.#watches = makeAgent({ keepAlive: false });
    this.#clock = options.clock ?? createSystemClock();
  }

  /**
   * Sends one request, and sends it again while the server says that it has no time (429: a kind that is new, a server
   * that has just started). Rejects when there is no answer, never because of a status.
   */
  async request(request: PlaneRequest): Promise<PlaneAnswer> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const answer = await this.#ask(request);
      if (answer.status !== 429 || performance.now() > deadline) return answer;
      await this.sleep(Number(answer.headers['retry-after'] ?? 1) * 1_000);
    }
  }

  async #ask(request: PlaneRequest): Promise<PlaneAnswer> {
    const response = await this.#open(request, this.#requests);
    const answer = await text(response);
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: parseBody(answer),
    };
  }

  /**
   * Sends one request and returns the body of a 2xx answer.
   * @throws PlaneRequestError for every other status.
   */
  async must<T = KubeObject>(request: PlaneRequest): Promise<T> {
    const answer = await this.request(request);
    if (answer.status < 200 || answer.status >= 300) throw new PlaneRequestError(request, answer);
    return answer.body as T;
  }

  /** The object, or undefined when the server answers 404. */
  async get<T extends KubeObject = KubeObject>(path: string): Promise<T | undefined> {
    const request = { method: 'GET', path };
    const answer = await this.request(request);
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw new PlaneRequestError(request, answer);
    return answer.body as T;
  }

  /** The items of a list. Unlike in a server's list, each has its `apiVersion` and `kind`. */
  async list<T extends KubeObject = KubeObject>(path: string): Promise<readonly T[]> {
    const list = await this.must<ListAnswer<T>>({ method: 'GET', path });
    const kind = list.kind.replace(/List$/, '');
    return list.items.map((item) => ({ ...item, apiVersion: list.apiVersion, kind }));
  }

  /** POSTs to a collection. */
  create<T extends KubeObject = KubeObject>(path: string, body: unknown): Promise<T> {
    return this.must({ method: 'POST', path, body });
  }

  /** Applies a manifest by server-side apply, at the path that discovery gives it. */
  async apply<T extends KubeObject = KubeObject>(
    manifest: KubeObject,
    options: ApplyOptions = {},
  ): Promise<T> {
    const { fieldManager = 'test', force = true } = options;
    const path = `${await this.pathOf(manifest)}?fieldManager=${fieldManager}&force=${force}`;
    return this.must({ method: 'PATCH', path, body: manifest, contentType: applyType });
  }

  /** Merge-patches an object, or a subresource: `.../deployments/web/status`. */
  patch<T extends KubeObject = KubeObject>(path: string, body: unknown): Promise<T> {
    return this.must({ method: 'PATCH', path, body, contentType: mergePatchType });
  }

  /** Deletes an object; its not being there is fine. */
  async delete(path: string, propagationPolicy = 'Background'): Promise<void> {
    const request = { method: 'DELETE', path, body: { propagationPolicy } };
    const answer = await this.request(request);
    if (answer.status >= 300 && answer.status !== 404) throw new PlaneRequestError(request, answer);
  }

  /** Creates a namespace with a random name that starts with `prefix`, and returns the name. */
  async createNamespace(prefix = 'test'): Promise<string> {
    const metadata = { generateName: `${prefix}-` };
    const namespace = await this.create('/api/v1/namespaces', { metadata });
    return namespace.metadata.name;
  }

  /**
   * Installs a CustomResourceDefinition and waits until it is established and its kind is served and discovered: the
   * server does these one after another. The garbage collector looks for new kinds only every 30 s;
   * `ControlPlane.restartControllerManager` is faster.
   */
  async installCrd(manifest: KubeObject): Promise<void> {
    const crd = await this.apply(manifest);
    const { group, names, versions } = crd.spec as CrdSpec;
    await this.untilObject(await this.pathOf(crd), isEstablished);
    for (const { name, served } of versions) {
      if (!served) continue;
      await this.untilList(`/apis/${group}/${name}/${names.plural}`, () => true);
      const metadata = { name: 'any' };
      await this.pathOf({ apiVersion: `${group}/${name}`, kind: names.kind, metadata });
    }
  }

  /**
   * The path of an object by its manifest; a namespaced one without a namespace is in `default`. A kind is discovered
   * some time after it is served, and nothing announces it: one that is not known is asked for again.
   * @throws Error when it is not known after `patienceMs`.
   */
  async pathOf({ apiVersion, kind, metadata }: KubeObject): Promise<string> {
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const info = (await this.#kindsOf(root)).find((known) => known.kind === kind);
      if (info !== undefined) {
        const scope = info.namespaced ? `/namespaces/${metadata.namespace ?? 'default'}` : '';
        return `${root}${scope}/${info.plural}/${metadata.name}`;
      }
      this.#kinds.delete(root);
      if (performance.now() > deadline)
        throw new Error(`Expected a kind that the server knows, found "${apiVersion}/${kind}"`);
      await this.sleep(50);
    }
  }

  /** Waits on the clock of its server. */
  sleep(ms: number, signal = new AbortController().signal): Promise<void> {
    return this.#clock.sleep(ms, signal);
  }

  /** Lists and watches a collection: see {@link FollowOptions}. */
  follow(options: FollowOptions): Promise<void> {
    return follow(this, options);
  }

  /**
   * Waits, on a watch, until an object satisfies the predicate (which gets undefined while it is not
   * there), and returns it. The path is the object's.
   * @throws Error with the last state seen, after `patienceMs` or when the limit aborts.
   */
  untilObject<T extends KubeObject = KubeObject>(
    path: string,
    predicate: ObjectPredicate<T>,
    options: UntilOptions = {},
  ): Promise<T | undefined> {
    const { collection, name } = splitPath(path);
    const query = `fieldSelector=metadata.name%3D${name}`;
    return until({
      client: this,
      path,
      listPath: `${collection}?${query}`,
      check: (items) => ({ met: predicate(items[0] as T | undefined), value: items[0] as T }),
      ...options,
    });
  }

  /** Like `untilObject`, for all objects of a collection: the path may carry selectors. */
  untilList<T extends KubeObject = KubeObject>(
    path: string,
    predicate: ListPredicate<T>,
    options: UntilOptions = {},
  ): Promise<readonly T[]> {
    return until({
      client: this,
      path,
      listPath: path,
      check: (items) => ({ met: predicate(items as readonly T[]), value: items as readonly T[] }),
      ...options,
    });
  }

  /** Waits until an object is no longer there. */
  async untilGone(path: string, options: UntilOptions = {}): Promise<void> {
    await this.untilObject(path, (object) => object === undefined, options);
  }

  /** Opens a stream on a connection of its own; the caller reads the body. */
  openStream(request: PlaneRequest): Promise<IncomingMessage> {
    return this.#open(request, this.#watches);
  }

  /** Cuts all connections. */
  close(): void {
    this.#requests.destroy();
    this.#watches.destroy();
  }

  #kindsOf(root: string): Promise<readonly KindInfo[]> {
    const known = this.#kinds.get(root);
    if (known !== undefined) return known;
    const kinds = this.#askForKinds(root);
    this.#kinds.set(root, kinds);
    kinds.catch(() => this.#kinds.delete(root));
    return kinds;
  }

  async #askForKinds(root: string): Promise<readonly KindInfo[]> {
    const request = { method: 'GET', path: root };
    const answer = await this.request(request);
    if (answer.status === 404) return [];
    if (answer.status !== 200) throw new PlaneRequestError(request, answer);
    return parseKinds(answer.body);
  }

  async #open(request: PlaneRequest, agent: HttpAgent): Promise<IncomingMessage> {
    for (;;) {
      const outgoing = this.#send(request, agent);
      try {
        const [response] = await once(outgoing, 'response');
        return response;
      } catch (error) {
        // The server closed a kept connection (it was idle, or the server was killed) and we sent before we heard of it.
        const isStale = outgoing.reusedSocket && lostCodes.has(codeOf(error));
        if (!isStale) throw error;
      }
    }
  }

  #send(request: PlaneRequest, agent: HttpAgent): ClientRequest {
    const { method, path, body, contentType = jsonType, accept = jsonType, signal } = request;
    const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const { protocol, hostname: host, port, pathname } = this.#base;
    const outgoing = (protocol === 'http:' ? httpRequest : httpsRequest)({
      host,
      port,
      method,
      // A sandbox is below a path of its own.
      path: pathname.replace(/\/$/, '') + path,
      agent,
      headers: { ...this.#headers, accept, ...bodyHeaders(payload, contentType) },
      ...(signal === undefined ? {} : { signal }),
    });
    outgoing.end(payload);
    return outgoing;
  }
}

interface ListAnswer<T> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly items: readonly T[];
}

interface CrdSpec {
  readonly group: string;
  readonly names: { readonly kind: string; readonly plural: string };
  readonly versions: readonly { readonly name: string; readonly served: boolean }[];
}

/** The length must be given: Node sends the body of a DELETE without any framing otherwise. */
function bodyHeaders(payload: string | undefined, contentType: string): Record<string, string> {
  if (payload === undefined) return {};
  return { 'content-type': contentType, 'content-length': String(Buffer.byteLength(payload)) };
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function parseBody(answer: string): unknown {
  if (answer === '') return undefined;
  try {
    return parseJson(answer);
  } catch {
    return answer;
  }
}
