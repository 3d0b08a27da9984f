import { type HttpTransport, HttpTransportError } from '#kube/roles.ts';
import { type MetricRegistry, metricCatalogue } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';

/** Endpoints with series of their own: authors can create any number. */
const maxEndpoints = 100;
const others = 'others';

/** States of objects in metrics. */
export type ObjectState = 'ready' | 'stale' | 'failing' | 'pending';

/** The metrics of requests and objects. */
export class HttpMetrics {
  readonly #registry: MetricRegistry;
  readonly #endpoints = new Set<string>();

  constructor(registry: MetricRegistry) {
    this.#registry = registry;
  }

  /** A transport that counts the requests of an endpoint. */
  measured(transport: HttpTransport, endpoint: string, clock: Clock): HttpTransport {
    return {
      send: async (request, signal) => {
        const startMs = clock.monotonicMs();
        const count = (code: string) => this.#count(endpoint, code, clock.monotonicMs() - startMs);
        try {
          const answer = await transport.send(request, signal);
          count(classOf(answer.status));
          return answer;
        } catch (error) {
          // One that was not sent, because this process stops or does not lead, does not count.
          if (!(error instanceof HttpTransportError) || error.code !== 'aborted') count('error');
          throw error;
        }
      },
    };
  }

  countToken(result: 'success' | 'error'): void {
    this.#registry.counter(metricCatalogue.httpTokenRenewals).increment([result]);
  }

  /** Before a scrape. `oldestMs`: the longest time since an observation. */
  setObjects(states: ReadonlyMap<ObjectState, number>, oldestMs: number): void {
    const gauge = this.#registry.gauge(metricCatalogue.httpObjects);
    for (const state of metricCatalogue.httpObjects.values.state)
      gauge.set(states.get(state) ?? 0, [state]);
    this.#registry.gauge(metricCatalogue.httpOldestObservation).set(oldestMs / 1000);
  }

  /** Removes the series of a deleted endpoint. */
  async forget(endpoint: string): Promise<void> {
    if (this.#endpoints.delete(endpoint)) await this.#registry.removeSeries('endpoint', endpoint);
  }

  #count(endpoint: string, code: string, durationMs: number): void {
    const isKnown = this.#endpoints.has(endpoint) || this.#endpoints.size < maxEndpoints;
    if (isKnown) this.#endpoints.add(endpoint);
    this.#registry
      .counter(metricCatalogue.httpRequests)
      .increment([isKnown ? endpoint : others, code]);
    this.#registry.histogram(metricCatalogue.httpRequestSeconds).observe(durationMs / 1000);
  }
}

/** Exact codes would be as many series as a server wants. */
function classOf(status: number): string {
  const first = Math.floor(status / 100);
  return first >= 2 && first <= 5 ? `${first}xx` : 'error';
}
