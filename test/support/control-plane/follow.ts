import { anySignal } from '#util/any-signal.ts';
import { parseJson } from '#util/exact-json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { PlaneClient } from './plane-client.ts';

export interface FollowOptions {
  /** A collection, with selectors in its query if wanted. */
  readonly path: string;
  /** Called with all objects after the list and after each change. True ends it. */
  readonly onState: (items: readonly KubeObject[]) => boolean | Promise<boolean>;
  readonly signal: AbortSignal;
}

interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'ERROR';
  readonly object: KubeObject;
}

interface ListAnswer {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly KubeObject[];
}

type State = Map<string, KubeObject>;

/**
 * Lists a collection and watches it until `onState` says so or the signal aborts (it then rejects).
 * Lists anew when a watch ends; waits where the server is down or does not serve the kind yet.
 */
export async function follow(client: PlaneClient, options: FollowOptions): Promise<void> {
  for (;;) {
    const list = await listWhenServed(client, options);
    const kind = list.kind.replace(/List$/, '');
    const state: State = new Map();
    for (const item of list.items) {
      put(state, { ...item, apiVersion: list.apiVersion, kind });
    }
    if (await options.onState([...state.values()])) return;
    if (await watch({ client, options, state, version: list.metadata.resourceVersion })) return;
  }
}

async function listWhenServed(client: PlaneClient, options: FollowOptions): Promise<ListAnswer> {
  const { path, signal } = options;
  for (;;) {
    const request = { method: 'GET', path, signal };
    const answer = await client.request(request).catch((error: unknown) => {
      signal.throwIfAborted();
      return { status: 503, body: String(error) };
    });
    if (answer.status === 200) return answer.body as ListAnswer;
    if (answer.status !== 404 && answer.status !== 429 && answer.status < 500) {
      throw new Error(`GET ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    // What is not served cannot be watched: this is the one place that asks again and again.
    await client.sleep(50, signal);
  }
}

interface WatchOptions {
  readonly client: PlaneClient;
  readonly options: FollowOptions;
  readonly state: State;
  readonly version: string;
}

/** True when `onState` was satisfied, false when the watch ended before. */
async function watch({ client, options, state, version }: WatchOptions): Promise<boolean> {
  const query = `${options.path.includes('?') ? '&' : '?'}watch=1&resourceVersion=${version}`;
  const stop = new AbortController();
  const signal = anySignal([options.signal, stop.signal]);
  try {
    for await (const event of watchEvents(client, options.path + query, signal)) {
      if (event.type === 'ERROR') return false;
      if (event.type === 'DELETED') state.delete(keyOf(event.object));
      else put(state, event.object);
      if (await options.onState([...state.values()])) return true;
    }
  } finally {
    stop.abort();
  }
  options.signal.throwIfAborted();
  return false;
}

/** The events of one watch request. Ends, without an error, when the connection does. */
async function* watchEvents(
  client: PlaneClient,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent> {
  let rest = '';
  try {
    const stream = await client.openStream({ method: 'GET', path, signal });
    if (stream.statusCode !== 200) return;
    stream.setEncoding('utf8');
    for await (const chunk of stream) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield parseJson(line) as unknown as WatchEvent;
    }
  } catch {
    // A server that was stopped or a cut connection: the caller lists anew, which reports what stays.
  }
}

function put(state: State, object: KubeObject): void {
  state.set(keyOf(object), object);
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}
