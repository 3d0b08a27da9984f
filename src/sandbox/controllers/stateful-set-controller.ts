import { isJsonObject, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { type StoredObject, storeKey } from '../store/stored-object.ts';
import {
  type ControllerClient,
  type ControllerEvent,
  numberOf,
  partOf,
} from './controller-client.ts';
import type { RequeueAfter } from './deployment-status.ts';
import { adoptAndRelease, controlledObjects, isFinished, isReady, podOf } from './owned-objects.ts';
import { isTerminating } from './owner-index.ts';
import { PodCreator } from './pod-creator.ts';
import { pods } from './pod-simulator.ts';
import { ensureRevision, type Revision, revisionLabel, templateOfRevision } from './revisions.ts';
import { claims } from './volume-controller.ts';

export const statefulSets = 'apps/statefulsets';
const component = 'statefulset-controller';

/** Runs numbered pods one after the other, each with its own claims. */
export class StatefulSetController {
  readonly #client: ControllerClient;
  readonly #pods: PodCreator;

  constructor(client: ControllerClient, requeueAfter: RequeueAfter) {
    this.#client = client;
    this.#pods = new PodCreator({ client, component, requeueAfter });
  }

  reconcile(key: string): void {
    const place = { collection: statefulSets, key };
    const set = this.#client.find(place);
    if (set === undefined || isTerminating(set)) return;
    adoptAndRelease(this.#client, pods, set);
    const revision = ensureRevision(this.#client, set, 'controller.kubernetes.io/hash');
    if (this.#scale(set, revision)) this.#update(set, revision);
    this.#client.writeStatus(place, this.#status(set, revision));
  }

  /** Creates the next pod when those before it are ready, and deletes the last one first. Returns whether the set is complete. */
  #scale(set: StoredObject, revision: Revision): boolean {
    const spec = partOf(set, 'spec');
    const isParallel = spec.podManagementPolicy === 'Parallel';
    const first = firstOrdinal(set);
    const desired = numberOf(spec, 'replicas', 1);
    const owned = this.#podsOf(set);
    let isComplete = true;
    for (let ordinal = first; ordinal < first + desired; ordinal++) {
      const pod = owned.find(({ name }) => name === `${set.name}-${ordinal}`);
      if (pod === undefined) this.#create(set, ordinal, revision);
      else if (isFinished(pod)) this.#recreateFailed(set, pod);
      const isRunning = pod !== undefined && isReady(pod) && !isTerminating(pod);
      if (!isRunning && !isParallel) return false;
      isComplete &&= isRunning;
    }
    const surplus = owned
      .filter((pod) => ordinalOf(pod) >= first + desired || ordinalOf(pod) < first)
      .sort((a, b) => ordinalOf(b) - ordinalOf(a));
    for (const pod of isParallel ? surplus : surplus.slice(0, 1)) this.#delete(set, pod);
    return isComplete && surplus.length === 0;
  }

  #recreateFailed(set: StoredObject, pod: StoredObject): void {
    if (isTerminating(pod)) return;
    this.#record(set, {
      type: 'Warning',
      reason: 'RecreatingFailedPod',
      message: `StatefulSet ${set.namespace}/${set.name} is recreating failed Pod ${pod.name}`,
    });
    this.#delete(set, pod);
  }

  #delete(set: StoredObject, pod: StoredObject): void {
    if (isTerminating(pod)) return;
    this.#client.delete({ collection: pods, key: pod.key });
    this.#record(set, {
      reason: 'SuccessfulDelete',
      message: `Delete Pod ${pod.name} in StatefulSet ${set.name} successful`,
    });
  }

  #record(set: StoredObject, event: Omit<ControllerEvent, 'component'>): void {
    this.#client.recordEvent(set, { component, ...event });
  }

  #create(set: StoredObject, ordinal: number, update: Revision): void {
    const spec = partOf(set, 'spec');
    const { template, name: revision } = this.#revisionFor(set, ordinal, update);
    const name = `${set.name}-${ordinal}`;
    const volumes = listField(spec, 'volumeClaimTemplates')
      .filter(isJsonObject)
      .map((template) => this.#claim(set, template, name));
    const pod = podOf(set, template);
    const metadata = objectField(pod, 'metadata') ?? {};
    const podSpec = objectField(pod, 'spec') ?? {};
    const own = listField(podSpec, 'volumes').filter(
      (volume) => isJsonObject(volume) && !volumes.some((claim) => claim.name === volume.name),
    );
    const manifest = {
      metadata: {
        ...metadata,
        name,
        labels: {
          ...objectField(metadata, 'labels'),
          'apps.kubernetes.io/pod-index': String(ordinal),
          [revisionLabel]: revision,
          'statefulset.kubernetes.io/pod-name': name,
        },
      },
      spec: {
        ...podSpec,
        hostname: name,
        ...(spec.serviceName === undefined ? {} : { subdomain: spec.serviceName }),
        ...(volumes.length + own.length === 0 ? {} : { volumes: [...volumes, ...own] }),
      },
    };
    const what = `Create Pod ${name} in StatefulSet ${set.name}`;
    if (this.#pods.create(set, manifest, `${what} failed error`) === undefined) return;
    this.#record(set, {
      reason: 'SuccessfulCreate',
      message: `${what} successful`,
    });
  }

  /** Creates a pod's claim, unless it exists from an earlier pod, and returns the volume that refers to it. */
  #claim(set: StoredObject, template: JsonObject, pod: string): JsonObject {
    const metadata = objectField(template, 'metadata') ?? {};
    const volume = stringField(metadata, 'name') ?? '';
    const name = `${volume}-${pod}`;
    const place = { collection: claims, key: storeKey(set.namespace, name) };
    if (this.#client.find(place) === undefined) {
      const selector = objectField(partOf(set, 'spec'), 'selector') ?? {};
      const labels = {
        ...objectField(metadata, 'labels'),
        ...objectField(selector, 'matchLabels'),
      };
      const spec = objectField(template, 'spec') ?? {};
      this.#client.create(claims, set.namespace, { metadata: { name, labels }, spec });
    }
    return { name: volume, persistentVolumeClaim: { claimName: name } };
  }

  /** A pod that is recreated during an update keeps the current template of its ordinal. */
  #revisionFor(set: StoredObject, ordinal: number, update: Revision) {
    const newest = {
      name: update.name,
      template: objectField(partOf(set, 'spec'), 'template') ?? {},
    };
    const status = partOf(set, 'status');
    const current = stringField(status, 'currentRevision') ?? update.name;
    if (current === update.name || !isRolling(set)) return newest;
    const keptCount = partitionOf(set) || numberOf(status, 'currentReplicas', 0);
    const template = templateOfRevision(this.#client, set, current);
    if (ordinal >= firstOrdinal(set) + keptCount || template === undefined) return newest;
    return { name: current, template };
  }

  /** Replaces pods of an older template, the last one first, each when those after it are ready. */
  #update(set: StoredObject, { hash }: Revision): void {
    if (!isRolling(set)) return;
    const least = firstOrdinal(set) + partitionOf(set);
    const inTurn = this.#podsOf(set)
      .filter((pod) => ordinalOf(pod) >= least)
      .sort((a, b) => ordinalOf(b) - ordinalOf(a));
    const next = inTurn.find((pod) => !hasRevision(pod, set, hash));
    if (next !== undefined) this.#delete(set, next);
  }

  #podsOf(set: StoredObject): readonly StoredObject[] {
    return controlledObjects(this.#client, pods, set);
  }

  #status(set: StoredObject, revision: Revision): JsonObject {
    const owned = this.#podsOf(set).filter((pod) => !isTerminating(pod));
    const ready = owned.filter(isReady).length;
    const updated = owned.filter((pod) => hasRevision(pod, set, revision.hash)).length;
    const desired = numberOf(partOf(set, 'spec'), 'replicas', 1);
    const isComplete = isRolling(set) && updated === desired && ready === desired;
    const old = stringField(partOf(set, 'status'), 'currentRevision');
    const current = isComplete || old === undefined ? revision.name : old;
    const currentCount = owned.filter((pod) => hasRevision(pod, set, hashOf(set, current))).length;
    return {
      observedGeneration: numberOf(partOf(set, 'metadata'), 'generation', 1),
      replicas: owned.length,
      readyReplicas: ready,
      availableReplicas: ready,
      currentReplicas: currentCount,
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

function firstOrdinal(set: StoredObject): number {
  return numberOf(objectField(partOf(set, 'spec'), 'ordinals') ?? {}, 'start', 0);
}

/** Returns whether the update strategy replaces pods automatically. */
function isRolling(set: StoredObject): boolean {
  return objectField(partOf(set, 'spec'), 'updateStrategy')?.type === 'RollingUpdate';
}

/** The number of pods that keep their template. */
function partitionOf(set: StoredObject): number {
  const strategy = objectField(partOf(set, 'spec'), 'updateStrategy') ?? {};
  return numberOf(objectField(strategy, 'rollingUpdate') ?? {}, 'partition', 0);
}

function hashOf(set: StoredObject, revision: string): string {
  return revision.slice(set.name.length + 1);
}

function hasRevision(pod: StoredObject, set: StoredObject, hash: string): boolean {
  const labels = objectField(partOf(pod, 'metadata'), 'labels') ?? {};
  return labels[revisionLabel] === `${set.name}-${hash}`;
}
