import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiRequest, Sandbox } from '../../../src/sandbox/index.ts';
import { type SandboxServer, startSandboxServer } from '../../../src/sandbox/node/index.ts';
import { createTestSandbox } from '../backends/index.ts';
import type { ControlPlaneOptions, Plane } from './control-plane.ts';
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
const superusers = ['admin', 'operator', 'controller-manager'];

class SandboxPlane implements Plane {
  readonly #folder: TemporaryFolder;
  readonly #hasAudit: boolean;
  readonly #users: readonly string[];
  readonly #sandbox: Sandbox;
  readonly #servers = new Map<string, SandboxServer>();
  readonly #ports = new Map<string, number>();
  readonly #clients = new Map<string, PlaneClient>();

  constructor(folder: TemporaryFolder, options: ControlPlaneOptions) {
    const { audit = false, users = [], controllerManager: controllers = true } = options;
    this.#folder = folder;
    this.#hasAudit = audit;
    this.#users = [...superusers, ...users];
    this.#sandbox = createTestSandbox({ runsPods: false, controllers });
    if (audit) writeFileSync(this.auditFile ?? '', '');
  }

  get server(): string {
    return this.#serverOf('admin').url;
  }

  get folder(): string {
    return this.#folder.path;
  }

  get auditFile(): string | undefined {
    return this.#hasAudit ? join(this.folder, 'audit.log') : undefined;
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
    const { url: server } = this.#serverOf(user);
    return `${JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      clusters: [{ name: 'test', cluster: { server } }],
      users: [{ name: 'test', user: {} }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace } }],
    })}\n`;
  }

  kubeconfigPath(user = 'admin', namespace = 'default'): string {
    const path = join(this.folder, `${user}.${namespace}.kubeconfig`);
    writeFileSync(path, this.kubeconfig(user, namespace), { mode: 0o600 });
    return path;
  }

  client(user = 'admin'): PlaneClient {
    const known = this.#clients.get(user);
    if (known !== undefined) return known;
    const { url: server } = this.#serverOf(user);
    const client = new PlaneClient({ server, caCertificate: '', token: this.token(user) });
    this.#clients.set(user, client);
    return client;
  }

  /** Listens again, where it listened before, to the same world. */
  async startApiServer(): Promise<void> {
    for (const user of this.#users) {
      const server = await startSandboxServer({
        sandbox: this.#sandboxOf(user),
        basePath: `/${user}-of-a-test-plane`,
        port: this.#ports.get(user) ?? 0,
      });
      this.#servers.set(user, server);
      this.#ports.set(user, Number(new URL(server.url).port));
    }
  }

  async stopApiServer(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.stop()));
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
    await this.#folder.remove();
  }

  #serverOf(user: string): SandboxServer {
    const server = this.#servers.get(user);
    if (server !== undefined) return server;
    throw new Error(`Expected a user of this control plane, found "${user}"`);
  }

  /** The sandbox, as this user's requests come to it. */
  #sandboxOf(user: string): Sandbox {
    const { auditFile } = this;
    if (auditFile === undefined) return this.#sandbox;
    const handle = (request: ApiRequest) => {
      const answer = this.#sandbox.handle(request);
      appendFileSync(auditFile, auditLine({ user, request, status: answer.status }));
      return answer;
    };
    return { ...this.#sandbox, handle };
  }
}

function notHere(what: string): never {
  throw new Error(`A sandbox that plays a control plane has no ${what}`);
}
