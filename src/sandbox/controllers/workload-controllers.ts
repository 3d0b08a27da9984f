import { isJsonObject } from '../../util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { type StoreEvent, storeKey } from '../store/index.ts';
import type { ControllerWorld } from './controller-world.ts';
import { CronJobController, cronJobs } from './cron-job-controller.ts';
import { DaemonSetController, daemonSets, nodes } from './daemon-set-controller.ts';
import { DeploymentController, deployments } from './deployment-controller.ts';
import { EndpointController, services } from './endpoint-controller.ts';
import { JobController, jobs } from './job-controller.ts';
import { PodSimulator, pods } from './pod-simulator.ts';
import { ReplicaSetController, replicaSets } from './replica-set-controller.ts';
import { StatefulSetController, statefulSets } from './stateful-set-controller.ts';
import { claims, VolumeController } from './volume-controller.ts';
import { WorkLoop } from './work-loop.ts';

/** Changes of their status still concern their owners. */
const withoutNodes: readonly (readonly [string, Reconciler])[] = [[pods, { reconcile() {} }]];

function ofNodes(world: ControllerWorld): readonly (readonly [string, Reconciler])[] {
  return [
    [pods, new PodSimulator(world)],
    [claims, new VolumeController(world)],
  ];
}

interface Reconciler {
  reconcile(key: string): void;
}

/** Collections of owners, by their kind. */
const owners: Readonly<Record<string, string>> = {
  Deployment: deployments,
  ReplicaSet: replicaSets,
  StatefulSet: statefulSets,
  DaemonSet: daemonSets,
  CronJob: cronJobs,
  Job: jobs,
};

/** What has to look again when something of its namespace changes: pods come and go below it. */
const neighbours: Readonly<Record<string, readonly string[]>> = {
  [pods]: [services, claims],
  [nodes]: [daemonSets],
};

export interface WorkloadControllersOptions {
  /** Is there a node that runs pods and gives volumes? Without one they wait, as below a control plane alone. */
  readonly runsPods: boolean;
  readonly onFailure: (error: unknown) => void;
}

/** Simulates what runs workloads: each object is looked at again when it, or what it controls, changes. */
export class WorkloadControllers {
  readonly #world: ControllerWorld;
  readonly #loop: WorkLoop;
  readonly #reconcilers: ReadonlyMap<string, Reconciler>;

  constructor(world: ControllerWorld, { runsPods, onFailure }: WorkloadControllersOptions) {
    this.#world = world;
    const later = (collection: string) => (key: string, ms: number) =>
      this.#loop.addAfter(`${collection} ${key}`, ms);
    this.#reconcilers = new Map<string, Reconciler>([
      ...(runsPods ? ofNodes(world) : withoutNodes),
      [replicaSets, new ReplicaSetController(world, later(replicaSets))],
      [deployments, new DeploymentController(world, later(deployments))],
      [jobs, new JobController(world, later(jobs))],
      [statefulSets, new StatefulSetController(world)],
      [daemonSets, new DaemonSetController(world)],
      [cronJobs, new CronJobController(world, later(cronJobs))],
      [services, new EndpointController(world)],
    ]);
    const reconcile = (key: string) => this.#reconcile(key);
    this.#loop = new WorkLoop({ clock: world.clock, reconcile, onFailure });
  }

  /** Begins to follow the world; returns a function that ends it. */
  start(): () => void {
    const unfollow = this.#world.follow((event) => this.#onEvent(event));
    return () => {
      unfollow();
      this.#loop.stop();
    };
  }

  /** Resolves when they have nothing to do right now. */
  untilIdle(): Promise<void> {
    return this.#loop.untilIdle();
  }

  #onEvent({ collection, last }: StoreEvent): void {
    for (const near of neighbours[collection] ?? []) this.#addNear(near, last.namespace);
    if (!this.#reconcilers.has(collection)) return;
    this.#loop.add(`${collection} ${last.key}`);
    const references = listField(objectField(last.object, 'metadata') ?? {}, 'ownerReferences');
    for (const owner of references.filter(isJsonObject)) {
      const owning = owners[stringField(owner, 'kind') ?? ''];
      const name = stringField(owner, 'name') ?? '';
      if (owning !== undefined) this.#loop.add(`${owning} ${storeKey(last.namespace, name)}`);
    }
  }

  /** All objects of a collection in a namespace; everywhere when there is none. */
  #addNear(collection: string, namespace: string): void {
    for (const near of this.#world.list(collection))
      if (namespace === '' || near.namespace === namespace)
        this.#loop.add(`${collection} ${near.key}`);
  }

  #reconcile(entry: string): void {
    const space = entry.indexOf(' ');
    this.#reconcilers.get(entry.slice(0, space))?.reconcile(entry.slice(space + 1));
  }
}
