import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { fieldOf, listField, objectField, stringField } from '../json-fields.ts';
import type { StoredObject } from '../store/index.ts';
import { type ControllerWorld, numberOf, partOf } from './controller-world.ts';
import { controlledBy, controllerReference } from './owned-objects.ts';
import { isTerminating } from './owner-index.ts';
import { replicaSets } from './replica-set-controller.ts';
import { templateHash } from './template-hash.ts';

export const deployments = 'apps/deployments';

const hashLabel = 'pod-template-hash';
const revisionAnnotation = 'deployment.kubernetes.io/revision';

/** Rolls out templates: a ReplicaSet for each, the newest one growing as the others shrink. */
export class DeploymentController {
  readonly #world: ControllerWorld;

  constructor(world: ControllerWorld) {
    this.#world = world;
  }

  reconcile(key: string): void {
    const place = { collection: deployments, key };
    const deployment = this.#world.find(place);
    if (deployment === undefined || isTerminating(deployment)) return;
    const sets = controlledBy(this.#world, replicaSets, deployment);
    const newest = sets.find((set) => hasTemplateOf(set, deployment));
    if (newest === undefined) this.#createSet(deployment, sets);
    else {
      this.#writeRevision(deployment, newest, sets);
      const others = sets.filter((set) => set !== newest);
      if (partOf(deployment, 'spec').paused !== true) this.#scale(deployment, newest, others);
      this.#prune(deployment, others);
    }
    this.#world.writeStatus(place, this.#status(deployment));
  }

  #createSet(deployment: StoredObject, sets: readonly StoredObject[]): void {
    const spec = partOf(deployment, 'spec');
    const template = objectField(spec, 'template') ?? {};
    const hash = templateHash(template);
    const metadata = objectField(template, 'metadata') ?? {};
    const labels = { ...objectField(metadata, 'labels'), [hashLabel]: hash };
    const selector = objectField(spec, 'selector') ?? {};
    const matchLabels = { ...objectField(selector, 'matchLabels'), [hashLabel]: hash };
    const revision = Math.max(0, ...sets.map(revisionOf)) + 1;
    const limit = wantedReplicas(deployment) + surgeOf(deployment);
    const room = Math.max(limit - sum(sets, specReplicas), 0);
    const isFirst = sets.every((set) => specReplicas(set) === 0);
    const name = `${deployment.name}-${hash}`;
    const replicas = isFirst
      ? wantedReplicas(deployment)
      : isRecreate(deployment)
        ? 0
        : Math.min(room, wantedReplicas(deployment));
    this.#world.create(replicaSets, deployment.namespace, {
      metadata: {
        name,
        labels,
        annotations: { [revisionAnnotation]: String(revision) },
        ownerReferences: [controllerReference(deployment)],
      },
      spec: {
        replicas,
        selector: { ...selector, matchLabels },
        template: { ...template, metadata: { ...metadata, labels } },
      },
    });
    if (replicas > 0) this.#recordScaling(deployment, name, { from: 0, to: replicas });
  }

  #recordScaling(
    deployment: StoredObject,
    set: string,
    { from, to }: { readonly from: number; readonly to: number },
  ): void {
    this.#world.record(deployment, {
      component: 'deployment-controller',
      reason: 'ScalingReplicaSet',
      message: `Scaled ${to > from ? 'up' : 'down'} replica set ${set} from ${from} to ${to}`,
    });
  }

  /** A template that comes back is the newest revision again. */
  #writeRevision(
    deployment: StoredObject,
    newest: StoredObject,
    sets: readonly StoredObject[],
  ): void {
    const others = Math.max(0, ...sets.filter((set) => set !== newest).map(revisionOf));
    const number = revisionOf(newest) > others ? revisionOf(newest) : others + 1;
    const revision = String(number);
    if (number !== revisionOf(newest))
      this.#world.change({ collection: replicaSets, key: newest.key }, (object) =>
        withRevision(object, revision),
      );
    this.#world.change({ collection: deployments, key: deployment.key }, (object) =>
      withRevision(object, revision),
    );
  }

  /** Shrinks the old as far as enough is available, grows the new as far as there is room. */
  #scale(deployment: StoredObject, newest: StoredObject, others: readonly StoredObject[]): void {
    const wanted = wantedReplicas(deployment);
    const isWaiting = isRecreate(deployment) && sum(others, statusReplicas) > 0;
    const oldReplicas = sum(others, specReplicas);
    const room = wanted + surgeOf(deployment) - oldReplicas;
    this.#resize(deployment, newest, isWaiting ? 0 : Math.max(Math.min(wanted, room), 0));
    const available = sum([newest, ...others], (set) =>
      numberOf(partOf(set, 'status'), 'availableReplicas', 0),
    );
    const least = isRecreate(deployment) ? 0 : wanted - maxUnavailableOf(deployment);
    let surplus = isRecreate(deployment) ? oldReplicas : Math.max(available - least, 0);
    for (const set of others) {
      const cut = Math.min(surplus, specReplicas(set));
      surplus -= cut;
      this.#resize(deployment, set, specReplicas(set) - cut);
    }
  }

  #resize(deployment: StoredObject, set: StoredObject, replicas: number): void {
    const from = specReplicas(set);
    if (from === replicas) return;
    this.#recordScaling(deployment, set.name, { from, to: replicas });
    this.#world.change({ collection: replicaSets, key: set.key }, (object) => ({
      ...object,
      spec: { ...objectField(object, 'spec'), replicas },
    }));
  }

  /** Keeps as many old ReplicaSets as the Deployment wants to remember. */
  #prune(deployment: StoredObject, others: readonly StoredObject[]): void {
    const limit = numberOf(partOf(deployment, 'spec'), 'revisionHistoryLimit', 10);
    const idle = others
      .filter((set) => specReplicas(set) === 0 && statusReplicas(set) === 0)
      .sort((a, b) => revisionOf(a) - revisionOf(b));
    for (const set of idle.slice(0, Math.max(idle.length - limit, 0)))
      this.#world.delete({ collection: replicaSets, key: set.key });
  }

  #status(deployment: StoredObject): JsonObject {
    const sets = controlledBy(this.#world, replicaSets, deployment);
    const newest = sets.find((set) => hasTemplateOf(set, deployment));
    const count = (name: string) => sum(sets, (set) => numberOf(partOf(set, 'status'), name, 0));
    const wanted = wantedReplicas(deployment);
    const available = count('availableReplicas');
    const updated = newest === undefined ? 0 : statusReplicas(newest);
    const replicas = count('replicas');
    const isComplete = updated === wanted && replicas === wanted && available === wanted;
    return {
      observedGeneration: numberOf(partOf(deployment, 'metadata'), 'generation', 1),
      replicas,
      updatedReplicas: updated,
      readyReplicas: count('readyReplicas'),
      availableReplicas: available,
      terminatingReplicas: count('terminatingReplicas'),
      unavailableReplicas: Math.max(wanted - available, 0),
      conditions: this.#conditions(deployment, newest, isComplete, available),
    };
  }

  #conditions(
    deployment: StoredObject,
    newest: StoredObject | undefined,
    isComplete: boolean,
    available: number,
  ): readonly JsonObject[] {
    const isAvailable = available >= wantedReplicas(deployment) - maxUnavailableOf(deployment);
    const set = newest === undefined ? '' : `ReplicaSet "${newest.name}" `;
    const old = listField(partOf(deployment, 'status'), 'conditions').filter(isJsonObject);
    return [
      this.#condition(old, {
        type: 'Available',
        status: isAvailable ? 'True' : 'False',
        reason: isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
        message: isAvailable
          ? 'Deployment has minimum availability.'
          : 'Deployment does not have minimum availability.',
      }),
      this.#condition(old, {
        type: 'Progressing',
        status: 'True',
        reason: isComplete ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated',
        message: isComplete ? `${set}has successfully progressed.` : `${set}is progressing.`,
      }),
      // What somebody else says stays.
      ...old.filter(({ type }) => type !== 'Available' && type !== 'Progressing'),
    ];
  }

  /** The times of a condition change with what it says. */
  #condition(old: readonly JsonObject[], said: JsonObject): JsonObject {
    const before = old.find(({ type }) => type === said.type);
    const { lastUpdateTime, lastTransitionTime, ...rest } = before ?? {};
    if (before !== undefined && deepEqual(rest, said)) return before;
    const now = this.#world.now();
    const isSameStatus = before?.status === said.status;
    return {
      ...said,
      lastUpdateTime: now,
      lastTransitionTime: isSameStatus ? (lastTransitionTime ?? now) : now,
    };
  }
}

function withRevision(object: JsonObject, revision: string): JsonObject {
  const metadata = objectField(object, 'metadata') ?? {};
  const annotations = { ...objectField(metadata, 'annotations'), [revisionAnnotation]: revision };
  return { ...object, metadata: { ...metadata, annotations } };
}

function sum(sets: readonly StoredObject[], count: (set: StoredObject) => number): number {
  return sets.reduce((total, set) => total + count(set), 0);
}

function wantedReplicas(deployment: StoredObject): number {
  return numberOf(partOf(deployment, 'spec'), 'replicas', 1);
}

function specReplicas(set: StoredObject): number {
  return numberOf(partOf(set, 'spec'), 'replicas', 1);
}

function statusReplicas(set: StoredObject): number {
  return numberOf(partOf(set, 'status'), 'replicas', 0);
}

function isRecreate(deployment: StoredObject): boolean {
  return objectField(partOf(deployment, 'spec'), 'strategy')?.type === 'Recreate';
}

function surgeOf(deployment: StoredObject): number {
  return shareOf(deployment, 'maxSurge', Math.ceil);
}

/** At least one pod may be missing when none may be too many: else nothing could ever move. */
function maxUnavailableOf(deployment: StoredObject): number {
  const unavailable = shareOf(deployment, 'maxUnavailable', Math.floor);
  return unavailable === 0 && surgeOf(deployment) === 0 ? 1 : unavailable;
}

function shareOf(
  deployment: StoredObject,
  name: 'maxSurge' | 'maxUnavailable',
  round: (value: number) => number,
): number {
  const strategy = objectField(partOf(deployment, 'spec'), 'strategy') ?? {};
  const value: Json = fieldOf(objectField(strategy, 'rollingUpdate') ?? {}, name) ?? '25%';
  if (typeof value === 'number') return value;
  return round((Number.parseInt(String(value), 10) / 100) * wantedReplicas(deployment));
}

function revisionOf(set: StoredObject): number {
  const annotations = objectField(partOf(set, 'metadata'), 'annotations') ?? {};
  return Number(stringField(annotations, revisionAnnotation) ?? 0);
}

/** Is this the ReplicaSet of the Deployment's template? Its own differs by the hash label. */
function hasTemplateOf(set: StoredObject, deployment: StoredObject): boolean {
  const template = objectField(partOf(deployment, 'spec'), 'template') ?? {};
  const labels = objectField(partOf(set, 'metadata'), 'labels') ?? {};
  return labels[hashLabel] === templateHash(template);
}
