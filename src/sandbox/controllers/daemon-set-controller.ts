import type { JsonObject } from '../../util/json.ts';
import { listField, objectField } from '../json-fields.ts';
import type { StoredObject } from '../store/index.ts';
import { adopt } from './adoption.ts';
import {
  type ControllerEvent,
  type ControllerWorld,
  numberOf,
  partOf,
} from './controller-world.ts';
import { affinityTo, nodeOf } from './node-affinity.ts';
import { controlledBy, isFinished, isReady, phaseOf, podOf } from './owned-objects.ts';
import { isTerminating } from './owner-index.ts';
import { pods } from './pod-simulator.ts';
import { noteRevision, type Revision, revisionLabel } from './revisions.ts';

export const daemonSets = 'apps/daemonsets';
export const nodes = '/nodes';

/** Runs a pod on every node that its template selects. */
export class DaemonSetController {
  readonly #world: ControllerWorld;

  constructor(world: ControllerWorld) {
    this.#world = world;
  }

  reconcile(key: string): void {
    const place = { collection: daemonSets, key };
    const set = this.#world.find(place);
    if (set === undefined || isTerminating(set)) return;
    const template = objectField(partOf(set, 'spec'), 'template') ?? {};
    const revision = noteRevision(this.#world, set, revisionLabel);
    adopt(this.#world, pods, set);
    const wanted = this.#nodes(template);
    const owned = controlledBy(this.#world, pods, set);
    for (const node of wanted)
      if (!owned.some((pod) => nodeOf(pod) === node)) this.#create(set, node, revision);
    for (const pod of owned)
      if (!wanted.includes(nodeOf(pod)) || isFinished(pod)) this.#delete(set, pod);
    // One that is missing is waited for before the next goes.
    if (owned.length === wanted.length) this.#update(set, owned, revision);
    this.#world.writeStatus(place, this.#status(set, wanted, revision));
  }

  /** Names of the nodes that have the labels of the template's selector. */
  #nodes(template: JsonObject): readonly string[] {
    const selector = objectField(objectField(template, 'spec') ?? {}, 'nodeSelector') ?? {};
    return this.#world
      .list(nodes)
      .filter((node) => {
        const labels = objectField(partOf(node, 'metadata'), 'labels') ?? {};
        return Object.entries(selector).every(([name, value]) => labels[name] === value);
      })
      .map(({ name }) => name);
  }

  #create(set: StoredObject, nodeName: string, { hash }: Revision): void {
    const pod = podOf(set, objectField(partOf(set, 'spec'), 'template') ?? {});
    const metadata = objectField(pod, 'metadata') ?? {};
    const labels = {
      ...objectField(metadata, 'labels'),
      [revisionLabel]: hash,
      'pod-template-generation': String(numberOf(partOf(set, 'metadata'), 'generation', 1)),
    };
    const spec = objectField(pod, 'spec') ?? {};
    const name = this.#world.create(pods, set.namespace, {
      metadata: { ...metadata, labels },
      spec: {
        ...spec,
        affinity: affinityTo(nodeName, objectField(spec, 'affinity') ?? {}),
        tolerations: [...listField(spec, 'tolerations'), ...tolerations],
      },
    });
    this.#record(set, { reason: 'SuccessfulCreate', message: `Created pod: ${name}` });
  }

  #delete(set: StoredObject, pod: StoredObject): void {
    if (isTerminating(pod)) return;
    this.#world.delete({ collection: pods, key: pod.key });
    const failed = `Found failed daemon pod ${pod.namespace}/${pod.name} on node ${nodeOf(pod)}, will try to kill it`;
    if (phaseOf(pod) === 'Failed')
      this.#record(set, { type: 'Warning', reason: 'FailedDaemonPod', message: failed });
    this.#record(set, { reason: 'SuccessfulDelete', message: `Deleted pod: ${pod.name}` });
  }

  #record(set: StoredObject, event: Omit<ControllerEvent, 'component'>): void {
    this.#world.record(set, { component: 'daemonset-controller', ...event });
  }

  #update(set: StoredObject, owned: readonly StoredObject[], { hash }: Revision): void {
    const strategy = objectField(partOf(set, 'spec'), 'updateStrategy') ?? {};
    if (strategy.type !== 'RollingUpdate' || !owned.every(isReady)) return;
    const old = owned.find((pod) => !hasRevision(pod, hash));
    if (old !== undefined) this.#delete(set, old);
  }

  #status(set: StoredObject, wanted: readonly string[], { hash }: Revision): JsonObject {
    const owned = controlledBy(this.#world, pods, set).filter((pod) => !isTerminating(pod));
    const ready = owned.filter(isReady).length;
    const missing = wanted.length - ready;
    return {
      observedGeneration: numberOf(partOf(set, 'metadata'), 'generation', 1),
      currentNumberScheduled: owned.length,
      numberMisscheduled: 0,
      desiredNumberScheduled: wanted.length,
      numberReady: ready,
      updatedNumberScheduled: owned.filter((pod) => hasRevision(pod, hash)).length,
      numberAvailable: ready,
      ...(missing > 0 ? { numberUnavailable: missing } : {}),
    };
  }
}

/** What pods of a DaemonSet put up with: they belong to their node whatever its state. */
const tolerations: readonly JsonObject[] = [
  ...['not-ready', 'unreachable'].map((state) => [state, 'NoExecute'] as const),
  ...['disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'].map(
    (state) => [state, 'NoSchedule'] as const,
  ),
].map(([state, effect]) => ({
  key: `node.kubernetes.io/${state}`,
  operator: 'Exists',
  effect,
}));

function hasRevision(pod: StoredObject, hash: string): boolean {
  return objectField(partOf(pod, 'metadata'), 'labels')?.[revisionLabel] === hash;
}
