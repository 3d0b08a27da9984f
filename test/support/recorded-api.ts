import type { ApiClient, ApiRequest, ApiResponse, ApiStream } from '#kube/client/api-client.ts';

export type ApiScript = (
  request: ApiRequest,
  signal: AbortSignal,
) => ApiResponse | Promise<ApiResponse>;

/** An ApiClient without a server: notes the requests and answers them by a script. */
export class RecordedApi implements ApiClient {
  readonly requests: ApiRequest[] = [];
  #script: ApiScript;

  constructor(script: ApiScript) {
    this.#script = script;
  }

  /** `METHOD path` of all requests, in order. */
  get lines(): readonly string[] {
    return this.requests.map(({ method, path }) => `${method} ${path}`);
  }

  /** Answers otherwise from now on. */
  answerBy(script: ApiScript): void {
    this.#script = script;
  }

  async request(request: ApiRequest, signal: AbortSignal): Promise<ApiResponse> {
    const { onSend, ...sent } = request;
    onSend?.();
    this.requests.push(sent);
    return this.#script(sent, signal);
  }

  stream(): Promise<ApiStream> {
    return Promise.reject(new Error('Nothing is streamed here'));
  }
}
