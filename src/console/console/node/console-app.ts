import type { IncomingMessage } from 'node:http';
import { type Express, loadWebFramework, type Request, type Response } from '#http';
import type { Clock } from '#util/clock.ts';
import { messageOf } from '#util/homeostat-error.ts';
import type { JsonLimits } from '#util/json-scan.ts';
import { JsonLimitError, parseWithin } from '#util/limited-json.ts';
import { hostProblem } from '#util/own-host.ts';
import type { Random } from '#util/random.ts';
import { BackendError, type BackendErrorCode, type ConsoleBackend, errorCodeOf } from '#web';
import { answer, openStream } from '../questions.ts';
import { StreamSessions } from '../stream-sessions.ts';
import type { Assets } from './assets.ts';

export interface ConsoleAppOptions {
  readonly backend: ConsoleBackend;
  readonly clock: Clock;
  readonly random: Random;
  /** Path of the console, which grants access: `/secret`. */
  readonly basePath: string;
  readonly loadAssets: () => Promise<Assets>;
}

const maxBodyBytes = 3 * 1024 * 1024;
/** Of a request: 3 MiB of `{},` would become 80 MiB. */
const bodyLimits: JsonLimits = { fromLength: 0, maxCost: 33_554_432, maxDepth: 1_000 };

const statuses: Readonly<Record<BackendErrorCode, number>> = {
  unreachable: 502,
  invalid: 400,
  forbidden: 403,
  'not-found': 404,
  gone: 410,
  failed: 500,
};

/** By the status with which the framework ends a request. */
const routeErrors = {
  400: () => new BackendError('invalid', 'The address is malformed'),
  404: () => new BackendError('not-found', 'There is nothing at this address'),
  500: () => new BackendError('failed', 'The request failed'),
} as const;

/** Nothing but files of this server; no inline script and no inline style. */
const policy = [
  "default-src 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The routes of the console: its files, questions of pages, and streams. */
export async function createConsoleApp(options: ConsoleAppOptions): Promise<Express> {
  const { backend, basePath, loadAssets } = options;
  const { createWebApp, endWebApp } = await loadWebFramework();
  const app = createWebApp();
  const sessions = new StreamSessions(options);
  let assets: Promise<Assets> | undefined;
  app.use((request, response, next) => {
    response.set({
      'content-security-policy': policy,
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    const problem = hostProblem(request.headers.host ?? '') ?? originProblem(request);
    if (problem === undefined) next();
    else sendError(response, new BackendError('forbidden', problem));
  });
  app.get(basePath, (request, response) => {
    if (request.path === basePath) response.redirect(`${basePath}/`);
    else void sendAsset('index.html', response);
  });
  app.get(`${basePath}/assets/:name`, (request, response) => {
    // Names hold a hash of the content.
    response.set('cache-control', 'public, max-age=31536000, immutable');
    void sendAsset(String(request.params.name), response);
  });
  app.post(`${basePath}/api/:question`, (request, response) => {
    void reply(response, async (signal) =>
      answer(backend, String(request.params.question), await readJson(request), signal),
    );
  });
  app.get(`${basePath}/streams`, (_request, response) => {
    response.type('application/x-ndjson');
    const stopper = closing(response);
    sessions
      .serve((line) => writeLine(response, line), stopper)
      .then(
        () => response.end(),
        (error: unknown) => response.destroy(error instanceof Error ? error : undefined),
      );
  });
  const nameOf = ({ params }: Request) => ({
    session: String(params.session),
    number: Number(params.number),
  });
  app.put(`${basePath}/streams/:session/:number`, (request, response) => {
    void reply(response, async () => {
      const body = await readJson(request);
      sessions.start(nameOf(request), (signal) => openStream(backend, body, signal));
    });
  });
  app.delete(`${basePath}/streams/:session/:number`, (request, response) => {
    sessions.stop(nameOf(request));
    response.json({});
  });
  endWebApp(app, (response, status) => sendError(response, routeErrors[status]()));
  return app;

  async function sendAsset(name: string, response: Response): Promise<void> {
    try {
      assets ??= loadAssets();
      const asset = (await assets).get(name);
      if (asset === undefined) throw new BackendError('not-found', 'There is no such file');
      response.type(asset.type).send(Buffer.from(asset.content));
    } catch (error) {
      sendError(response, error);
    }
  }
}

/**
 * A page of another origin must neither read nor write. Browsers send the origin with all requests but plain reads, which another origin
 * cannot read. A forward may add TLS, and has a port of its own: that of both headers.
 */
function originProblem({ headers, method }: Request): string | undefined {
  const { host = '', origin } = headers;
  const isOwn =
    origin === undefined
      ? method === 'GET' || method === 'HEAD'
      : /^https?:\/\/(.*)$/.exec(origin)?.[1] === host.toLowerCase();
  return isOwn ? undefined : 'The request comes from another page';
}

async function reply(
  response: Response,
  work: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  try {
    const value = await work(closing(response));
    if (!response.destroyed) response.json(value ?? {});
  } catch (error) {
    if (!response.destroyed) sendError(response, error);
  }
}

function sendError(response: Response, error: unknown): void {
  const code = errorCodeOf(error);
  const message = messageOf(error);
  response.status(statuses[code]).json({ code, message });
}

/** A signal that aborts when the client disconnects. */
function closing(response: Response): AbortSignal {
  const stopper = new AbortController();
  response.once('close', () => stopper.abort(new Error('The page has disconnected')));
  return stopper.signal;
}

/** Resolves when the client keeps up. */
async function writeLine(response: Response, line: unknown): Promise<void> {
  if (response.destroyed) return;
  if (response.write(`${JSON.stringify(line)}\n`)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.once('drain', done);
    response.once('close', done);
  });
}

/** @throws BackendError */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes)
      throw new BackendError('invalid', `The request is larger than ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    const value: unknown = parseWithin(Buffer.concat(chunks).toString('utf8'), bodyLimits);
    if (typeof value === 'object' && value !== null) return value;
  } catch (cause) {
    if (cause instanceof JsonLimitError)
      throw new BackendError('invalid', cause.message, { cause });
    throw new BackendError('invalid', 'The request is not JSON', { cause });
  }
  throw new BackendError('invalid', 'Expected a JSON object');
}
