import {
  type CertificateTimes,
  ConversionService,
  type DrainTimes,
  defaultTimes,
  type WebhookAddress,
} from '#conversion-webhook';
import { parseYaml, printYaml } from '#definition';
import { createSystemClock } from '#util/clock.ts';
import type { SharedControlPlane } from '../control-plane/index.ts';
import type { TestCluster } from '../kube-cluster.ts';
import { freshMetrics, silentLogger } from '../silent-telemetry.ts';
import { Balancer } from './balancer.ts';
import { DialKind } from './dial-kind.ts';
import { ConversionLoad } from './load.ts';

/** Waits that are long enough for an API server to notice a change of a CRD, and no longer. */
export const testTimes: CertificateTimes = { ...defaultTimes, spreadMs: 5_000, loadMs: 1_000 };

interface ReplicaOptions {
  readonly times?: CertificateTimes;
  readonly directory?: string;
  readonly drain?: DrainTimes;
  /** Its clock on the wall is ahead of ours. In ms. @default 0 */
  readonly aheadMs?: number;
}

/** A server of the webhook in this process. */
interface Replica {
  readonly service: ConversionService;
  readonly stopper: AbortController;
  readonly ended: Promise<void>;
}

interface RigParts {
  readonly shared: SharedControlPlane;
  readonly cluster: TestCluster;
  readonly namespace: string;
  readonly balancer: Balancer;
}

/** A webhook with some servers behind one address, and a kind that is converted by it. */
export class WebhookRig {
  readonly kind: DialKind;
  readonly namespace: string;
  readonly balancer: Balancer;
  readonly replicas: Replica[] = [];
  readonly loads: ConversionLoad[] = [];
  readonly #shared: SharedControlPlane;
  readonly #cluster: TestCluster;
  readonly #leader = new AbortController();
  #leading: Promise<void> = Promise.resolve();
  #started = 0;

  private constructor({ shared, cluster, namespace, balancer }: RigParts) {
    this.#shared = shared;
    this.#cluster = cluster;
    this.namespace = namespace;
    this.balancer = balancer;
    this.kind = new DialKind(shared.client(), namespace, this.address);
  }

  static async start(shared: SharedControlPlane, cluster: TestCluster): Promise<WebhookRig> {
    const namespace = await shared.namespace();
    const balancer = new Balancer();
    await balancer.start();
    return new WebhookRig({ shared, cluster, namespace, balancer });
  }

  get address(): WebhookAddress {
    return { kind: 'url', url: this.balancer.url };
  }

  /** Starts a server and waits until it can convert. */
  async addReplica(options: ReplicaOptions = {}): Promise<Replica> {
    const { times = testTimes, directory, drain, aheadMs = 0 } = options;
    const system = createSystemClock();
    const clock = { ...system, nowMs: () => system.nowMs() + aheadMs };
    const cluster = await this.#cluster.connect(this.#shared.plane.kubeconfigPath());
    const stopper = new AbortController();
    const service = new ConversionService({
      ...{ cluster, times, address: this.address, host: '127.0.0.1', port: 0 },
      ...{ clock, logger: silentLogger(), metrics: freshMetrics() },
      yaml: { parse: (text) => parseYaml(text, 'kubectl'), print: printYaml },
      server: `replica-${++this.#started}`,
      certificates:
        directory === undefined
          ? { kind: 'secret', namespace: this.namespace }
          : { kind: 'directory', directory },
      ...(drain && { drain }),
    });
    const replica = { service, stopper, ended: service.run(stopper.signal) };
    this.replicas.push(replica);
    await this.until(() => service.state.port !== undefined);
    this.route();
    return replica;
  }

  /** New connections are sent to all servers but this one. */
  route(without?: Replica): void {
    const ports = this.replicas.flatMap((each) =>
      each === without ? [] : (each.service.state.port ?? []),
    );
    this.balancer.setEndpoints(ports);
  }

  /** The CRD is installed, and its bundle follows the Secret. */
  async install(): Promise<void> {
    await this.kind.install();
    this.#leading = this.kind.lead(this.#leader.signal);
  }

  /** Starts clients. */
  async load(): Promise<ConversionLoad> {
    const load = new ConversionLoad(this.kind, this.#shared.client());
    this.loads.push(load);
    load.start();
    await load.more(20);
    return load;
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await this.#shared.client().sleep(20);
  }

  async stop(): Promise<void> {
    for (const load of this.loads) await load.stop();
    this.#leader.abort();
    await this.#leading;
    // Otherwise its objects could not be deleted.
    await this.#shared.client().delete(this.kind.path);
    for (const { stopper, ended } of this.replicas) {
      stopper.abort();
      await ended;
    }
    this.balancer.stop();
  }
}
