import { isJsonObject } from '../../util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { type StoreEvent, storeKey } from '../store/index.ts';
import type { ControllerWorld } from './controller-world.ts';
import { DeploymentController, deployments } from './deployment-controller.ts';
import { JobController, jobs } from './job-controller.ts';
import { PodSimulator, pods } from './pod-simulator.ts';
import { ReplicaSetController, replicaSets } from './replica-set-controller.ts';
import { WorkLoop } from './work-loop.ts';

interface Reconciler {
  reconcile(key: string): void;
}

/** Collections of owners, by their kind. */
const owners: Readonly<Record<string, string>> = {
  Deployment: deployments,
  ReplicaSet: replicaSets,
  Job: jobs,
};

/** Simulates what runs workloads: each object is looked at again when it, or what it controls, changes. */
export class WorkloadControllers {
  readonly #world: ControllerWorld;
  readonly #loop: WorkLoop;
  readonly #reconcilers: ReadonlyMap<string, Reconciler>;

  constructor(world: ControllerWorld, onFailure: (error: unknown) => void) {
    this.#world = world;
    this.#reconcilers = new Map<string, Reconciler>([
      [pods, new PodSimulator(world)],
      [replicaSets, new ReplicaSetController(world)],
      [deployments, new DeploymentController(world)],
      [jobs, new JobController(world)],
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
    if (!this.#reconcilers.has(collection)) return;
    this.#loop.add(`${collection} ${last.key}`);
    const references = listField(objectField(last.object, 'metadata') ?? {}, 'ownerReferences');
    for (const owner of references.filter(isJsonObject)) {
      const owning = owners[stringField(owner, 'kind') ?? ''];
      const name = stringField(owner, 'name') ?? '';
      if (owning !== undefined) this.#loop.add(`${owning} ${storeKey(last.namespace, name)}`);
    }
  }

  #reconcile(entry: string): void {
    const space = entry.indexOf(' ');
    this.#reconcilers.get(entry.slice(0, space))?.reconcile(entry.slice(space + 1));
  }
}
