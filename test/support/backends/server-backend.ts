import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Plane } from '../control-plane/index.ts';
import type { ConversionWebhook } from '../conversion-webhook.ts';
import { type Backend, type BackendRequest, parseLines } from './backend.ts';

/** A real API server, asked by its superuser. Requests say exactly what the test says. */
export function serverBackend(
  plane: Plane,
  webhook?: Pick<ConversionWebhook, 'start' | 'stop'>,
): Backend & { close(): void } {
  const { server, caCertificate: ca } = plane;
  const base = new URL(server);
  const agent = new Agent({ keepAlive: true, ca });
  const watchAgent = new Agent({ keepAlive: false, ca });

  async function open(request: BackendRequest, by: Agent): Promise<IncomingMessage> {
    const { method, path, body: text, bytes, headers = {} } = request;
    const body = bytes ?? text;
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const outgoing = httpsRequest({
      host: base.hostname,
      port: base.port,
      method,
      path,
      agent: by,
      headers: { authorization: `Bearer ${plane.token()}`, ...length, ...headers },
    });
    outgoing.end(body);
    const [response] = await once(outgoing, 'response');
    return response;
  }

  return {
    name: 'kube-apiserver',
    async request(request) {
      const response = await open(request, agent);
      const answer = await text(response);
      return { status: response.statusCode ?? 0, headers: plain(response), text: answer };
    },
    async watch(path, headers = {}) {
      const response = await open({ method: 'GET', path, headers }, watchAgent);
      response.setEncoding('utf8');
      return {
        status: response.statusCode ?? 0,
        events: parseLines(response),
        async close() {
          response.destroy();
        },
      };
    },
    async setWebhooks(areReachable) {
      if (areReachable) await webhook?.start();
      else webhook?.stop();
    },
    close() {
      agent.destroy();
      watchAgent.destroy();
    },
  };
}

function plain({ headers }: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : value,
    ]),
  );
}
