import { createHash, timingSafeEqual } from 'node:crypto';
import type { Request, Response } from './express.ts';

/** Parameters of a request for records. */
export interface RecordsQuery {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** A member cluster. */
  readonly cluster?: string;
  /** Only records with a higher number. */
  readonly after: number;
}

export interface RecordsOptions {
  /** The token that clients must send. @throws Error when it cannot be read */
  readonly readToken: () => Promise<string>;
  /** The answer, as JSON. Without a query: about the work queues. Undefined: this process is not the leader, and records nothing. */
  readonly read: (query?: RecordsQuery) => unknown;
}

/** Like `authorization`, which an API server removes from requests that it passes on. */
export const recordsTokenHeader = 'x-homeostat-records-token';

/** Serves the records of a resource to a client with the token. */
export async function serveRecords(
  { readToken, read }: RecordsOptions,
  request: Request,
  response: Response,
): Promise<void> {
  response.set('cache-control', 'no-store');
  const expected = await readToken().catch(() => '');
  if (expected === '') return sendText(response, 503, 'the token cannot be read');
  if (!isSame(tokenOf(request), expected)) {
    response.set('www-authenticate', 'Bearer');
    return sendText(response, 401, 'expected a valid token');
  }
  const hasQuery = Object.keys(request.query).length > 0;
  const query = queryOf(request);
  if (hasQuery && query === undefined)
    return sendText(response, 400, 'expected "apiVersion", "kind", "name", and a number "after"');
  const found = read(query);
  if (found === undefined) return sendText(response, 503, 'this process is not the leader');
  response.json(found);
}

function sendText(response: Response, status: number, text: string): void {
  response.status(status).type('text/plain').send(`${text}\n`);
}

function tokenOf({ headers }: Request): string {
  const own = headers[recordsTokenHeader];
  if (typeof own === 'string') return own;
  const [, bearer = ''] = /^Bearer (.+)$/i.exec(headers.authorization ?? '') ?? [];
  return bearer;
}

/** In a time that does not depend on how much of the token is right. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

function queryOf({ query }: Request): RecordsQuery | undefined {
  const { apiVersion, kind, namespace, name, cluster, after = '0' } = query;
  const required = { apiVersion, kind, name };
  const isGiven = (value: unknown) => typeof value === 'string' && value !== '';
  if (!Object.values(required).every(isGiven) || !/^\d{1,15}$/.test(String(after)))
    return undefined;
  return {
    apiVersion: String(apiVersion),
    kind: String(kind),
    name: String(name),
    ...(isGiven(namespace) && { namespace: String(namespace) }),
    ...(isGiven(cluster) && { cluster: String(cluster) }),
    after: Number(after),
  };
}
