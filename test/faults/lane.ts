import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plane } from '../support/control-plane/index.ts';
import {
  type FaultProxy,
  type ProxiedPlane,
  startFaultProxy,
} from '../support/fault-proxy/index.ts';
import { HomeostatProcess } from '../support/homeostat-process.ts';
import { isAllowed } from '../support/rights/access.ts';
import { ProcessProbe, probeEnvironment } from './process-probe.ts';
import { definitionText, type Place, watchedPlurals } from './subject.ts';

/** The users that lanes run as; name them when the control plane is started. */
export function laneUsers(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `lane-${index + 1}`);
}

/**
 * A runtime with a proxy, a user and a definition of its own, so that several run beside each other on one control plane.
 */
export class Lane {
  readonly user: string;
  readonly definition: string;
  readonly plane: Plane;
  readonly proxy: FaultProxy;
  readonly #kubeconfig: string;
  /** The same for each process: a reader of another one has other records. */
  readonly #folder = mkdtempSync(join(tmpdir(), 'homeostat-lane-'));
  #homeostat: HomeostatProcess;
  #probe: ProcessProbe | undefined;

  private constructor(plane: Plane, user: string, { proxy, kubeconfig }: ProxiedPlane) {
    this.plane = plane;
    this.user = user;
    this.definition = `faults-${user}`;
    this.proxy = proxy;
    this.#kubeconfig = kubeconfig;
    this.#homeostat = this.#create();
  }

  static async start(plane: Plane, user: string): Promise<Lane> {
    await grantAll(plane, user);
    const lane = new Lane(
      plane,
      user,
      await startFaultProxy(plane, user, ({ path }) => isOfOther(path, user)),
    );
    try {
      await lane.whenReady();
    } catch (error) {
      await lane.stop();
      throw error;
    }
    return lane;
  }

  /** One per user. @throws the first error, with none left running. */
  static async startAll(plane: Plane, users: readonly string[]): Promise<readonly Lane[]> {
    const starts = await Promise.allSettled(users.map((user) => Lane.start(plane, user)));
    const lanes = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
    for (const start of starts) {
      if (start.status === 'fulfilled') continue;
      await Promise.all(lanes.map((lane) => lane.stop()));
      throw start.reason;
    }
    return lanes;
  }

  get homeostat(): HomeostatProcess {
    return this.#homeostat;
  }

  place(namespace: string): Place {
    return { client: this.plane.client(), definition: this.definition, namespace };
  }

  /** Resolves when the definition runs and everything it needs is watched. */
  async whenReady(): Promise<void> {
    await this.#homeostat.whenReady();
    await this.untilWatching();
  }

  /**
   * The watches that are open, without those of other lanes' kinds: while no process here has the definition of a CRD that is on record, its
   * deletions are brought to their end here too, until that lane takes its CRD away.
   */
  get watches(): readonly string[] {
    return this.proxy.openWatches.filter((path) => !isOfOther(path, this.user));
  }

  /** Resolves when everything that the definition needs is watched: what happens then meets a watch. */
  async untilWatching(): Promise<void> {
    await this.proxy.untilOpen(() => {
      const open = this.watches.map((name) => name.split(' ')[0]?.split('/').at(-1));
      return Object.entries(watchedPlurals).every(
        ([plural, count]) => open.filter((found) => found === plural).length >= count,
      );
    });
  }

  /** Another process, well begun; the one before is asked to stop. */
  async restart(): Promise<void> {
    await this.#stopProcess('SIGTERM');
    this.#homeostat = this.#create();
    await this.whenReady();
  }

  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void> {
    return this.#stopProcess('SIGKILL');
  }

  /** Another process, which may still be starting. */
  startAgain(): void {
    this.#homeostat = this.#create();
  }

  async probe(): Promise<ProcessProbe> {
    this.#probe ??= await ProcessProbe.attach(this.#homeostat);
    return this.#probe;
  }

  async stop(): Promise<void> {
    await this.#stopProcess('SIGTERM');
    await this.proxy.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #stopProcess(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#probe?.close();
    this.#probe = undefined;
    await this.#homeostat.stop(signal);
  }

  #create(): HomeostatProcess {
    return new HomeostatProcess({
      kubeconfig: this.#kubeconfig,
      definitions: { 'faults.yaml': definitionText(this.definition) },
      folder: this.#folder,
      runtime: this.user,
      env: probeEnvironment,
    });
  }
}

/** Is a path one of the kinds of other lanes' definitions? */
function isOfOther(path: string, user: string): boolean {
  return /^\/apis\/faults-lane-\d+\./.test(path) && !path.startsWith(`/apis/faults-${user}.`);
}

const rbac = 'rbac.authorization.k8s.io';

/** Every right, by a binding that a case may take away. */
export async function grantAll(plane: Plane, user: string): Promise<void> {
  await plane.client().apply({
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: user },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
  });
}

/** Resolves when the server no longer allows anything: it learns of its own objects by a watch. */
export async function revokeAll(plane: Plane, user: string): Promise<void> {
  const client = plane.client();
  await client.delete(`/apis/${rbac}/v1/clusterrolebindings/${user}`);
  const right = { apiGroup: '', verb: 'patch', resource: 'configmaps' };
  while (await isAllowed(client, user, right)) await client.sleep(20);
}

/** Lanes that tests borrow. */
export class LanePool {
  readonly #free: Lane[];
  readonly #waiting: ((lane: Lane) => void)[] = [];

  constructor(lanes: readonly Lane[]) {
    this.#free = [...lanes];
  }

  async use<T>(work: (lane: Lane) => Promise<T>): Promise<T> {
    const lane = this.#free.pop() ?? (await new Promise<Lane>((give) => this.#waiting.push(give)));
    try {
      return await work(lane);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free.push(lane);
      else next(lane);
    }
  }
}
