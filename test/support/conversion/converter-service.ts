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
  #missing = 0;
  #completeSinceMs = 0;

  constructor(shared: SharedControlPlane) {
    this.#shared = shared;
  }

  /** For `--webhook-service` of a runtime. */
  get address(): string {
    return `${namespace}/${service}:${new URL(this.#balancer.url).port}`;
  }

  /** Starts two processes. The namespace exists. @param environments of the two */
  async start(environments: readonly Readonly<Record<string, string>>[] = []): Promise<void> {
    await this.#balancer.start();
    await this.#shared.client().apply({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: service, namespace },
      // The API server connects to the name itself: no network of a cluster is needed.
      spec: { type: 'ExternalName', externalName: '127.0.0.1' },
    });
    await Promise.all([this.#add(environments[0]), this.#add(environments[1])]);
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

  /** SIGKILL of one process, or of all. Resolves when they have ended; then {@link replace} is due for each. */
  async kill(count = 1): Promise<void> {
    const killed = this.#processes.splice(0, count);
    this.#missing += killed.length;
    await Promise.all(killed.map((each) => each.kill()));
    this.#route();
  }

  /** Starts a process in the place of one that was killed. */
  async replace(): Promise<void> {
    await this.#add();
    this.#missing -= 1;
    this.#completeSinceMs = performance.now();
  }

  /** How many processes run. */
  get running(): number {
    return this.#processes.length;
  }

  /** Whether a process was missing at a time since then, by `performance.now()`. */
  wasIncomplete(sinceMs: number): boolean {
    return this.#missing > 0 || this.#completeSinceMs >= sinceMs;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#processes.splice(0).map((each) => each.kill()));
    this.#missing = 0;
    this.#balancer.stop();
  }

  async #add(env: Readonly<Record<string, string>> = {}): Promise<void> {
    const started = await ConvertProcess.start({
      ...{ namespace, env },
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
