import type { TestApiChange, TestApiFailure, TestHttpApi } from '#definition';
import { SimulatedApi, type SimulatedRequest } from '#http-objects';
import {
  type HttpTransport,
  HttpTransportError,
  type TransportAnswer,
  type TransportRequest,
} from '#kube/roles.ts';
import type { Clock } from '#util/clock.ts';
import type { JsonObject } from '#util/json.ts';

interface SimulatedApisOptions {
  readonly apis: readonly TestHttpApi[];
  readonly clock: Clock;
  /** Called with each request: something is under way. */
  readonly onActivity: () => void;
  /** Answers requests to other URLs. @default they are unreachable */
  readonly otherwise?: HttpTransport;
}

/** The HTTP APIs of a simulation, in place of a network. They outlive the operators. */
export class SimulatedApis implements HttpTransport {
  readonly #options: SimulatedApisOptions;
  readonly #apis: readonly NamedApi[];

  constructor(options: SimulatedApisOptions) {
    this.#options = options;
    this.#apis = options.apis.map((spec) => new NamedApi(spec, options.clock));
  }

  /** The API of a name; without one, the only API. */
  get(name: string | undefined): NamedApi {
    const found = this.#apis.find((each) => name === undefined || each.spec.name === name);
    if (found === undefined) throw new Error(`There is no simulated API "${name ?? ''}"`);
    return found;
  }

  get isEmpty(): boolean {
    return this.#apis.length === 0;
  }

  /** Forgets the requests so far. */
  forgetRequests(): void {
    for (const { api } of this.#apis) api.requests.length = 0;
  }

  send(request: TransportRequest, signal: AbortSignal): Promise<TransportAnswer> {
    const { onActivity, otherwise } = this.#options;
    onActivity();
    const found = this.#apis.find(({ spec }) => isBelow(request.url, spec.url));
    if (found !== undefined) return found.api.send(request, signal);
    if (otherwise !== undefined) return otherwise.send(request, signal);
    const { origin, pathname } = new URL(request.url);
    const urls = this.#apis.map(({ spec }) => `"${spec.url}"`);
    const known = urls.length === 0 ? '' : `; apis have ${urls.join(', ')}`;
    return Promise.reject(
      new HttpTransportError('unreachable', `No simulated API has "${origin}${pathname}"${known}`, {
        mayHaveArrived: false,
      }),
    );
  }
}

/** One API, with what a test does to it. */
export class NamedApi {
  readonly spec: TestHttpApi;
  readonly api: SimulatedApi;
  #failing: { readonly failure: TestApiFailure; left: number } | undefined;

  constructor(spec: TestHttpApi, clock: Clock) {
    this.spec = spec;
    this.api = new SimulatedApi({
      spec: {
        ...spec,
        answers: spec.answers.map(({ request, ...answer }) => ({ on: request, ...answer })),
      },
      clock,
      faultOf: (request) => this.#faultOf(request),
    });
    for (const { path, objects = [] } of spec.collections) this.#put(path, objects);
  }

  get requests(): readonly SimulatedRequest[] {
    return this.api.requests;
  }

  /** The objects of a collection. @throws Error if it does not exist */
  objects(path: string): readonly JsonObject[] {
    return [...this.api.collection(path).objects.values()];
  }

  /** @throws Error if a collection does not exist */
  change({ downMs, fail, put, remove }: TestApiChange): void {
    if (downMs !== undefined) this.api.goDown(downMs);
    if (fail !== undefined) this.#failing = { failure: fail, left: fail.times };
    for (const [path, objects] of Object.entries(put)) this.#put(path, objects);
    for (const [path, keys] of Object.entries(remove))
      for (const key of keys) this.api.collection(path).objects.delete(String(key));
  }

  #put(path: string, objects: readonly JsonObject[]): void {
    const collection = this.api.collection(path);
    for (const object of objects)
      collection.objects.set(String(object[collection.spec.key] ?? collection.nextKey()), object);
  }

  #faultOf({ method, url }: TransportRequest) {
    const failing = this.#failing;
    if (failing === undefined || failing.left === 0) return undefined;
    const { requests, status, headers, body } = failing.failure;
    const [path] = url.slice(this.spec.url.replace(/\/$/, '').length).split('?');
    const isMeant = (requests.method ?? method) === method && (requests.path ?? path) === path;
    if (!isMeant) return undefined;
    failing.left -= 1;
    if (status === undefined) return { kind: 'lostAnswer' } as const;
    return {
      ...({ kind: 'status', status } as const),
      ...(headers && { headers }),
      ...(body !== undefined && { body }),
    };
  }
}

function isBelow(url: string, base: string): boolean {
  const start = base.replace(/\/$/, '');
  return url === start || url.startsWith(`${start}/`) || url.startsWith(`${start}?`);
}
