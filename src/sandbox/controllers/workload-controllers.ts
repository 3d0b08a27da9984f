import { isJsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import type { StoreEvent } from '../store/object-store.ts';
import { storeKey } from '../store/stored-object.ts';
import type { ControllerClient } from './controller-client.ts';
import { CronJobController, cronJobs } from './cron-job-controller.ts';
import { DaemonSetController, daemonSets, nodes } from './daemon-set-controller.ts';
import { DeploymentController, deployments } from './deployment-controller.ts';
import { EndpointSliceController, services } from './endpoint-slice-controller.ts';
import { JobController, jobs } from './job-controller.ts';
import { type PodOutcome, PodSimulator, pods } from './pod-simulator.ts';
import { ReconcileQueue } from './reconcile-queue.ts';
import { ReplicaSetController, replicaSets } from './replica-set-controller.ts';
import { StatefulSetController, statefulSets } from './stateful-set-controller.ts';
import { claims, VolumeController } from './volume-controller.ts';

/** Status changes of Pods still trigger their owners. */
const noNode: Reconciler = { reconcile() {} };

interface Reconciler {
  reconcile(key: string): void;
}

/** Collections of owners, by kind. */
const owners: Readonly<Record<string, string>> = {
  Deployment: deployments,
  ReplicaSet: replicaSets,
  StatefulSet: statefulSets,
  DaemonSet: daemonSets,
  CronJob: cronJobs,
  Job: jobs,
};

/** Collections to reconcile when something in their namespace changes, because they depend on its pods. */
const namespaceDependents: Readonly<Record<string, readonly string[]>> = {
  [pods]: [services, claims],
  [nodes]: [daemonSets],
};

interface WorkloadControllersOptions {
  /** Simulates a node and volumes. Without it, pods and claims stay pending, as on a control plane without nodes. */
  readonly runsPods: boolean;
  readonly onInternalError: (error: unknown) => void;
}

/** Runs the workload controllers: reconciles an object when it, or an object that it controls, changes. */
export class WorkloadControllers {
  readonly #client: ControllerClient;
  readonly #queue: ReconcileQueue;
  readonly #pods: PodSimulator;
  readonly #reconcilers: ReadonlyMap<string, Reconciler>;

  constructor(client: ControllerClient, { runsPods, onInternalError }: WorkloadControllersOptions) {
    this.#client = client;
    this.#pods = new PodSimulator(client);
    const later = (collection: string) => (key: string, ms: number) =>
      this.#queue.addAfter(`${collection} ${key}`, ms);
    this.#reconcilers = new Map<string, Reconciler>([
      [pods, runsPods ? this.#pods : noNode],
      [claims, new VolumeController(client, { provisions: runsPods })],
      [replicaSets, new ReplicaSetController(client, later(replicaSets))],
      [deployments, new DeploymentController(client, later(deployments))],
      [jobs, new JobController(client, later(jobs))],
      [statefulSets, new StatefulSetController(client, later(statefulSets))],
      [daemonSets, new DaemonSetController(client, later(daemonSets))],
      [cronJobs, new CronJobController(client, later(cronJobs))],
      [services, new EndpointSliceController(client)],
    ]);
    const reconcile = (key: string) => this.#reconcile(key);
    this.#queue = new ReconcileQueue({ clock: client.clock, reconcile, onInternalError });
  }

  /** Subscribes to the store; returns the unsubscribe function. */
  start(): () => void {
    const unsubscribe = this.#client.subscribe((event) => this.#onEvent(event));
    return () => {
      unsubscribe();
      this.#queue.stop();
    };
  }

  /** Sets the outcome of pods with these labels. */
  setPodOutcome(labels: Readonly<Record<string, string>>, outcome: PodOutcome): void {
    this.#pods.setOutcome(labels, outcome);
    this.#queueNamespace(pods, '');
  }

  /** Resolves when no key is queued to run now. */
  untilIdle(): Promise<void> {
    return this.#queue.untilIdle();
  }

  #onEvent({ collection, last }: StoreEvent): void {
    for (const dependent of namespaceDependents[collection] ?? [])
      this.#queueNamespace(dependent, last.namespace);
    if (!this.#reconcilers.has(collection)) return;
    this.#queue.add(`${collection} ${last.key}`);
    const references = listField(objectField(last.object, 'metadata') ?? {}, 'ownerReferences');
    for (const owner of references.filter(isJsonObject)) {
      const owning = owners[stringField(owner, 'kind') ?? ''];
      const name = stringField(owner, 'name') ?? '';
      if (owning !== undefined) this.#queue.add(`${owning} ${storeKey(last.namespace, name)}`);
    }
  }

  /** Queues all objects of a collection in a namespace; in all namespaces when it is empty. */
  #queueNamespace(collection: string, namespace: string): void {
    for (const dependent of this.#client.list(collection))
      if (namespace === '' || dependent.namespace === namespace)
        this.#queue.add(`${collection} ${dependent.key}`);
  }

  #reconcile(entry: string): void {
    const space = entry.indexOf(' ');
    this.#reconcilers.get(entry.slice(0, space))?.reconcile(entry.slice(space + 1));
  }
}
