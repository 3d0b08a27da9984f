import { objectField } from '../json-fields.ts';
import type { StoredObject } from '../store/index.ts';
import { adopt } from './adoption.ts';
import { conditionOf, conditionsOf, type SaidCondition, withCondition } from './conditions.ts';
import { type ControllerWorld, numberOf, type ObjectPlace, partOf } from './controller-world.ts';
import {
  newestAnnotations,
  revisionAnnotation,
  revisionOf,
  sizeAnnotations,
  withAnnotations,
} from './deployment-annotations.ts';
import {
  active,
  isBeingScaled,
  type Rollout,
  type Sizes,
  shares,
  shrinking,
  sizeOfNewest,
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
import { isComplete, lateAtMs, statusOf, withProgress } from './deployment-status.ts';
import type { LookAgain } from './look-again.ts';
import { controlledBy, controllerReference, phaseOf } from './owned-objects.ts';
import { isTerminating } from './owner-index.ts';
import { pods } from './pod-simulator.ts';
import { replicaSets } from './replica-set-controller.ts';
import { templateHash } from './template-hash.ts';

export const deployments = 'apps/deployments';

/** Rolls out templates: a ReplicaSet for each, the newest one growing as the others shrink. */
export class DeploymentController {
  readonly #world: ControllerWorld;
  readonly #lookAgain: LookAgain;

  constructor(world: ControllerWorld, lookAgain: LookAgain) {
    this.#world = world;
    this.#lookAgain = lookAgain;
  }

  reconcile(key: string): void {
    const place = { collection: deployments, key };
    const deployment = this.#world.find(place);
    if (deployment === undefined || isTerminating(deployment)) return;
    adopt(this.#world, replicaSets, deployment);
    this.#notePause(place, deployment);
    const rollout = this.#rollout(deployment);
    if (isPaused(deployment) || isBeingScaled(rollout)) this.#share(place, rollout);
    else if (isRecreate(deployment)) this.#recreate(place, rollout);
    else this.#roll(place, rollout);
  }

  /** What there is now: each write changes it. */
  #rollout({ key }: Pick<StoredObject, 'key'>): Rollout {
    const deployment = this.#world.find({ collection: deployments, key });
    if (deployment === undefined) throw new Error(`Expected the Deployment "${key}"`);
    const sets = byAge(controlledBy(this.#world, replicaSets, deployment));
    const newest = sets.find((set) => hasTemplateOf(set, deployment));
    return { deployment, newest, others: sets.filter((set) => set !== newest) };
  }

  #notePause(place: ObjectPlace, deployment: StoredObject): void {
    if (deadlineSeconds(deployment) === undefined) return;
    const progress = conditionOf(conditionsOf(partOf(deployment, 'status')), 'Progressing');
    const wasPaused = progress?.reason === 'DeploymentPaused';
    if (progress?.reason === 'ProgressDeadlineExceeded' || wasPaused === isPaused(deployment))
      return;
    const [reason, message] = wasPaused
      ? ['DeploymentResumed', 'Deployment is resumed']
      : ['DeploymentPaused', 'Deployment is paused'];
    this.#say(place, { type: 'Progressing', status: 'Unknown', reason, message });
  }

  /** Paused or scaled: sizes change, templates do not. */
  #share(place: ObjectPlace, before: Rollout): void {
    this.#syncNewest(place, before);
    const rollout = this.#rollout(before.deployment);
    this.#resize(rollout.deployment, shares(rollout));
    if (isPaused(rollout.deployment)) this.#prune(rollout);
    const after = this.#rollout(rollout.deployment);
    this.#world.writeStatus(place, statusOf(after, this.#world.now()));
  }

  #roll(place: ObjectPlace, before: Rollout): void {
    this.#syncNewest(place, before, true);
    const rollout = this.#rollout(before.deployment);
    const { deployment, newest } = rollout;
    const size = sizeOfNewest(rollout);
    if (newest !== undefined && size !== specReplicas(newest))
      this.#resize(deployment, new Map([[newest, size]]));
    else {
      const sizes = shrinking(rollout);
      this.#resize(deployment, sizes);
      if (sizes.size === 0) this.#pruneIfComplete(rollout);
    }
    this.#writeStatus(place, deployment);
  }

  #recreate(place: ObjectPlace, before: Rollout): void {
    this.#syncNewest(place, before);
    const { deployment, others } = this.#rollout(before.deployment);
    const old = active(others);
    if (old.length > 0) this.#resize(deployment, new Map(old.map((set) => [set, 0])));
    else if (!others.some((set) => this.#hasPods(set))) {
      this.#syncNewest(place, this.#rollout(deployment), true);
      const rollout = this.#rollout(deployment);
      if (rollout.newest !== undefined)
        this.#resize(deployment, new Map([[rollout.newest, sizeOfNewest(rollout)]]));
      this.#pruneIfComplete(rollout);
    }
    this.#writeStatus(place, deployment);
  }

  #hasPods(set: StoredObject): boolean {
    return controlledBy(this.#world, pods, set).some(
      (pod) => !['Succeeded', 'Failed'].includes(phaseOf(pod)),
    );
  }

  /** Makes the template's ReplicaSet the newest revision; makes it at all only where a rollout may begin. */
  #syncNewest(place: ObjectPlace, rollout: Rollout, mayCreate = false): void {
    const { deployment, newest, others } = rollout;
    const number = Math.max(0, ...others.map(revisionOf)) + 1;
    if (newest !== undefined) {
      const annotations = newestAnnotations(deployment, newest, number);
      this.#world.change({ collection: replicaSets, key: newest.key }, (object) =>
        withAnnotations(object, annotations),
      );
      this.#writeRevision(place, Math.max(number, revisionOf(newest)));
      const progress = conditionOf(conditionsOf(partOf(deployment, 'status')), 'Progressing');
      if (progress === undefined)
        this.#sayProgress(place, ['FoundNewReplicaSet', `Found new replica set "${newest.name}"`]);
    } else if (mayCreate) {
      const name = this.#createSet(rollout, number);
      this.#writeRevision(place, number);
      this.#sayProgress(place, ['NewReplicaSetCreated', `Created new replica set "${name}"`]);
    }
  }

  #createSet(rollout: Rollout, revision: number): string {
    const { deployment } = rollout;
    const spec = partOf(deployment, 'spec');
    const template = templateOf(deployment);
    const hash = templateHash(template);
    const metadata = objectField(template, 'metadata') ?? {};
    const labels = { ...objectField(metadata, 'labels'), [hashLabel]: hash };
    const selector = objectField(spec, 'selector') ?? {};
    const matchLabels = { ...objectField(selector, 'matchLabels'), [hashLabel]: hash };
    const minReadySeconds = numberOf(spec, 'minReadySeconds', 0);
    const name = `${deployment.name}-${hash}`;
    const replicas = sizeOfNewest(rollout);
    this.#world.create(replicaSets, deployment.namespace, {
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
    });
    if (replicas > 0) this.#recordScaling(deployment, name, { from: 0, to: replicas });
    return name;
  }

  #resize(deployment: StoredObject, sizes: Sizes): void {
    for (const [set, replicas] of sizes) {
      const from = specReplicas(set);
      this.#world.change({ collection: replicaSets, key: set.key }, (object) =>
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
    this.#world.record(deployment, {
      component: 'deployment-controller',
      reason: 'ScalingReplicaSet',
      message: `Scaled ${to > from ? 'up' : 'down'} replica set ${set} from ${from} to ${to}`,
    });
  }

  #pruneIfComplete(rollout: Rollout): void {
    if (isComplete(rollout.deployment, partOf(rollout.deployment, 'status'))) this.#prune(rollout);
  }

  /** Keeps as many old ReplicaSets as the Deployment wants to remember. */
  #prune({ deployment, others }: Rollout): void {
    const limit = numberOf(partOf(deployment, 'spec'), 'revisionHistoryLimit', 10);
    const old = others.toSorted((a, b) => revisionOf(a) - revisionOf(b));
    for (const set of old.slice(0, Math.max(old.length - limit, 0)))
      if (specReplicas(set) === 0 && statusCount(set) === 0)
        this.#world.delete({ collection: replicaSets, key: set.key });
  }

  #writeRevision(place: ObjectPlace, number: number): void {
    this.#world.changeStatus(place, (object) =>
      withAnnotations(object, revisionAnnotation(number)),
    );
  }

  #sayProgress(place: ObjectPlace, [reason, message]: readonly [string, string]): void {
    const deployment = this.#world.find(place);
    if (deployment === undefined || deadlineSeconds(deployment) === undefined) return;
    this.#say(place, { type: 'Progressing', status: 'True', reason, message });
  }

  #say(place: ObjectPlace, said: SaidCondition): void {
    this.#world.changeStatus(place, (object) => {
      const status = objectField(object, 'status') ?? {};
      const conditions = withCondition(conditionsOf(status), said, this.#world.now());
      return { ...object, status: { ...status, conditions } };
    });
  }

  #writeStatus(place: ObjectPlace, before: StoredObject): void {
    const rollout = this.#rollout(before);
    const now = this.#world.now();
    const status = withProgress(statusOf(rollout, now), rollout, now);
    this.#world.writeStatus(place, status);
    const late = lateAtMs(rollout.deployment, status);
    // Times are told in whole seconds: only one more is surely later.
    if (late !== undefined)
      this.#lookAgain(place.key, Math.max(late - this.#world.clock.nowMs(), 0) + 1_000);
  }
}
