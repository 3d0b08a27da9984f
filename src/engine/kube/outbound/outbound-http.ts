import { HomeostatError } from '#util/homeostat-error.ts';

/** Requests to servers other than the API server. CONTRACT between kube, http-objects and the simulated API. */
export interface HttpTransport {
  /**
   * Sends one request and reads its answer. Does not follow redirects and does not retry.
   * @throws HttpTransportError
   */
  send(request: TransportRequest, signal: AbortSignal): Promise<TransportAnswer>;
}

/** Answers up to this size need no reservation of memory. */
export const largeAnswerBytes = 64 * 1024;

export interface TransportRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For the connection, the request and the whole answer, in ms. */
  readonly timeoutMs: number;
  /** Of the body of the answer, after decompression. */
  readonly maxBytes: number;
  readonly tls: TransportTls;
  /** Namespace on whose behalf it is sent: decides which addresses are permitted. */
  readonly namespace: string;
  /** Called when the connection is established, before the first byte. Throws when the request must not be sent. */
  readonly beforeSend?: () => void;
  /** Awaited before a body of more than {@link largeAnswerBytes} is read, to reserve memory. @default nothing is reserved */
  readonly onLargeAnswer?: () => Promise<void> | undefined;
}

export interface TransportTls {
  /** PEM. @default the authorities of the system */
  readonly ca?: string;
  readonly serverName?: string;
  /** PEM. */
  readonly certificate?: string;
  readonly key?: string;
  /** @default false */
  readonly insecureSkipVerify?: boolean;
}

export interface TransportAnswer {
  readonly status: number;
  /** Names in lower case; several values are joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** UTF-8. */
  readonly body: string;
}

export type HttpTransportErrorCode =
  /** The connection was not established, for example because it was rejected. */
  | 'unreachable'
  /** The address is not permitted. */
  | 'address-not-allowed'
  /** The connection ended before the whole answer. */
  | 'connection-lost'
  | 'timeout'
  | 'answer-too-large'
  /** The body is compressed, although that was not asked for. */
  | 'answer-encoded'
  /** No token was issued for the request. */
  | 'token-rejected'
  /** The account whose token the request needs does not exist. */
  | 'account-missing'
  /** The certificate of the server is not accepted. */
  | 'certificate-rejected'
  /** `beforeSend` threw, or the signal aborted. */
  | 'aborted';

/** A request without a whole answer. */
export class HttpTransportError extends HomeostatError<HttpTransportErrorCode> {
  /** Whether bytes of the request may have reached the server. */
  readonly mayHaveArrived: boolean;

  constructor(
    code: HttpTransportErrorCode,
    message: string,
    { mayHaveArrived, cause }: { readonly mayHaveArrived: boolean; readonly cause?: unknown },
  ) {
    super(code, message, { cause });
    this.mayHaveArrived = mayHaveArrived;
  }
}

/** Requests tokens of service accounts from the API server. */
export interface TokenRequests {
  /**
   * A token for these audiences, or for those of the API server if there are none.
   * @throws KubeError
   */
  create(
    account: { readonly namespace: string; readonly name: string },
    audiences: readonly string[],
    signal: AbortSignal,
  ): Promise<IssuedToken>;
}

/** A token, with the audiences that it is for. */
export interface IssuedToken {
  readonly token: string;
  readonly audiences: readonly string[];
}
