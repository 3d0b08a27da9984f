import { objectField } from '../json-fields.ts';
import { StatusError } from '../status/status-error.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { type ControllerClient, numberOf, type ObjectKey, partOf } from './controller-client.ts';
import {
  active,
  distributedSizes,
  isBeingScaled,
  newestAnnotations,
  newestSize,
  type Rollout,
  revisionAnnotation,
  revisionOf,
  type Sizes,
  scaledDownSizes,
  sizeAnnotations,
  withAnnotations,
} from './deployment-sizes.ts';
import {
  byAge,
  deadlineSeconds,
  hashLabel,
  hasTemplateOf,
  isPaused,
  isRecreate,
  specReplicas,
  statusCount,
  templateOf,
} from './deployment-spec.ts';
import {
  conditionOf,
  conditionsOf,
  isComplete,
  type NewCondition,
  progressDeadlineMs,
  type RequeueAfter,
  statusOf,
  withCondition,
  withProgressCondition,
} from './deployment-status.ts';
import {
  adoptAndRelease,
  controlledObjects,
  controllerReference,
  phaseOf,
} from './owned-objects.ts';
import { isTerminating } from './owner-index.ts';
import { pods } from './pod-simulator.ts';
import { replicaSets } from './replica-set-controller.ts';
import { templateHash } from './revisions.ts';

export const deployments = 'apps/deployments';

/** Delay of the next attempt after a rejected ReplicaSet. */
const rejectedMs = 60_000;
/** Of a DNS subdomain. */
const maxNameLength = 253;

/** As servers of 1.36 do: a name that is too long is cut. Those of 1.33 reject such a ReplicaSet. */
function replicaSetName(deployment: string, hash: string): string {
  return `${deployment.slice(0, maxNameLength - hash.length - 1)}-${hash}`;
}

/** Rolls out templates: creates a ReplicaSet for each, scales the newest one up and the old ones down. */
export class DeploymentController {
  readonly #client: ControllerClient;
  readonly #requeueAfter: RequeueAfter;

  constructor(client: ControllerClient, requeueAfter: RequeueAfter) {
    this.#client = client;
    this.#requeueAfter = requeueAfter;
  }

  reconcile(key: string): void {
    const place = { collection: deployments, key };
    const deployment = this.#client.find(place);
    if (deployment === undefined || isTerminating(deployment)) return;
    adoptAndRelease(this.#client, replicaSets, deployment);
    this.#writePauseCondition(place, deployment);
    const rollout = this.#rollout(deployment);
    if (isPaused(deployment) || isBeingScaled(rollout)) this.#distributeReplicas(place, rollout);
    else if (isRecreate(deployment)) this.#recreate(place, rollout);
    else this.#roll(place, rollout);
  }

  /** The current state: each write changes it. */
  #rollout({ key }: Pick<StoredObject, 'key'>): Rollout {
    const deployment = this.#client.find({ collection: deployments, key });
    if (deployment === undefined) throw new Error(`Expected the Deployment "${key}"`);
    const sets = byAge(controlledObjects(this.#client, replicaSets, deployment));
    const newest = sets.find((set) => hasTemplateOf(set, deployment));
    return { deployment, newest, old: sets.filter((set) => set !== newest) };
  }

  #writePauseCondition(place: ObjectKey, deployment: StoredObject): void {
    if (deadlineSeconds(deployment) === undefined) return;
    const progress = conditionOf(conditionsOf(partOf(deployment, 'status')), 'Progressing');
    const wasPaused = progress?.reason === 'DeploymentPaused';
    if (progress?.reason === 'ProgressDeadlineExceeded' || wasPaused === isPaused(deployment))
      return;
    const [reason, message] = wasPaused
      ? ['DeploymentResumed', 'Deployment is resumed']
      : ['DeploymentPaused', 'Deployment is paused'];
    this.#writeCondition(place, { type: 'Progressing', status: 'Unknown', reason, message });
  }

  /** The Deployment is paused or being scaled: sizes change, templates do not. */
  #distributeReplicas(place: ObjectKey, before: Rollout): void {
    this.#syncNewest(place, before);
    const rollout = this.#rollout(before.deployment);
    this.#resize(rollout.deployment, distributedSizes(rollout));
    if (isPaused(rollout.deployment)) this.#prune(rollout);
    const after = this.#rollout(rollout.deployment);
    this.#client.writeStatus(place, statusOf(after, this.#client.now()));
  }

  #roll(place: ObjectKey, before: Rollout): void {
    if (!this.#syncNewest(place, before, true)) return;
    const rollout = this.#rollout(before.deployment);
    const { deployment, newest } = rollout;
    const size = newestSize(rollout);
    if (newest !== undefined && size !== specReplicas(newest))
      this.#resize(deployment, new Map([[newest, size]]));
    else {
      const sizes = scaledDownSizes(rollout);
      this.#resize(deployment, sizes);
      if (sizes.size === 0) this.#pruneIfComplete(rollout);
    }
    this.#writeStatus(place, deployment);
  }

  #recreate(place: ObjectKey, before: Rollout): void {
    this.#syncNewest(place, before);
    const { deployment, old } = this.#rollout(before.deployment);
    const sorted = active(old);
    if (sorted.length > 0) this.#resize(deployment, new Map(sorted.map((set) => [set, 0])));
    else if (!old.some((set) => this.#hasPods(set))) {
      if (!this.#syncNewest(place, this.#rollout(deployment), true)) return;
      const rollout = this.#rollout(deployment);
      if (rollout.newest !== undefined)
        this.#resize(deployment, new Map([[rollout.newest, newestSize(rollout)]]));
      this.#pruneIfComplete(rollout);
    }
    this.#writeStatus(place, deployment);
  }

  #hasPods(set: StoredObject): boolean {
    return controlledObjects(this.#client, pods, set).some(
      (pod) => !['Succeeded', 'Failed'].includes(phaseOf(pod)),
    );
  }

  /**
   * Makes the template's ReplicaSet the newest revision; creates it only when a rollout may begin.
   * @returns false: it was rejected. As on a server, nothing else is done and the status is not written, so that no deadline passes.
   */
  #syncNewest(place: ObjectKey, rollout: Rollout, mayCreate = false): boolean {
    const { deployment, newest, old } = rollout;
    const number = Math.max(0, ...old.map(revisionOf)) + 1;
    if (newest !== undefined) {
      const annotations = newestAnnotations(deployment, newest, number);
      this.#client.update({ collection: replicaSets, key: newest.key }, (object) =>
        withAnnotations(object, annotations),
      );
      this.#writeRevision(place, Math.max(number, revisionOf(newest)));
      const progress = conditionOf(conditionsOf(partOf(deployment, 'status')), 'Progressing');
      if (progress === undefined)
        this.#writeProgress(place, [
          'FoundNewReplicaSet',
          `Found new replica set "${newest.name}"`,
        ]);
    } else if (mayCreate) {
      const name = this.#createSet(place, rollout, number);
      if (name === undefined) return false;
      this.#writeRevision(place, number);
      this.#writeProgress(place, ['NewReplicaSetCreated', `Created new replica set "${name}"`]);
    }
    return true;
  }

  /** Returns the name. Undefined: it was rejected. */
  #createSet(place: ObjectKey, rollout: Rollout, revision: number): string | undefined {
    const { deployment } = rollout;
    const spec = partOf(deployment, 'spec');
    const template = templateOf(deployment);
    const hash = templateHash(template);
    const metadata = objectField(template, 'metadata') ?? {};
    const labels = { ...objectField(metadata, 'labels'), [hashLabel]: hash };
    const selector = objectField(spec, 'selector') ?? {};
    const matchLabels = { ...objectField(selector, 'matchLabels'), [hashLabel]: hash };
    const minReadySeconds = numberOf(spec, 'minReadySeconds', 0);
    const name = replicaSetName(deployment.name, hash);
    const replicas = newestSize(rollout);
    const manifest = {
      metadata: {
        name,
        labels,
        annotations: {
          ...newestAnnotations(deployment, undefined, revision),
          ...sizeAnnotations(deployment),
        },
        ownerReferences: [controllerReference(deployment)],
      },
      spec: {
        replicas,
        ...(minReadySeconds === 0 ? {} : { minReadySeconds }),
        selector: { ...selector, matchLabels },
        template: { ...template, metadata: { ...metadata, labels } },
      },
    };
    try {
      this.#client.create(replicaSets, deployment.namespace, manifest);
    } catch (error) {
      if (!(error instanceof StatusError) || error.reason === 'AlreadyExists') throw error;
      this.#reportRejection(
        place,
        deployment,
        `Failed to create new replica set "${name}": ${error.message}`,
      );
      return undefined;
    }
    if (replicas > 0) this.#recordScaling(deployment, name, { from: 0, to: replicas });
    return name;
  }

  /** As {@link PodCreator} does for a rejected Pod. */
  #reportRejection(place: ObjectKey, deployment: StoredObject, message: string): void {
    const reason = 'ReplicaSetCreateError';
    this.#requeueAfter(place.key, rejectedMs);
    const progress = conditionOf(conditionsOf(partOf(deployment, 'status')), 'Progressing');
    if (progress?.message === message) return;
    this.#client.recordEvent(deployment, {
      component: 'deployment-controller',
      type: 'Warning',
      reason,
      message,
    });
    if (deadlineSeconds(deployment) !== undefined)
      this.#writeCondition(place, { type: 'Progressing', status: 'False', reason, message });
  }

  #resize(deployment: StoredObject, sizes: Sizes): void {
    for (const [set, replicas] of sizes) {
      const from = specReplicas(set);
      this.#client.update({ collection: replicaSets, key: set.key }, (object) =>
        withAnnotations(
          { ...object, spec: { ...objectField(object, 'spec'), replicas } },
          sizeAnnotations(deployment),
        ),
      );
      if (from !== replicas) this.#recordScaling(deployment, set.name, { from, to: replicas });
    }
  }

  #recordScaling(
    deployment: StoredObject,
    set: string,
    { from, to }: { readonly from: number; readonly to: number },
  ): void {
    this.#client.recordEvent(deployment, {
      component: 'deployment-controller',
      reason: 'ScalingReplicaSet',
      message: `Scaled ${to > from ? 'up' : 'down'} replica set ${set} from ${from} to ${to}`,
    });
  }

  #pruneIfComplete(rollout: Rollout): void {
    if (isComplete(rollout.deployment, partOf(rollout.deployment, 'status'))) this.#prune(rollout);
  }

  /** Deletes old ReplicaSets beyond the revision history limit. */
  #prune({ deployment, old }: Rollout): void {
    const limit = numberOf(partOf(deployment, 'spec'), 'revisionHistoryLimit', 10);
    const sorted = old.toSorted((a, b) => revisionOf(a) - revisionOf(b));
    for (const set of sorted.slice(0, Math.max(sorted.length - limit, 0)))
      if (specReplicas(set) === 0 && statusCount(set) === 0)
        this.#client.delete({ collection: replicaSets, key: set.key });
  }

  #writeRevision(place: ObjectKey, number: number): void {
    this.#client.updateStatus(place, (object) =>
      withAnnotations(object, revisionAnnotation(number)),
    );
  }

  #writeProgress(place: ObjectKey, [reason, message]: readonly [string, string]): void {
    const deployment = this.#client.find(place);
    if (deployment === undefined || deadlineSeconds(deployment) === undefined) return;
    this.#writeCondition(place, { type: 'Progressing', status: 'True', reason, message });
  }

  #writeCondition(place: ObjectKey, condition: NewCondition): void {
    this.#client.updateStatus(place, (object) => {
      const status = objectField(object, 'status') ?? {};
      const conditions = withCondition(conditionsOf(status), condition, this.#client.now());
      return { ...object, status: { ...status, conditions } };
    });
  }

  #writeStatus(place: ObjectKey, before: StoredObject): void {
    const rollout = this.#rollout(before);
    const now = this.#client.now();
    const status = withProgressCondition(statusOf(rollout, now), rollout, now);
    this.#client.writeStatus(place, status);
    const deadlineMs = progressDeadlineMs(rollout.deployment, status);
    // Times have whole seconds: only one second later is certainly after the deadline.
    if (deadlineMs !== undefined)
      this.#requeueAfter(place.key, Math.max(deadlineMs - this.#client.clock.nowMs(), 0) + 1_000);
  }
}
