import type { RuntimeView } from '#runtime';
import type { ReadableMetricRegistry } from '#telemetry';
import type { Clock } from '#util/clock.ts';
import { hostProblem } from '#util/own-host.ts';
import { createWebApp, type Express, endWebApp, type Request, type Response } from './express.ts';
import { MetricsPage } from './metrics-page.ts';
import {
  type Check,
  type CheckPage,
  type CheckQuery,
  checkPage,
  readinessChecks,
  viewLines,
} from './readiness.ts';
import { type RecordsOptions, serveRecords } from './records-page.ts';
import { OnePerTurn } from './request-limits.ts';

export interface HealthAppOptions {
  readonly clock: Clock;
  readonly metrics: Pick<ReadableMetricRegistry, 'contentType' | 'expose'>;
  readonly view: () => RuntimeView;
  /** Of a process that runs no definitions: its readiness. @default {@link readinessChecks} of the view */
  readonly checks?: () => readonly Check[];
  /** Returns why `/healthz` fails; only a restart of the process helps. @default never fails */
  readonly failure?: () => string | undefined;
  /** Whether it can only be reached from this machine, where web pages must not read it. */
  readonly isLocal: boolean;
  /** Called before the metrics are rendered. */
  readonly observe: () => void;
  /** Served at `/records` to clients with the token. @default undefined: there is no such page */
  readonly records?: RecordsOptions;
}

/** The routes. */
export function createHealthApp({
  metrics,
  view,
  checks: ownChecks = () => readinessChecks(view()),
  observe,
  failure,
  clock,
  isLocal,
  records,
}: HealthAppOptions): Express {
  const app = createWebApp();
  app.use(({ method, headers }, response, next) => {
    response.set('connection', 'close');
    const problem = isLocal ? hostProblem(headers.host ?? '') : undefined;
    if (problem !== undefined) return sendText(response, 403, `${problem}\n`);
    if (method === 'GET' || method === 'HEAD') next();
    else sendText(response.set('allow', 'GET, HEAD'), 405, 'method not allowed\n');
  });
  app.get('/healthz', (request, response) => {
    send(response, checkPage('healthz', healthChecks(failure?.()), queryOf(request)));
  });
  app.get('/readyz', (request, response) => {
    const details = viewLines(view());
    send(response, checkPage('readyz', ownChecks(), { ...queryOf(request), details }));
  });
  app.get('/readyz/:check', (request, response) => {
    const { check } = request.params;
    const checks = ownChecks().filter(({ name }) => name === check);
    if (checks.length === 0) sendText(response, 404, 'no such check\n');
    else send(response, checkPage(`readyz/${check}`, checks, queryOf(request)));
  });
  const page = new MetricsPage({
    clock,
    render: () => {
      observe();
      return metrics.expose();
    },
  });
  const turns = new OnePerTurn();
  app.get('/metrics', async (_request, response) => {
    const text = await page.read();
    await turns.next();
    // The connection may have been closed by the connection limit meanwhile.
    if (!response.destroyed) response.set('content-type', metrics.contentType).send(text);
  });
  if (records !== undefined)
    app.get('/records', (request, response) => serveRecords(records, request, response));
  endWebApp(app, (response, status) => sendText(response, status, `${endings[status]}\n`));
  return app;
}

const endings = { 400: 'malformed address', 404: 'not found', 500: 'internal error' } as const;

function healthChecks(failure: string | undefined): readonly Check[] {
  return [
    // A response proves that the event loop runs.
    { name: 'ping' },
    { name: 'leader-election', ...(failure !== undefined && { failure }) },
  ];
}

function queryOf({ query }: Request): CheckQuery {
  const { verbose, exclude = [] } = query;
  const excluded = (Array.isArray(exclude) ? exclude : [exclude]).map(String);
  return { isVerbose: verbose !== undefined, excluded };
}

function send(response: Response, { status, text }: CheckPage): void {
  sendText(response.set('cache-control', 'no-store'), status, text);
}

function sendText(response: Response, status: number, text: string): void {
  response.status(status).type('text/plain').send(text);
}
