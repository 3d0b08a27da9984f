import { Agent, request } from 'node:http';

export interface HttpClient {
  /** The body of an answer below 300. @throws Error with any other. */
  send(method: string, path: string, body?: unknown): Promise<string>;
  /** A stream of text; the caller ends it. */
  stream(path: string, onText: (text: string) => void): Promise<() => void>;
  close(): void;
}

/** So many connections to a server. */
export function createHttpClient(url: string, connections: number): HttpClient {
  const { hostname, port, pathname } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const base = { host: hostname, port };
  return {
    send(method, path, body) {
      const text = body === undefined ? '' : JSON.stringify(body);
      const headers = {
        'content-type': method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json',
        'content-length': Buffer.byteLength(text),
      };
      return new Promise((resolve, reject) => {
        const options = { ...base, agent, method, path: pathname + path, headers };
        const outgoing = request(options, (response) => {
          let answer = '';
          response.setEncoding('utf8').on('data', (chunk: string) => {
            answer += chunk;
          });
          response.on('end', () => {
            if ((response.statusCode ?? 500) < 300) resolve(answer);
            else reject(new Error(`${method} ${path}: ${response.statusCode} ${answer}`));
          });
        });
        outgoing.on('error', reject);
        outgoing.end(text);
      });
    },
    stream(path, onText) {
      return new Promise((resolve, reject) => {
        const outgoing = request({ ...base, agent: false, path: pathname + path }, (response) => {
          response.setEncoding('utf8').on('data', onText);
          response.on('error', () => {});
          resolve(() => outgoing.destroy());
        });
        outgoing.on('error', reject);
        outgoing.end();
      });
    },
    close: () => agent.destroy(),
  };
}
