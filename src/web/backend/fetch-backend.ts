import type { Clock } from '../../util/clock.ts';
import { isJsonObject } from '../../util/json.ts';
import { BackendError } from '../backend-error.ts';
import type {
  BackendErrorCode,
  Change,
  ConsoleBackend,
  ConsoleInfo,
  DefinitionView,
  DiagnosticView,
  EvaluateRequest,
  EvaluationView,
  KubeRequest,
  KubeResponse,
  ManifestText,
  ParsedText,
  PreviewView,
  QueueDepths,
  ReconcileRecord,
  ResourceRef,
  ResourceView,
  WatchEvent,
  WatchRequest,
} from '../contract.ts';
import { StreamConnection } from './stream-connection.ts';

export interface FetchBackendOptions {
  /** Address of the console, with a slash at the end. */
  readonly base: string;
  readonly clock: Clock;
  /** @default the browser's */
  readonly fetch?: typeof fetch;
}

/** The backend of a page that a server of Homeostat serves: requests to the same origin. */
export class FetchBackend implements ConsoleBackend {
  readonly #base: string;
  readonly #fetch: typeof fetch;
  readonly #streams: StreamConnection;

  constructor({
    base,
    clock,
    fetch: send = (...parameters) => fetch(...parameters),
  }: FetchBackendOptions) {
    this.#base = base;
    this.#fetch = send;
    this.#streams = new StreamConnection({
      ...{ clock, url: `${base}streams` },
      send: (url, init) => this.#send(url, init),
    });
  }

  info(signal: AbortSignal): Promise<ConsoleInfo> {
    return this.#ask('info', {}, signal);
  }

  request(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    return this.#ask('request', request, signal);
  }

  async *watch(
    request: WatchRequest,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent, void, undefined> {
    for await (const event of this.#streams.open({ kind: 'watch', ...request }, signal))
      yield event as WatchEvent;
  }

  definition(name: string, signal: AbortSignal): Promise<DefinitionView> {
    return this.#ask('definition', { name }, signal);
  }

  check(manifest: ManifestText, signal: AbortSignal): Promise<readonly DiagnosticView[]> {
    return this.#ask('check', manifest, signal);
  }

  parse(text: string, signal: AbortSignal): Promise<ParsedText> {
    return this.#ask('parse', { text }, signal);
  }

  explain(resource: ResourceRef, signal: AbortSignal): Promise<ResourceView> {
    return this.#ask('explain', resource, signal);
  }

  preview(change: Change, signal: AbortSignal): Promise<PreviewView> {
    return this.#ask('preview', change, signal);
  }

  evaluate(request: EvaluateRequest, signal: AbortSignal): Promise<EvaluationView> {
    return this.#ask('evaluate', request, signal);
  }

  async save(manifest: ManifestText, signal: AbortSignal): Promise<void> {
    await this.#ask('save', manifest, signal);
  }

  async *reconciles(
    resource: ResourceRef,
    signal: AbortSignal,
  ): AsyncGenerator<ReconcileRecord, void, undefined> {
    for await (const record of this.#streams.open({ kind: 'reconciles', resource }, signal))
      yield record as ReconcileRecord;
  }

  async *queues(signal: AbortSignal): AsyncGenerator<QueueDepths, void, undefined> {
    for await (const depths of this.#streams.open({ kind: 'queues' }, signal))
      yield depths as QueueDepths;
  }

  readonly silentMs = (): number | undefined => this.#streams.silentMs;

  async #ask<Answer>(question: string, body: unknown, signal: AbortSignal): Promise<Answer> {
    const response = await this.#send(`${this.#base}api/${question}`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal,
    });
    return (await response.json()) as Answer;
  }

  /** @throws BackendError */
  async #send(url: string, init: RequestInit): Promise<Response> {
    let response: Response;
    try {
      const headers = init.body === undefined ? {} : { 'content-type': 'application/json' };
      response = await this.#fetch(url, { ...init, headers, cache: 'no-store' });
    } catch (cause) {
      throw new BackendError('unreachable', 'The console does not respond', { cause });
    }
    if (response.ok) return response;
    const body: unknown = await response.json().catch(() => undefined);
    const code = isJsonObject(body) ? (String(body.code) as BackendErrorCode) : 'failed';
    const message =
      isJsonObject(body) && typeof body.message === 'string'
        ? body.message
        : `The console responded with status ${response.status}`;
    throw new BackendError(code, message);
  }
}
