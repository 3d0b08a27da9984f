export type { Express, Request, Response } from './express.ts';
export { type HealthServer, type HealthServerOptions, startHealthServer } from './health-server.ts';

/** Loads the framework for another application than that of {@link startHealthServer}. */
export function loadWebFramework(): Promise<typeof import('./express.ts')> {
  return import('./express.ts');
}
export type { Check } from './readiness.ts';
export { type RecordsQuery, recordsTokenHeader } from './records-page.ts';
