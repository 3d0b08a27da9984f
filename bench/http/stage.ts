import {
  AuditLog,
  type ControlPlane,
  type PlaneClient,
  startControlPlane,
} from '../../test/support/control-plane/index.ts';
import { thingDefinition } from '../../test/support/definitions.ts';
import { HomeostatProcess } from '../../test/support/homeostat-process.ts';
import { inParallel } from '../isolation/neighbours.ts';
import { untilMetric } from '../members/stage.ts';
import { MeasuredApi } from './measured-api.ts';
import { endpoint, httpObject, objectsPath } from './objects.ts';

const idleMs = 2_000;

/** A runtime has definitions. */
const definitions = { 'idle.yaml': thingDefinition('idle', '  children: []\n') };

/** A control plane, an API that answers in 5 ms, and runtimes that may use it. */
export class HttpStage {
  readonly plane: ControlPlane;
  readonly api: MeasuredApi;
  readonly client: PlaneClient;
  readonly audit: AuditLog;

  private constructor(plane: ControlPlane, api: MeasuredApi) {
    this.plane = plane;
    this.api = api;
    this.client = plane.client();
    this.audit = new AuditLog(plane);
  }

  static async start(): Promise<HttpStage> {
    const plane = await startControlPlane({ audit: true, controllerManager: false });
    return new HttpStage(plane, await MeasuredApi.start({ delayMs: 5 }));
  }

  async stop(): Promise<void> {
    await this.api.stop();
    await this.plane.stop();
  }

  /** A runtime that manages objects behind HTTP. @param ports of further APIs on loopback */
  async launch(ports: readonly number[] = []): Promise<HomeostatProcess> {
    const allowed = [this.api.port, ...ports].flatMap((port) => [
      '--http-allow',
      `127.0.0.1:${port}`,
    ]);
    const homeostat = this.#start(['--http-objects', ...allowed]);
    await homeostat.whenLogged('Objects behind HTTP are managed');
    await this.client.untilList(objectsPath, () => true);
    return homeostat;
  }

  /** A runtime that does not. */
  async launchWithout(): Promise<HomeostatProcess> {
    const homeostat = this.#start([]);
    await homeostat.whenReady();
    return homeostat;
  }

  #start(flags: readonly string[]): HomeostatProcess {
    const kubeconfig = this.plane.kubeconfigPath('operator');
    return new HomeostatProcess({ kubeconfig, definitions, flags });
  }

  /** Creates objects of an endpoint. */
  async create(
    names: readonly string[],
    about: { readonly of: string; readonly value: string; readonly every: string },
  ): Promise<void> {
    await inParallel(names, (name) => this.client.apply(httpObject(name, about)));
  }

  addEndpoint(name: string, url = this.api.url) {
    return this.client.apply(endpoint(name, url));
  }

  /** Nothing is done about an object from now on. */
  pause(name: string) {
    const metadata = { annotations: { 'homeostat.dev/paused': 'true' } };
    return this.client.patch(`${objectsPath}/${name}`, { metadata });
  }

  /** Resolves when the runtime has sent nothing for a while. */
  untilIdle(): Promise<void> {
    return this.audit.quiet(idleMs);
  }
}

/** Resolves when so many objects are ready, with the time in ms. */
export function untilReady(homeostat: HomeostatProcess, count: number): Promise<number> {
  return untilMetric(homeostat, 'homeostat_http_objects', count, { state: 'ready' }, 50);
}
