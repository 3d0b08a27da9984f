/** A request, as the shell around the sandbox hands it over. */
export interface ApiRequest {
  readonly method: string;
  /** Path and query: `/api/v1/pods?limit=1`. */
  readonly path: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Empty = none. */
  readonly body: string;
  /** The body as it came, where it is no text: `application/vnd.kubernetes.protobuf`. */
  readonly bytes?: Uint8Array;
}

/** An answer: a text, or a stream of lines that ends when its reader returns it. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncIterable<string>;
}
