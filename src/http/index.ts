export { type HealthServer, type HealthServerOptions, startHealthServer } from './health-server.ts';
