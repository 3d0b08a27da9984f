/** A request to an API server, whichever. */
export interface BackendRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Sent as it is. */
  readonly body?: string;
  /** A body that is no text. */
  readonly bytes?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface BackendAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

/** A watch that was opened. */
export interface BackendWatch {
  readonly status: number;
  /** Parsed lines; ends when the server ends it. */
  readonly events: AsyncIterator<unknown>;
  close(): Promise<void>;
}

/** Something that speaks the Kubernetes API: the sandbox, or a real server. The same tests run on all of them. */
export interface Backend {
  readonly name: string;
  request(request: BackendRequest): Promise<BackendAnswer>;
  watch(path: string, headers?: Readonly<Record<string, string>>): Promise<BackendWatch>;
  /** Stops or starts its conversion webhooks. @default it has none */
  setWebhooks?(areReachable: boolean): Promise<void>;
}

/** Splits a stream of text into parsed lines. */
export async function* parseLines(chunks: AsyncIterable<string>): AsyncGenerator<unknown> {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line);
  }
}
