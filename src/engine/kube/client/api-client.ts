/** Interface of the transport. Contract between kube/client, kube/cache and the composition in kube. */
import type { Flow } from '../roles.ts';

export interface ApiRequest {
  readonly method: 'GET' | 'PATCH' | 'POST' | 'PUT' | 'DELETE';
  /** Path with every segment already encoded: `/apis/apps/v1/namespaces/x/deployments/y`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Longer bodies are not sent: KubeError `too-large`. In characters; the size in bytes is at least as large. */
  readonly maxBodyLength?: number;
  /** @default 'application/json'; `application/apply-patch+yaml` for applies (the body is JSON all the same). */
  readonly contentType?: string;
  /** @default 'application/json' */
  readonly accept?: string;
  /** Further headers. @default none */
  readonly headers?: Readonly<Record<string, string>>;
  readonly flow: Flow;
  /** Timeout of one attempt, in ms. @default 30_000 */
  readonly timeoutMs?: number;
  /** Larger responses are aborted with KubeError `too-large`, in bytes. @default that of the client */
  readonly maxResponseBytes?: number;
  /** `lease` uses a separate connection. @default 'request' */
  readonly lane?: 'request' | 'lease';
  /** Called when the request has waited for its turn, right before each attempt to send it. @default none */
  readonly onSend?: () => void;
}

export interface ApiResponse {
  readonly status: number;
  /** The parsed JSON body. */
  readonly body: unknown;
}

export interface ApiStream {
  /** Text chunks, split anywhere. Ends when the server ends the response; throws KubeError when the connection breaks. */
  readonly chunks: AsyncIterable<string>;
  /** Closes the connection. */
  close(): void;
}

/** Requests with authentication, fair queueing and retries of 429/503 with Retry-After. Nothing else is retried. */
export interface ApiClient {
  /** @throws KubeError for every status outside 2xx and for every transport failure. */
  request(request: ApiRequest, signal: AbortSignal): Promise<ApiResponse>;
  /** Opens a watch: resolves with the response head. Uses separate connections. @throws KubeError */
  stream(
    request: Pick<ApiRequest, 'path' | 'query' | 'accept' | 'flow'>,
    signal: AbortSignal,
  ): Promise<ApiStream>;
}
