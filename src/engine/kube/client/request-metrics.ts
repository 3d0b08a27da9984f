import { type MetricRegistry, metricCatalogue } from '#telemetry/roles.ts';
import type { Flow } from '../roles.ts';

/** Metrics of requests. */
export interface RequestMetrics {
  /** One attempt. `code` is the status, or `<error>` without a response (as in client-go). */
  requestCompleted(method: string, code: number, seconds: number): void;
  /** A watch was opened or rejected. */
  watchOpened(code: number): void;
  requestRetried(method: string, code: number): void;
  depth(priority: Flow['priority'], depth: number): void;
  /** Time that a request waited for a connection. */
  waited(priority: Flow['priority'], seconds: number): void;
  inFlight(count: number): void;
}

const methods = ['GET', 'PATCH', 'POST', 'PUT', 'DELETE'];

/** Metrics named as in client-go, and our own metrics of the queue. */
export function createRequestMetrics(metrics: MetricRegistry, host: string): RequestMetrics {
  const requests = metrics.counter(metricCatalogue.requests);
  const durations = metrics.histogram(metricCatalogue.requestSeconds);
  const retries = metrics.counter(metricCatalogue.requestRetries);
  const depths = metrics.gauge(metricCatalogue.requestQueueDepth);
  const waits = metrics.histogram(metricCatalogue.requestQueueWaitSeconds);
  const flights = metrics.gauge(metricCatalogue.requestsInFlight);
  for (const method of methods) {
    // All possible statuses are not known; alerts use these two.
    for (const code of ['200', codeLabel(0)]) requests.increment([code, method, host], 0);
    for (const code of ['429', '503']) retries.increment([code, method, host], 0);
    durations.initialize([method, host]);
  }
  return {
    requestCompleted(method, code, seconds) {
      requests.increment([codeLabel(code), method, host]);
      durations.observe(seconds, [method, host]);
    },
    watchOpened: (code) => requests.increment([codeLabel(code), 'GET', host]),
    requestRetried: (method, code) => retries.increment([String(code), method, host]),
    depth: (priority, depth) => depths.set(depth, [priority]),
    waited: (priority, seconds) => waits.observe(seconds, [priority]),
    inFlight: (count) => flights.set(count),
  };
}

function codeLabel(code: number): string {
  return code === 0 ? '<error>' : String(code);
}
