import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { type StoredObject, storeKey } from '../store/index.ts';
import { type ControllerWorld, numberOf, partOf } from './controller-world.ts';
import { controlledBy, isReady, podOf } from './owned-objects.ts';
import { isTerminating } from './owner-index.ts';
import { pods } from './pod-simulator.ts';
import { noteRevision, type Revision, revisionLabel } from './revisions.ts';
import { claims } from './volume-controller.ts';

export const statefulSets = 'apps/statefulsets';

/** Runs numbered pods one after the other, each with the claims that are its own. */
export class StatefulSetController {
  readonly #world: ControllerWorld;

  constructor(world: ControllerWorld) {
    this.#world = world;
  }

  reconcile(key: string): void {
    const place = { collection: statefulSets, key };
    const set = this.#world.find(place);
    if (set === undefined || isTerminating(set)) return;
    const spec = partOf(set, 'spec');
    const template = objectField(spec, 'template') ?? {};
    const revision = noteRevision(this.#world, set, template);
    this.#scale(set, revision);
    this.#update(set, revision);
    this.#world.writeStatus(place, this.#status(set, revision));
  }

  /** The next pod comes when those before it are ready, and the last goes first. */
  #scale(set: StoredObject, revision: Revision): void {
    const spec = partOf(set, 'spec');
    const isParallel = spec.podManagementPolicy === 'Parallel';
    const first = numberOf(objectField(spec, 'ordinals') ?? {}, 'start', 0);
    const wanted = numberOf(spec, 'replicas', 1);
    const owned = this.#pods(set);
    for (let ordinal = first; ordinal < first + wanted; ordinal++) {
      const pod = owned.find(({ name }) => name === `${set.name}-${ordinal}`);
      if (pod === undefined) this.#create(set, ordinal, revision);
      if (!isParallel && (pod === undefined || !isReady(pod))) return;
    }
    const surplus = owned
      .filter((pod) => ordinalOf(pod) >= first + wanted || ordinalOf(pod) < first)
      .sort((a, b) => ordinalOf(b) - ordinalOf(a));
    for (const pod of isParallel ? surplus : surplus.slice(0, 1))
      this.#world.delete({ collection: pods, key: pod.key });
  }

  #create(set: StoredObject, ordinal: number, { hash }: Revision): void {
    const spec = partOf(set, 'spec');
    const name = `${set.name}-${ordinal}`;
    const volumes = listField(spec, 'volumeClaimTemplates')
      .filter(isJsonObject)
      .map((template) => this.#claim(set, template, name));
    const pod = podOf(set, objectField(spec, 'template') ?? {});
    const { generateName: _, ...metadata } = objectField(pod, 'metadata') ?? {};
    const podSpec = objectField(pod, 'spec') ?? {};
    const own = listField(podSpec, 'volumes').filter(
      (volume) => isJsonObject(volume) && !volumes.some((claim) => claim.name === volume.name),
    );
    this.#world.create(pods, set.namespace, {
      metadata: {
        ...metadata,
        name,
        labels: {
          ...objectField(metadata, 'labels'),
          'apps.kubernetes.io/pod-index': String(ordinal),
          [revisionLabel]: `${set.name}-${hash}`,
          'statefulset.kubernetes.io/pod-name': name,
        },
      },
      spec: {
        ...podSpec,
        hostname: name,
        ...(spec.serviceName === undefined ? {} : { subdomain: spec.serviceName }),
        ...(volumes.length + own.length === 0 ? {} : { volumes: [...volumes, ...own] }),
      },
    });
    this.#world.record(set, {
      component: 'statefulset-controller',
      reason: 'SuccessfulCreate',
      message: `create Pod ${name} in StatefulSet ${set.name} successful`,
    });
  }

  /** Makes a pod's claim, if it is not there from an earlier life, and returns the volume that names it. */
  #claim(set: StoredObject, template: JsonObject, pod: string): JsonObject {
    const metadata = objectField(template, 'metadata') ?? {};
    const volume = stringField(metadata, 'name') ?? '';
    const name = `${volume}-${pod}`;
    const place = { collection: claims, key: storeKey(set.namespace, name) };
    if (this.#world.find(place) === undefined) {
      const selector = objectField(partOf(set, 'spec'), 'selector') ?? {};
      const labels = {
        ...objectField(metadata, 'labels'),
        ...objectField(selector, 'matchLabels'),
      };
      const spec = objectField(template, 'spec') ?? {};
      this.#world.create(claims, set.namespace, { metadata: { name, labels }, spec });
    }
    return { name: volume, persistentVolumeClaim: { claimName: name } };
  }

  /** Replaces one pod of an older template at a time, the last one first. */
  #update(set: StoredObject, { hash }: Revision): void {
    const strategy = objectField(partOf(set, 'spec'), 'updateStrategy') ?? {};
    const owned = this.#pods(set);
    const wanted = numberOf(partOf(set, 'spec'), 'replicas', 1);
    if (strategy.type !== 'RollingUpdate' || owned.length !== wanted || !owned.every(isReady))
      return;
    const partition = numberOf(objectField(strategy, 'rollingUpdate') ?? {}, 'partition', 0);
    const [next] = owned
      .filter((pod) => ordinalOf(pod) >= partition && !hasRevision(pod, set, hash))
      .sort((a, b) => ordinalOf(b) - ordinalOf(a));
    if (next !== undefined) this.#world.delete({ collection: pods, key: next.key });
  }

  #pods(set: StoredObject): readonly StoredObject[] {
    return controlledBy(this.#world, pods, set);
  }

  #status(set: StoredObject, revision: Revision): JsonObject {
    const owned = this.#pods(set).filter((pod) => !isTerminating(pod));
    const ready = owned.filter(isReady).length;
    const updated = owned.filter((pod) => hasRevision(pod, set, revision.hash)).length;
    const isComplete = updated === numberOf(partOf(set, 'spec'), 'replicas', 1);
    const old = stringField(partOf(set, 'status'), 'currentRevision');
    const current = isComplete || old === undefined ? revision.name : old;
    return {
      observedGeneration: numberOf(partOf(set, 'metadata'), 'generation', 1),
      replicas: owned.length,
      readyReplicas: ready,
      availableReplicas: ready,
      currentReplicas: current === revision.name ? updated : owned.length - updated,
      updatedReplicas: updated,
      currentRevision: current,
      updateRevision: revision.name,
      collisionCount: 0,
    };
  }
}

function ordinalOf({ name }: StoredObject): number {
  return Number(name.slice(name.lastIndexOf('-') + 1));
}

function hasRevision(pod: StoredObject, set: StoredObject, hash: string): boolean {
  const labels = objectField(partOf(pod, 'metadata'), 'labels') ?? {};
  return labels[revisionLabel] === `${set.name}-${hash}`;
}
