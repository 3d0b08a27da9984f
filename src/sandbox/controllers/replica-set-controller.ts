import type { JsonObject } from '../../util/json.ts';
import { objectField, stringField } from '../json-fields.ts';
import type { StoredObject } from '../store/index.ts';
import { adopt } from './adoption.ts';
import { type ControllerWorld, numberOf, partOf } from './controller-world.ts';
import type { LookAgain } from './look-again.ts';
import { availableAtMs, controlledBy, isReady, phaseOf, podOf } from './owned-objects.ts';
import { isTerminating } from './owner-index.ts';
import { pods } from './pod-simulator.ts';

export const replicaSets = 'apps/replicasets';

/** Keeps as many pods of a template as are wanted. */
export class ReplicaSetController {
  readonly #world: ControllerWorld;
  readonly #lookAgain: LookAgain;

  constructor(world: ControllerWorld, lookAgain: LookAgain) {
    this.#world = world;
    this.#lookAgain = lookAgain;
  }

  reconcile(key: string): void {
    const place = { collection: replicaSets, key };
    const set = this.#world.find(place);
    if (set === undefined || isTerminating(set)) return;
    adopt(this.#world, pods, set);
    const spec = partOf(set, 'spec');
    const template = objectField(spec, 'template') ?? {};
    const wanted = numberOf(spec, 'replicas', 1);
    const active = controlledBy(this.#world, pods, set).filter(isActive);
    for (let count = active.length; count < wanted; count++)
      this.#record(set, 'SuccessfulCreate', [
        'Created',
        this.#world.create(pods, set.namespace, podOf(set, template)),
      ]);
    for (const pod of surplus(active, active.length - wanted)) {
      this.#world.delete({ collection: pods, key: pod.key });
      this.#record(set, 'SuccessfulDelete', ['Deleted', pod.name]);
    }
    this.#world.writeStatus(place, this.#status(set));
  }

  #record(set: StoredObject, reason: string, [done, pod]: readonly [string, string]): void {
    const component = 'replicaset-controller';
    this.#world.record(set, { component, reason, message: `${done} pod: ${pod}` });
  }

  /** How many have been ready for long enough; of the others the next one is awaited. */
  #available({ object, key }: StoredObject, active: readonly StoredObject[]): number {
    const minReadyMs = numberOf(objectField(object, 'spec') ?? {}, 'minReadySeconds', 0) * 1_000;
    const nowMs = this.#world.clock.nowMs();
    const times = active.map((pod) => availableAtMs(pod, minReadyMs));
    const later = times.filter((time) => time > nowMs && Number.isFinite(time));
    if (later.length > 0) this.#lookAgain(key, Math.min(...later) - nowMs);
    return times.filter((time) => time <= nowMs).length;
  }

  #status(set: StoredObject): JsonObject {
    const owned = controlledBy(this.#world, pods, set);
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

/** Those that are not ready go first, then the youngest. */
function surplus(active: readonly StoredObject[], count: number): readonly StoredObject[] {
  const born = (pod: StoredObject) =>
    stringField(partOf(pod, 'metadata'), 'creationTimestamp') ?? '';
  return [...active]
    .sort((a, b) => Number(isReady(a)) - Number(isReady(b)) || (born(a) < born(b) ? 1 : -1))
    .slice(0, Math.max(count, 0));
}
