import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';

export interface UpstreamOptions {
  readonly server: string;
  /** PEM text that verifies the server. */
  readonly caCertificate: string;
}

export interface UpstreamRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The real API server, behind the proxy. */
export class Upstream {
  readonly #base: URL;
  readonly #requests: Agent;
  readonly #watches: Agent;

  constructor({ server, caCertificate: ca }: UpstreamOptions) {
    this.#base = new URL(server);
    this.#requests = new Agent({ keepAlive: true, maxSockets: 64, ca });
    this.#watches = new Agent({ keepAlive: false, ca });
  }

  /** Resolves with the head of the answer. @throws what node:https throws when there is none. */
  async send(request: UpstreamRequest, isWatch: boolean): Promise<IncomingMessage> {
    const { method, path, body } = request;
    const { host: _host, connection: _connection, ...headers } = request.headers;
    const outgoing = httpsRequest({
      host: this.#base.hostname,
      port: this.#base.port,
      method,
      path,
      headers,
      agent: isWatch ? this.#watches : this.#requests,
    });
    outgoing.end(body);
    const [response] = await once(outgoing, 'response');
    return response;
  }

  /** Cuts all connections. */
  close(): void {
    this.#requests.destroy();
    this.#watches.destroy();
  }
}
