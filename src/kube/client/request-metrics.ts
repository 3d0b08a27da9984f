import { type MetricRegistry, metricCatalogue } from '../../telemetry/roles.ts';
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

const methods = ['GET', 'PATCH', 'POST', 'PUT', 'DELETE'];

/** Metrics by the names that dashboards for client-go know, and our own of the queue. */
export function createRequestMetrics(metrics: MetricRegistry, host: string): RequestMetrics {
  const requests = metrics.counter(metricCatalogue.requests);
  const durations = metrics.histogram(metricCatalogue.requestSeconds);
  const retries = metrics.counter(metricCatalogue.requestRetries);
  const depths = metrics.gauge(metricCatalogue.requestQueueDepth);
  const waits = metrics.histogram(metricCatalogue.requestQueueWaitSeconds);
  const flights = metrics.gauge(metricCatalogue.requestsInFlight);
  for (const method of methods) {
    // Which statuses a server may answer with nobody knows; these two are those an alert is about.
    for (const code of ['200', codeLabel(0)]) requests.increment([code, method, host], 0);
    for (const code of ['429', '503']) retries.increment([code, method, host], 0);
    durations.begin([method, host]);
  }
  return {
    answered(method, code, seconds) {
      requests.increment([codeLabel(code), method, host]);
      durations.observe(seconds, [method, host]);
    },
    opened: (code) => requests.increment([codeLabel(code), 'GET', host]),
    retried: (method, code) => retries.increment([String(code), method, host]),
    depth: (priority, depth) => depths.set(depth, [priority]),
    waited: (priority, seconds) => waits.observe(seconds, [priority]),
    inFlight: (count) => flights.set(count),
  };
}

function codeLabel(code: number): string {
  return code === 0 ? '<error>' : String(code);
}
