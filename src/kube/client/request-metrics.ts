import type { MetricRegistry } from '../../telemetry/roles.ts';
import type { Flow } from '../roles.ts';

/** What is measured of requests. */
export interface RequestMetrics {
  /** One try. `code` is the status, or `<error>` when there was no answer (as client-go has it). */
  answered(method: string, code: number, seconds: number): void;
  /** A watch was opened, or refused. */
  opened(code: number): void;
  retried(method: string, code: number): void;
  depth(priority: Flow['priority'], depth: number): void;
  /** How long a request waited for a connection. */
  waited(priority: Flow['priority'], seconds: number): void;
  inFlight(count: number): void;
}

/** Metrics by the names that dashboards for client-go know, and our own of the queue. */
export function createRequestMetrics(metrics: MetricRegistry, host: string): RequestMetrics {
  const requests = metrics.counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server, by status',
    labels: ['code', 'method', 'host'],
  });
  const durations = metrics.histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Time from the dispatch of a request to the end of its answer',
    labels: ['verb', 'host'],
  });
  const retries = metrics.counter({
    name: 'rest_client_request_retries_total',
    help: 'Requests sent again because the server said when',
    labels: ['code', 'verb', 'host'],
  });
  const depths = metrics.gauge({
    name: 'homeostat_request_queue_depth',
    help: 'Requests that wait for a connection',
    labels: ['priority'],
  });
  const waits = metrics.histogram({
    name: 'homeostat_request_queue_wait_seconds',
    help: 'How long requests wait for a connection',
    labels: ['priority'],
  });
  const flights = metrics.gauge({
    name: 'homeostat_requests_in_flight',
    help: 'Requests that hold a connection, watches and the lease left out',
  });
  for (const priority of ['world', 'status', 'event']) depths.set(0, [priority]);
  return {
    answered(method, code, seconds) {
      requests.increment([codeLabel(code), method, host]);
      durations.observe(seconds, [method, host]);
    },
    opened: (code) => requests.increment([codeLabel(code), 'GET', host]),
    retried: (method, code) => retries.increment([String(code), method, host]),
    waited: (priority, seconds) => waits.observe(seconds, [priority]),
    depth: (priority, depth) => depths.set(depth, [priority]),
    inFlight: (count) => flights.set(count),
  };
}

function codeLabel(code: number): string {
  return code === 0 ? '<error>' : String(code);
}
