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

/** Ends an application: what no route handles (404), a malformed address (400), and what fails (500). */
export function endWebApp(
  app: Express,
  fail: (response: import('express').Response, status: 400 | 404 | 500) => void,
): void {
  app.use((_request, response) => fail(response, 404));
  app.use(((error, _request, response, _next) =>
    // The framework decodes parameters of an address.
    fail(response, error instanceof URIError ? 400 : 500)) satisfies ErrorRequestHandler);
}
