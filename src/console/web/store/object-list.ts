import { backoffMs } from '#util/backoff.ts';
import type { Clock } from '#util/clock.ts';
import { messageOf } from '#util/homeostat-error.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { pause } from '#util/pause.ts';
import { BackendError, errorCodeOf, errorOfResponse } from '../backend-error.ts';
import type { ConsoleBackend, WatchEvent } from '../contract.ts';

/** `stale`: it was live, and the stream is away; the objects are the last ones that are known. */
export type ListStatus = 'loading' | 'live' | 'stale' | 'forbidden' | 'missing' | 'failed';

export interface ListState {
  readonly status: ListStatus;
  /** Why it is not live. */
  readonly message: string;
  /** In no order. A new array with each change. */
  readonly objects: readonly KubeObject[];
}

export interface ObjectListOptions {
  readonly backend: Pick<ConsoleBackend, 'request' | 'watch'>;
  readonly clock: Clock;
  /** Path of the collection. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly onChange: () => void;
}

const pageSize = '500';
const retry = { baseDelayMs: 500, maxDelayMs: 15_000 };
/** A stream that ends sooner counts as broken: a server that ends each at once must not be asked without a pause. */
const shortStreamMs = 1_000;
/** How long an object counts as changed, for its highlight. */
const changedMs = 1_000;

/** The objects of a collection: listed once, then kept by a watch. Resumes where it broke, and lists again when the server forgot. */
export class ObjectList {
  readonly #options: ObjectListOptions;
  readonly #objects = new Map<string, KubeObject>();
  readonly #changedAt = new Map<string, number>();
  #state: ListState = { status: 'loading', message: '', objects: [] };
  #isCurrent = true;
  /** Since the last event. */
  #failures = 0;
  /** Where the watch resumes. Undefined: it must list. */
  #version: string | undefined;

  constructor(options: ObjectListOptions) {
    this.#options = options;
  }

  get state(): ListState {
    if (!this.#isCurrent) {
      this.#state = { ...this.#state, objects: [...this.#objects.values()] };
      this.#isCurrent = true;
    }
    return this.#state;
  }

  /** Whether a watch event changed the object a moment ago. */
  isChanged(uid: string | undefined): boolean {
    const at = this.#changedAt.get(uid ?? '');
    return at !== undefined && this.#options.clock.monotonicMs() - at < changedMs;
  }

  /** Follows the collection until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      const startMs = clock.monotonicMs();
      let isBroken = false;
      try {
        if (this.#version === undefined) await this.#list(signal);
        await this.#watch(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#fail(error);
        isBroken = true;
      }
      // A request that is rejected may have waited in the browser for longer than a second.
      if (isBroken || clock.monotonicMs() - startMs < shortStreamMs)
        await pause(clock, backoffMs(this.#failures++, retry), signal);
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { backend, path, query } = this.#options;
    const found = new Map<string, KubeObject>();
    let version = '';
    let next: string | undefined;
    do {
      const paging: Record<string, string> = next === undefined ? {} : { continue: next };
      const response = await backend.request(
        { method: 'GET', path, query: { ...query, limit: pageSize, ...paging } },
        signal,
      );
      const error = errorOfResponse(response);
      if (error !== undefined) throw error;
      const page = readPage(response.body);
      for (const object of page.items) found.set(object.metadata.uid ?? '', object);
      version = page.version;
      next = page.next;
    } while (next !== undefined);
    this.#objects.clear();
    for (const [uid, object] of found) this.#objects.set(uid, object);
    this.#version = version;
    this.#set('live', '');
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { backend, path, query } = this.#options;
    const watching = {
      ...query,
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: this.#version ?? '',
    };
    if (this.#state.status !== 'live') this.#set('live', '');
    for await (const event of backend.watch({ path, query: watching }, signal)) this.#take(event);
  }

  #take({ type, object }: WatchEvent): void {
    if (type !== 'ERROR') this.#failures = 0;
    else {
      const { code } = object as { readonly code?: unknown };
      const message = textOf((object as { readonly message?: unknown }).message);
      throw new BackendError(code === 410 ? 'gone' : 'failed', message);
    }
    this.#version = object.metadata.resourceVersion ?? this.#version;
    if (type === 'BOOKMARK') return;
    const uid = object.metadata.uid ?? '';
    if (type === 'DELETED') {
      this.#objects.delete(uid);
      this.#changedAt.delete(uid);
    } else {
      this.#objects.set(uid, object);
      this.#changedAt.set(uid, this.#options.clock.monotonicMs());
    }
    this.#set('live', '');
  }

  #fail(error: unknown): void {
    const code = errorCodeOf(error);
    const message = messageOf(error);
    if (code === 'gone') {
      this.#version = undefined;
      this.#set('stale', 'The list is read again');
      return;
    }
    if (code === 'forbidden' || code === 'not-found') {
      this.#version = undefined;
      this.#objects.clear();
      this.#set(code === 'forbidden' ? 'forbidden' : 'missing', message);
      return;
    }
    this.#set(this.#version === undefined ? 'failed' : 'stale', message);
  }

  #set(status: ListStatus, message: string): void {
    this.#state = { status, message, objects: this.#state.objects };
    this.#isCurrent = false;
    this.#options.onChange();
  }
}

interface Page {
  readonly items: readonly KubeObject[];
  readonly version: string;
  readonly next: string | undefined;
}

/** Items of a list have no type of their own: it is that of the list. */
function readPage(body: unknown): Page {
  const list = isJsonObject(body) ? body : {};
  const apiVersion = textOf(list.apiVersion);
  const kind = textOf(list.kind).replace(/List$/, '');
  const metadata = isJsonObject(list.metadata) ? list.metadata : {};
  const next = textOf(metadata.continue);
  const items = Array.isArray(list.items) ? (list.items as readonly KubeObject[]) : [];
  return {
    items: items.map((item) => ({ ...item, apiVersion, kind })),
    version: textOf(metadata.resourceVersion),
    next: next === '' ? undefined : next,
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
