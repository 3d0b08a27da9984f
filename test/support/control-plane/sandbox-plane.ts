import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiRequest, Sandbox } from '#sandbox';
import { type SandboxServer, startSandboxServer } from '#sandbox/node/index.ts';
import { createTestSandbox } from '../backends/index.ts';
import { VirtualTime } from '../virtual-time/index.ts';
import type { ControlPlaneOptions, Plane } from './control-plane.ts';
import { findFreePorts } from './free-ports.ts';
import { PlaneClient } from './plane-client.ts';
import { auditLine } from './sandbox-audit.ts';
import { makeTemporaryFolder, type TemporaryFolder } from './temporary-folder.ts';

/** A sandbox in this process that plays a control plane: the same tests, without building one. */
export async function startSandboxPlane(options: ControlPlaneOptions = {}): Promise<Plane> {
  const folder = await makeTemporaryFolder('homeostat-sandbox-plane-');
  const plane = new SandboxPlane(folder, options);
  await plane.startApiServer();
  return plane;
}

/** Users who may do everything, as on a real one; each has an address of its own, by which the audit log knows it. */
const superusers = ['admin', 'operator', 'system:kube-controller-manager'];

/** A plane in this process: runtimes can run beside it, on its time. */
export class SandboxPlane implements Plane {
  readonly time: VirtualTime;
  readonly #ownsTime: boolean;
  readonly #folder: TemporaryFolder;
  readonly #hasAudit: boolean;
  readonly #users: readonly string[];
  readonly #sandbox: Sandbox;
  readonly #doors = new Set<Door>();
  readonly #doorOf = new Map<string, Door>();
  readonly #clients = new Map<string, PlaneClient>();

  constructor(folder: TemporaryFolder, options: ControlPlaneOptions) {
    const { audit = false, users = [], controllerManager: controllers = true } = options;
    this.time = options.time ?? new VirtualTime();
    this.#ownsTime = options.time === undefined;
    this.#folder = folder;
    this.#hasAudit = audit;
    this.#users = [...superusers, ...users];
    this.#sandbox = createTestSandbox({ runsPods: false, controllers, clock: this.time.clock });
    if (this.#ownsTime) this.time.start();
    if (audit) writeFileSync(this.auditFile ?? '', '');
  }

  get server(): string {
    return this.#doorFor('admin').url;
  }

  get folder(): string {
    return this.#folder.path;
  }

  get auditFile(): string | undefined {
    return this.#hasAudit ? join(this.folder, 'audit.log') : undefined;
  }

  get etcdUrl(): string {
    return notHere('etcd');
  }

  get caCertificate(): string {
    return '';
  }

  get pids(): Plane['pids'] {
    return notHere('processes');
  }

  async start(): Promise<void> {
    await this.startApiServer();
  }

  token(user = 'admin'): string {
    return `${user}-token`;
  }

  kubeconfig(user = 'admin', namespace = 'default'): string {
    return kubeconfigOf(this.#doorFor(user).url, namespace);
  }

  /** An address of its own for a runtime in this process, so that it can be cut off. */
  async openDoor(user: string): Promise<RuntimeDoor> {
    const door = await this.#open(user);
    const kubeconfig = join(this.folder, `${user}.${Math.random()}.kubeconfig`);
    writeFileSync(kubeconfig, kubeconfigOf(door.url, 'default'), { mode: 0o600 });
    return {
      kubeconfig,
      cut: async () => {
        this.#doors.delete(door);
        await door.server?.stop();
      },
    };
  }

  kubeconfigPath(user = 'admin', namespace = 'default'): string {
    const path = join(this.folder, `${user}.${namespace}.kubeconfig`);
    writeFileSync(path, this.kubeconfig(user, namespace), { mode: 0o600 });
    return path;
  }

  client(user = 'admin'): PlaneClient {
    const known = this.#clients.get(user);
    if (known !== undefined) return known;
    const { url: server } = this.#doorFor(user);
    const { clock } = this.time;
    const client = new PlaneClient({ server, caCertificate: '', token: this.token(user), clock });
    this.#clients.set(user, client);
    return client;
  }

  /** Listens again, where it listened before, to the same harness. */
  async startApiServer(): Promise<void> {
    for (const user of this.#users)
      if (!this.#doorOf.has(user)) this.#doorOf.set(user, await this.#open(user));
    for (const door of this.#doors) door.server ??= await this.#listen(door.user, door.port);
  }

  async stopApiServer(): Promise<void> {
    const servers = [...this.#doors].map((door) => {
      const { server } = door;
      door.server = undefined;
      return server?.stop();
    });
    await Promise.all(servers);
  }

  async restartApiServer(): Promise<void> {
    await this.stopApiServer();
    await this.startApiServer();
  }

  compactEtcd(): Promise<void> {
    return notHere('etcd');
  }

  snapshotEtcd(): Promise<string> {
    return notHere('etcd');
  }

  restoreEtcd(): Promise<void> {
    return notHere('etcd');
  }

  /** Its controllers know all kinds at once. */
  async restartControllerManager(): Promise<void> {}

  async stop(): Promise<void> {
    for (const client of this.#clients.values()) client.close();
    await this.stopApiServer();
    this.#sandbox.stop();
    if (this.#ownsTime) await this.time.stop();
    await this.#folder.remove();
  }

  #doorFor(user: string): Door {
    const door = this.#doorOf.get(user);
    if (door !== undefined) return door;
    throw new Error(`Expected a user of this control plane, found "${user}"`);
  }

  async #open(user: string): Promise<Door> {
    // One that no client gets for a connection of its own while the server is stopped.
    const [port = 0] = await findFreePorts(1);
    const server = await this.#listen(user, port);
    const door = { user, url: server.url, port, server };
    this.#doors.add(door);
    return door;
  }

  #listen(user: string, port: number): Promise<SandboxServer> {
    return startSandboxServer({
      sandbox: this.#sandboxOf(user),
      basePath: `/${user}-of-a-test-plane`,
      port,
    });
  }

  /** Lets all conversion webhooks fail, or answer again. */
  setWebhooksReachable(areReachable: boolean): void {
    this.#sandbox.setWebhooksReachable(areReachable);
  }

  /** The sandbox, as this user's requests come to it. */
  #sandboxOf(user: string): Sandbox {
    const { auditFile } = this;
    const handle = (request: ApiRequest) => {
      this.time.note();
      const answer = this.#sandbox.handle(request);
      if (auditFile !== undefined)
        appendFileSync(auditFile, auditLine({ user, request, status: answer.status }));
      return answer;
    };
    return { ...this.#sandbox, handle };
  }
}

/** How a runtime in this process reaches the plane. */
export interface RuntimeDoor {
  /** A file. */
  readonly kubeconfig: string;
  /** Ends all its connections, for good. */
  cut(): Promise<void>;
}

/** Where a user's requests arrive; its port stays when the server stops. */
interface Door {
  readonly user: string;
  readonly url: string;
  readonly port: number;
  server: SandboxServer | undefined;
}

function kubeconfigOf(server: string, namespace: string): string {
  return `${JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server } }],
    users: [{ name: 'test', user: {} }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace } }],
  })}\n`;
}

function notHere(what: string): never {
  throw new Error(`A sandbox that plays a control plane has no ${what}`);
}
