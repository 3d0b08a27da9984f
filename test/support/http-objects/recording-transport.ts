import type { HttpTransport, TransportAnswer, TransportRequest } from '#kube/roles.ts';

type Handler = (request: TransportRequest) => Partial<TransportAnswer> | Error;

/** A transport that answers as a function says, and keeps its requests. */
export class RecordingTransport implements HttpTransport {
  readonly requests: TransportRequest[] = [];
  readonly #handler: Handler;

  constructor(handler: Handler) {
    this.#handler = handler;
  }

  async send(request: TransportRequest): Promise<TransportAnswer> {
    request.beforeSend?.();
    this.requests.push(request);
    const answer = this.#handler(request);
    if (answer instanceof Error) throw answer;
    return { status: 200, headers: {}, body: '', ...answer };
  }
}

export function jsonAnswer(body: unknown, status = 200): Partial<TransportAnswer> {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
