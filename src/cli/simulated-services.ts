import { createDefaultLeafParser } from '#compile';
import { DerivedApi, httpEndpointGvk, httpObjectGvk } from '#http-objects';
import { type KubeCluster, serviceOf } from '#kube';
import type { HttpTransport, TransportAnswer, TransportRequest } from '#kube/roles.ts';

interface SimulatedServicesOptions {
  readonly cluster: KubeCluster;
  /** For all other requests. */
  readonly transport: HttpTransport;
  /** Called once for each origin that is simulated. */
  readonly onSimulated: (origin: string) => void;
}

/**
 * Answers requests to Services, which accept no connections in a sandbox: an API that is derived from the HttpObjects stores what they send.
 * Other requests are sent.
 */
export class SimulatedServices implements HttpTransport {
  readonly #options: SimulatedServicesOptions;
  readonly #api: DerivedApi;
  readonly #known = new Set<string>();
  readonly #close: () => void;

  constructor(options: SimulatedServicesOptions) {
    const { cluster } = options;
    this.#options = options;
    const informers = [httpEndpointGvk, httpObjectGvk].map((gvk) => cluster.acquire({ gvk }));
    this.#api = new DerivedApi({
      parser: createDefaultLeafParser(),
      objects: () =>
        informers.flatMap((informer) => Array.from(informer.list(), ({ object }) => object)),
    });
    this.#close = () => {
      for (const informer of informers) informer.release();
    };
  }

  send(request: TransportRequest, signal: AbortSignal): Promise<TransportAnswer> {
    const { transport, onSimulated } = this.#options;
    const { origin, hostname: host } = new URL(request.url);
    const isService = serviceOf({ host, port: 0, namespace: request.namespace }) !== undefined;
    if (!isService) return transport.send(request, signal);
    if (!this.#known.has(origin)) onSimulated(origin);
    this.#known.add(origin);
    return this.#api.send(request, signal);
  }

  close(): void {
    this.#close();
  }
}
