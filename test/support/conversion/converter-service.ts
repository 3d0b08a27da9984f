import assert from 'node:assert/strict';
import type { SharedControlPlane } from '../control-plane/index.ts';
import { Balancer } from './balancer.ts';
import { ConvertProcess } from './convert-process.ts';

const namespace = 'homeostat-system';
const service = 'converter';

/** Processes of `homeostat convert` behind a Service, as in a cluster. */
export class ConverterService {
  readonly #shared: SharedControlPlane;
  readonly #balancer = new Balancer();
  readonly #processes: ConvertProcess[] = [];

  constructor(shared: SharedControlPlane) {
    this.#shared = shared;
  }

  /** For `--webhook-service` of a runtime. */
  get address(): string {
    return `${namespace}/${service}:${new URL(this.#balancer.url).port}`;
  }

  /** Starts two processes. The namespace exists. */
  async start(): Promise<void> {
    await this.#balancer.start();
    await this.#shared.client().apply({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: service, namespace },
      // The API server connects to the name itself: no network of a cluster is needed.
      spec: { type: 'ExternalName', externalName: '127.0.0.1' },
    });
    await Promise.all([this.#add(), this.#add()]);
  }

  /** Ends one process, as a rollout does, and starts another one. */
  async restartOne(): Promise<void> {
    const [ending] = this.#processes.splice(0, 1);
    const ended = ending?.stop();
    await ending?.logged('The conversion webhook ends');
    this.#route();
    assert.equal(await ended, 0);
    await this.#add();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((each) => each.kill()));
    this.#balancer.stop();
  }

  async #add(): Promise<void> {
    const started = await ConvertProcess.start({
      namespace,
      kubeconfig: this.#shared.plane.kubeconfigPath(),
      flags: ['--webhook-service', service, '--shutdown-delay', '1s'],
    });
    this.#processes.push(started);
    this.#route();
  }

  #route(): void {
    this.#balancer.setEndpoints(this.#processes.map(({ port }) => port));
  }
}
