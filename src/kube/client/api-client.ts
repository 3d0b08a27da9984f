/** The line between transport and everything above it. CONTRACT between kube/client, kube/cache and the composition in kube. */
import type { Flow } from '../roles.ts';

export interface ApiRequest {
  readonly method: 'GET' | 'PATCH' | 'POST' | 'PUT' | 'DELETE';
  /** Path with every segment already encoded: `/apis/apps/v1/namespaces/x/deployments/y`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** A longer body is not sent: KubeError `too-large`. In characters, of which a server sees as many bytes or more. */
  readonly maxBodyLength?: number;
  /** @default 'application/json'; `application/apply-patch+yaml` for applies (the body is JSON all the same). */
  readonly contentType?: string;
  /** @default 'application/json' */
  readonly accept?: string;
  readonly flow: Flow;
  /** Deadline of one try, in ms. @default 30_000 */
  readonly timeoutMs?: number;
  /** `lease` has a connection of its own. @default 'request' */
  readonly lane?: 'request' | 'lease';
}

export interface ApiResponse {
  readonly status: number;
  /** The parsed JSON body. */
  readonly body: unknown;
}

export interface ApiStream {
  /** Chunks of text as they come (any cut, also in mid-line). Ends at the server's normal end; throws KubeError when it breaks. */
  readonly chunks: AsyncIterable<string>;
  /** Cuts the connection. */
  close(): void;
}

/** Requests with authentication, fair queueing and retries of 429/503 with Retry-After. Nothing else is retried. */
export interface ApiClient {
  /** @throws KubeError for every status outside 2xx and for every transport failure. */
  request(request: ApiRequest, signal: AbortSignal): Promise<ApiResponse>;
  /** A watch: resolves when the answer's head is there. Uses connections of its own. @throws KubeError */
  stream(
    request: Pick<ApiRequest, 'path' | 'query' | 'accept' | 'flow'>,
    signal: AbortSignal,
  ): Promise<ApiStream>;
}
