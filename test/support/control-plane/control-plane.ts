import { readFileSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, createSystemClock } from '#util/clock.ts';
import { patienceMs } from '../patience.ts';
import type { VirtualTime } from '../virtual-time/index.ts';
import { type Binaries, ensureBinaries } from './binaries.ts';
import { findFreePorts } from './free-ports.ts';
import { kubeconfigText } from './kubeconfig.ts';
import { PlaneClient } from './plane-client.ts';
import { ReadinessProbe } from './readiness-probe.ts';
import {
  apiServerArguments,
  controllerManagerArguments,
  etcdArguments,
  type PlaneLayout,
  type PlaneUser,
  planLayout,
  writeServerFiles,
} from './server-arguments.ts';
import { launch, type SupervisedProcess } from './supervised-process.ts';
import { makeTemporaryFolder, type TemporaryFolder } from './temporary-folder.ts';
import type { BinaryName } from './versions.ts';

export interface ControlPlaneOptions {
  /** Starts kube-controller-manager: garbage collection, namespaces, workloads. @default true */
  readonly controllerManager?: boolean;
  /** Controllers beside those that workloads, garbage and namespaces need. @default none */
  readonly controllers?: readonly string[];
  /** Writes an audit log, which `AuditLog` reads. @default false */
  readonly audit?: boolean;
  /** Users beside `admin` and `operator`, without groups: they may do what RBAC gives them. */
  readonly users?: readonly string[];
  /** Admission plugins beside those that are on by default. @default none */
  readonly admissionPlugins?: readonly string[];
  /** Another plane's etcd, and the prefix of this plane's keys in it. @default an etcd of its own */
  readonly etcd?: { readonly url: string; readonly prefix: string };
  /** Time of a sandbox that other sandboxes share. @default its own */
  readonly time?: VirtualTime | undefined;
  /** Upper bound for the start of the servers, in ms. @default patienceMs */
  readonly startLimitMs?: number;
}

interface PlaneParts extends ControlPlaneOptions {
  readonly binaries: Binaries;
  readonly folder: TemporaryFolder;
  readonly ports: readonly number[];
}

/** Process ids of the servers that run now. */
export interface PlanePids {
  readonly etcd: number;
  readonly apiServer: number | undefined;
  readonly controllerManager: number | undefined;
}

const superusers = ['admin', 'operator', 'system:kube-controller-manager'];

/**
 * Starts etcd, kube-apiserver and kube-controller-manager on loopback, with a data folder of their
 * own, and waits until they answer (about three seconds). None of them outlives this process, however
 * it ends. Users `admin` and `operator` may do everything. There is no scheduler and no kubelet: Pods
 * stay pending unless an {@link InstantKubelet} runs them.
 * @throws Error when binaries are missing and cannot be built, or a server does not come up.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const { controllerManager = true } = options;
  const servers: readonly BinaryName[] =
    options.etcd === undefined ? ['etcd', 'kube-apiserver'] : ['kube-apiserver'];
  const names = controllerManager ? [...servers, 'kube-controller-manager' as const] : servers;
  const binaries = await ensureBinaries(names);
  for (let attempt = 1; ; attempt++) {
    const folder = await makeTemporaryFolder('homeostat-control-plane-');
    const plane = new ControlPlane({ binaries, folder, ports: await findFreePorts(3), ...options });
    try {
      await plane.start();
      return plane;
    } catch (error) {
      await plane.stop();
      // Somebody may have taken a port between our look and the server's start.
      if (attempt === 3 || !String(error).includes('address already in use')) throw error;
    }
  }
}

/** What tests may ask of a control plane, whatever it is made of. */
export type Plane = Pick<ControlPlane, keyof ControlPlane> & {
  /** Its own time; undefined: the real one. */
  readonly time?: VirtualTime;
};

/** The time of a plane, for what runs in this process beside it. */
export function clockOf({ time }: Plane): Clock {
  return time?.clock ?? createSystemClock();
}

/** A running control plane; `startControlPlane` makes it. */
export class ControlPlane {
  readonly #binaries: Binaries;
  readonly #folder: TemporaryFolder;
  readonly #layout: PlaneLayout;
  readonly #users: readonly PlaneUser[];
  readonly #clients = new Map<string, PlaneClient>();
  readonly #admissionPlugins: readonly string[];
  readonly #controllers: readonly string[];
  readonly #startLimitMs: number;
  readonly #sharedEtcd: ControlPlaneOptions['etcd'];
  #dataFolder: string;
  #copies = 0;
  #etcd: SupervisedProcess | undefined;
  #apiServer: SupervisedProcess | undefined;
  #controllerManager: SupervisedProcess | undefined;

  /** @internal */
  constructor(options: PlaneParts) {
    const { folder, ports, audit = false, users = [], startLimitMs = patienceMs } = options;
    this.#binaries = options.binaries;
    this.#folder = folder;
    this.#startLimitMs = startLimitMs;
    this.#admissionPlugins = options.admissionPlugins ?? [];
    this.#controllers = options.controllers ?? [];
    this.#sharedEtcd = options.etcd;
    const layout = planLayout({ folder: folder.path, ports, hasAudit: audit });
    const { url: etcdUrl = layout.etcdUrl } = options.etcd ?? {};
    this.#layout = { ...layout, etcdUrl };
    this.#dataFolder = join(folder.path, 'etcd');
    this.#users = [
      ...superusers.map((name) => planUser(name, ['system:masters'])),
      ...users.map((name) => planUser(name, [])),
    ];
  }

  /** @internal */
  async start(): Promise<void> {
    writeServerFiles(this.#layout, this.#users);
    if (this.#sharedEtcd === undefined) await this.#startEtcd();
    await this.startApiServer();
    if (this.#binaries['kube-controller-manager'] !== undefined) await this.#startManager();
  }

  /** Where other planes may keep their data, too. */
  get etcdUrl(): string {
    return this.#layout.etcdUrl;
  }

  /** The API server's address, without a path. */
  get server(): string {
    return this.#layout.server;
  }

  /** The folder of data, logs (`etcd.log`, `kube-apiserver.log`, ...) and kubeconfigs. */
  get folder(): string {
    return this.#layout.folder;
  }

  /** The audit log; undefined unless it was asked for. */
  get auditFile(): string | undefined {
    return this.#layout.auditFile;
  }

  /** PEM text that verifies the API server. */
  get caCertificate(): string {
    return readFileSync(this.#layout.certificateFile, 'utf8');
  }

  get pids(): PlanePids {
    return {
      etcd: this.#etcd?.pid ?? 0,
      apiServer: this.#apiServer?.pid,
      controllerManager: this.#controllerManager?.pid,
    };
  }

  /** A user's bearer token. */
  token(user = 'admin'): string {
    const known = this.#users.find(({ name }) => name === user);
    if (known === undefined)
      throw new Error(`Expected a user of this control plane, found "${user}"`);
    return known.token;
  }

  /** A user's kubeconfig as text. */
  kubeconfig(user = 'admin', namespace = 'default'): string {
    const { server, caCertificate } = this;
    return kubeconfigText({ server, caCertificate, token: this.token(user), namespace });
  }

  /** A file with a user's kubeconfig. */
  kubeconfigPath(user = 'admin', namespace = 'default'): string {
    const path = join(this.folder, `${user}.${namespace}.kubeconfig`);
    writeFileSync(path, this.kubeconfig(user, namespace), { mode: 0o600 });
    return path;
  }

  /** A client for tests, one per user. */
  client(user = 'admin'): PlaneClient {
    const known = this.#clients.get(user);
    if (known !== undefined) return known;
    const { server, caCertificate } = this;
    const client = new PlaneClient({ server, caCertificate, token: this.token(user) });
    this.#clients.set(user, client);
    return client;
  }

  /** Starts the API server again, on the same port and data, and waits until it is ready. */
  async startApiServer(): Promise<void> {
    if (this.#apiServer !== undefined) throw new Error('The API server is running already');
    this.#apiServer = await this.#launch('kube-apiserver', [
      ...apiServerArguments(this.#layout, this.#admissionPlugins),
      ...(this.#sharedEtcd === undefined ? [] : [`--etcd-prefix=/${this.#sharedEtcd.prefix}`]),
    ]);
    await this.#untilReady();
  }

  /** Stops the API server: SIGTERM with ten seconds of grace, or at once (`graceMs: 0`, a crash). */
  async stopApiServer(graceMs = 10_000): Promise<void> {
    await this.#apiServer?.stop(graceMs);
    this.#apiServer = undefined;
  }

  async restartApiServer(graceMs?: number): Promise<void> {
    await this.stopApiServer(graceMs);
    await this.startApiServer();
  }

  /** Makes etcd forget all versions before the newest, as an API server does by itself every few minutes. */
  async compactEtcd(): Promise<void> {
    const ask = async (path: string, body: object) => {
      const url = `${this.#layout.etcdUrl}/v3/kv/${path}`;
      const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(`etcd: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as { readonly header: { readonly revision: string } };
    };
    const { header } = await ask('range', { key: btoa('nothing') });
    await ask('compaction', { revision: header.revision });
  }

  /** Copies etcd's data, which holds still meanwhile; returns the folder of the copy, for {@link restoreEtcd}. */
  async snapshotEtcd(): Promise<string> {
    const { etcd: pid } = this.pids;
    process.kill(pid, 'SIGSTOP');
    try {
      return await this.#copyData(this.#dataFolder);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  }

  /**
   * Kills all servers and starts them again, on the same ports, with the data of a snapshot: everything written since is
   * undone, and resourceVersions go back to where they were.
   */
  async restoreEtcd(snapshot: string): Promise<void> {
    await this.#controllerManager?.stop(0);
    await this.stopApiServer(0);
    await this.#etcd?.stop(0);
    this.#dataFolder = await this.#copyData(snapshot);
    await this.#startEtcd();
    await this.startApiServer();
    if (this.#binaries['kube-controller-manager'] !== undefined) await this.#startManager();
  }

  /** Makes the garbage collector know kinds at once that were installed after its start. */
  async restartControllerManager(): Promise<void> {
    await this.#controllerManager?.stop(0);
    await this.#startManager();
  }

  /** Kills the servers and removes their folder. Safe to call twice. */
  async stop(): Promise<void> {
    for (const client of this.#clients.values()) client.close();
    // Nothing of a throwaway plane is worth a grace period.
    const servers = [this.#controllerManager, this.#apiServer, this.#etcd];
    for (const server of servers) await server?.stop(0);
    await this.#folder.remove();
  }

  async #startEtcd(): Promise<void> {
    this.#etcd = await this.#launch('etcd', etcdArguments(this.#layout, this.#dataFolder));
  }

  /** The copy stays as it is: what runs on it runs on a copy of the copy. */
  async #copyData(source: string): Promise<string> {
    this.#copies += 1;
    const target = join(this.folder, `etcd-copy-${this.#copies}`);
    await cp(source, target, { recursive: true });
    return target;
  }

  async #startManager(): Promise<void> {
    const args = controllerManagerArguments(this.#layout, {
      kubeconfigFile: this.kubeconfigPath('system:kube-controller-manager'),
      controllers: this.#controllers,
    });
    this.#controllerManager = await this.#launch('kube-controller-manager', args);
  }

  #launch(name: BinaryName, args: readonly string[]): Promise<SupervisedProcess> {
    const command = this.#binaries[name];
    if (command === undefined) throw new Error(`This control plane has no ${name}`);
    return launch({ command, args, logFile: join(this.folder, `${name}.log`) });
  }

  async #untilReady(): Promise<void> {
    const deadline = performance.now() + this.#startLimitMs;
    const probe = new ReadinessProbe(this.#layout, this.token());
    try {
      for (;;) {
        const reason = await probe.reasonToWait();
        // Also when it is ready: were our port taken, it may be somebody else's etcd that answers.
        this.#assertRunning();
        if (reason === undefined) return;
        if (performance.now() > deadline) {
          throw new Error(`Not ready in time (${reason}): ${this.#logTail('kube-apiserver')}`);
        }
        await sleep(25);
      }
    } finally {
      probe.close();
    }
  }

  #assertRunning(): void {
    const etcd = this.#sharedEtcd === undefined ? ([['etcd', this.#etcd]] as const) : [];
    for (const [name, server] of [...etcd, ['kube-apiserver', this.#apiServer] as const]) {
      if (server?.isRunning() !== true) throw new Error(`${name} ended: ${this.#logTail(name)}`);
    }
  }

  #logTail(name: BinaryName): string {
    return readFileSync(join(this.folder, `${name}.log`), 'utf8').slice(-3000);
  }
}

function planUser(name: string, groups: readonly string[]): PlaneUser {
  return { name, token: `${name}-token`, groups };
}
