import type { JsonObject } from '#util/json.ts';
import { objectField, stringField } from '../json-fields.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { type ControllerClient, numberOf, partOf } from './controller-client.ts';
import type { RequeueAfter } from './deployment-status.ts';
import {
  adoptAndRelease,
  availableAtMs,
  controlledObjects,
  isReady,
  phaseOf,
  podOf,
} from './owned-objects.ts';
import { isTerminating } from './owner-index.ts';
import { PodCreator } from './pod-creator.ts';
import { pods } from './pod-simulator.ts';

export const replicaSets = 'apps/replicasets';
const component = 'replicaset-controller';

/** Runs the desired number of pods of a template. */
export class ReplicaSetController {
  readonly #client: ControllerClient;
  readonly #requeueAfter: RequeueAfter;
  readonly #pods: PodCreator;

  constructor(client: ControllerClient, requeueAfter: RequeueAfter) {
    this.#client = client;
    this.#pods = new PodCreator({ client, component, requeueAfter });
    this.#requeueAfter = requeueAfter;
  }

  reconcile(key: string): void {
    const place = { collection: replicaSets, key };
    const set = this.#client.find(place);
    if (set === undefined || isTerminating(set)) return;
    adoptAndRelease(this.#client, pods, set);
    const spec = partOf(set, 'spec');
    const template = objectField(spec, 'template') ?? {};
    const desired = numberOf(spec, 'replicas', 1);
    const active = controlledObjects(this.#client, pods, set).filter(isActive);
    for (let count = active.length; count < desired; count++) {
      const pod = this.#pods.create(set, podOf(set, template));
      if (pod === undefined) break;
      this.#record(set, 'SuccessfulCreate', ['Created', pod]);
    }
    for (const pod of podsToDelete(active, active.length - desired)) {
      this.#client.delete({ collection: pods, key: pod.key });
      this.#record(set, 'SuccessfulDelete', ['Deleted', pod.name]);
    }
    this.#client.writeStatus(place, this.#status(set));
  }

  #record(set: StoredObject, reason: string, [done, pod]: readonly [string, string]): void {
    this.#client.recordEvent(set, { component, reason, message: `${done} pod: ${pod}` });
  }

  /** The number of pods that have been ready for long enough; schedules a reconcile for the next one. */
  #available({ object, key }: StoredObject, active: readonly StoredObject[]): number {
    const minReadyMs = numberOf(objectField(object, 'spec') ?? {}, 'minReadySeconds', 0) * 1_000;
    const nowMs = this.#client.clock.nowMs();
    const times = active.map((pod) => availableAtMs(pod, minReadyMs));
    const later = times.filter((time) => time > nowMs && Number.isFinite(time));
    if (later.length > 0) this.#requeueAfter(key, Math.min(...later) - nowMs);
    return times.filter((time) => time <= nowMs).length;
  }

  #status(set: StoredObject): JsonObject {
    const owned = controlledObjects(this.#client, pods, set);
    const active = owned.filter(isActive);
    const ready = active.filter(isReady).length;
    const generation = numberOf(partOf(set, 'metadata'), 'generation', 1);
    return {
      replicas: active.length,
      fullyLabeledReplicas: active.length,
      readyReplicas: ready,
      availableReplicas: this.#available(set, active),
      terminatingReplicas: owned.filter(isTerminating).length,
      observedGeneration: generation,
    };
  }
}

function isActive(pod: StoredObject): boolean {
  return !isTerminating(pod) && !['Succeeded', 'Failed'].includes(phaseOf(pod));
}

/** The pods to delete: those that are not ready first, then the youngest. */
function podsToDelete(active: readonly StoredObject[], count: number): readonly StoredObject[] {
  const creationTime = (pod: StoredObject) =>
    stringField(partOf(pod, 'metadata'), 'creationTimestamp') ?? '';
  return [...active]
    .sort(
      (a, b) =>
        Number(isReady(a)) - Number(isReady(b)) || (creationTime(a) < creationTime(b) ? 1 : -1),
    )
    .slice(0, Math.max(count, 0));
}
