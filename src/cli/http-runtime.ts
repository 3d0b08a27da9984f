import { createDefaultLeafParser } from '#compile';
import { HttpObjectsController } from '#http-objects';
import {
  ApiServerAddresses,
  type KubeCluster,
  KubeTokenRequests,
  OutboundPolicy,
  type ProxyEnvironment,
  proxySettings,
  ServiceAddresses,
  UndiciTransport,
} from '#kube';
import type { Logger, MetricRegistry } from '#telemetry';
import type { ByteSemaphore } from '#util/byte-semaphore.ts';
import type { Clock } from '#util/clock.ts';
import type { Random } from '#util/random.ts';
import type { TimeSlicer } from '#util/time-slicer.ts';
import type { LeaderElection } from './leader-election.ts';
import { SimulatedServices } from './simulated-services.ts';

export interface HttpRuntimeOptions {
  readonly cluster: KubeCluster;
  /** URL of the API server. Undefined: a simulated one of this process. */
  readonly server: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  readonly memory?: ByteSemaphore;
  /** Shares the thread with the reconciles of definitions. @default code never waits */
  readonly timeSlicer?: TimeSlicer;
  /** Variables that name a proxy. @default no proxy is used */
  readonly environment?: ProxyEnvironment;
  /** Rules of `--http-allow`. */
  readonly allowed: readonly string[];
  /** The fence of leadership is checked before each request that writes. @default no election */
  readonly election?: Pick<LeaderElection, 'clusterOptions' | 'onLost'>;
  /** The namespace of the runtime, whose Secrets are never read. Undefined: it has none. */
  readonly namespace: string | undefined;
  /** Name of this runtime, as a label value. */
  readonly runtime?: string;
  readonly takeOverFrom?: string;
  /** Services are simulated, and this is called for each of their origins. @default requests are sent to them */
  readonly onSimulated?: (origin: string) => void;
}

/** Objects behind HTTP: the controller, with connections that only lead where they may. */
export class HttpRuntime {
  readonly #options: HttpRuntimeOptions;
  readonly #transport: UndiciTransport;
  readonly #addresses: ApiServerAddresses;
  #controller: HttpObjectsController | undefined;

  constructor(options: HttpRuntimeOptions) {
    const { cluster, clock, allowed, environment = {} } = options;
    this.#options = options;
    this.#addresses = new ApiServerAddresses(options);
    this.#transport = new UndiciTransport({
      clock,
      policy: new OutboundPolicy({ allowed, protectedAddresses: () => this.#addresses.current }),
      services: new ServiceAddresses({ api: cluster.api, clock }),
      proxyFor: proxySettings(environment),
    });
  }

  /** Runs until the signal aborts and all reconciles have ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { cluster, election, logger, namespace: runtimeNamespace, ...shared } = this.#options;
    const { onSimulated } = this.#options;
    const transport = this.#transport;
    const simulated = onSimulated && new SimulatedServices({ cluster, transport, onSimulated });
    const known = Promise.withResolvers<void>();
    const watching = this.#addresses.run(known.resolve, signal);
    // A request that is stuck in the network must not be sent by a former leader.
    const unsubscribe = election?.onLost(() => this.#transport.dropPendingWrites());
    try {
      await known.promise;
      const controller = new HttpObjectsController({
        ...shared,
        ...{ cluster, logger, runtimeNamespace },
        transport: simulated ?? transport,
        tokenRequests: new KubeTokenRequests(cluster.api),
        parser: createDefaultLeafParser(),
        beforeWrite: () => election?.clusterOptions.beforeWrite?.(writeRequest),
      });
      this.#controller = controller;
      logger.info({}, 'Objects behind HTTP are managed');
      await controller.run(signal);
      await watching;
    } finally {
      unsubscribe?.();
      simulated?.close();
      this.#controller = undefined;
      await this.#transport.close();
    }
  }

  /** Updates the gauges before a scrape. */
  observe(): void {
    this.#controller?.observe();
  }
}

/** Any request that writes, for the fence. */
const writeRequest = {
  method: 'POST',
  path: '/',
  flow: { name: 'http-objects', priority: 'object' },
} as const;
