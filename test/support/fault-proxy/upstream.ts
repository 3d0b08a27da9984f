import { once } from 'node:events';
import {
  type AgentOptions,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';

export interface UpstreamOptions {
  /** A sandbox is plain, and below a path of its own. */
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

/** The API server behind the proxy. */
export class Upstream {
  readonly #base: URL;
  readonly #isPlain: boolean;
  readonly #requests: HttpAgent;
  readonly #watches: HttpAgent;

  constructor({ server, caCertificate: ca }: UpstreamOptions) {
    this.#base = new URL(server);
    this.#isPlain = this.#base.protocol === 'http:';
    const agent = (options: AgentOptions) =>
      this.#isPlain ? new HttpAgent(options) : new Agent({ ...options, ca });
    this.#requests = agent({ keepAlive: true, maxSockets: 64 });
    this.#watches = agent({ keepAlive: false });
  }

  /** Resolves with the head of the answer. @throws what node:https throws when there is none. */
  async send(request: UpstreamRequest, isWatch: boolean): Promise<IncomingMessage> {
    const { method, path, body } = request;
    const { host: _host, connection: _connection, ...headers } = request.headers;
    const outgoing = (this.#isPlain ? httpRequest : httpsRequest)({
      host: this.#base.hostname,
      port: this.#base.port,
      method,
      path: this.#base.pathname.replace(/\/$/, '') + path,
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
