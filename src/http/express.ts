/** The only file that imports express. It is loaded with the first request: it takes more CPU time than the rest of a start. */
import express, { type ErrorRequestHandler, type Express } from 'express';

export type { ErrorRequestHandler, Express, Request, Response } from 'express';

/** An application without headers that name the framework, and without ETags, which are computed from whole bodies. */
export function createWebApp(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  return app;
}

/** Ends an application: what no route handles, and what fails. */
export function endWebApp(
  app: Express,
  fail: (response: import('express').Response, status: 404 | 500) => void,
): void {
  app.use((_request, response) => fail(response, 404));
  app.use(((_error, _request, response, _next) =>
    fail(response, 500)) satisfies ErrorRequestHandler);
}
