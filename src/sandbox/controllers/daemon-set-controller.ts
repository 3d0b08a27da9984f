import type { JsonObject } from '#util/json.ts';
import { listField, objectField } from '../json-fields.ts';
import { StatusError } from '../status/status-error.ts';
import type { StoredObject } from '../store/stored-object.ts';
import {
  type ControllerClient,
  type ControllerEvent,
  numberOf,
  partOf,
} from './controller-client.ts';
import type { RequeueAfter } from './deployment-status.ts';
import {
  adoptAndRelease,
  controlledObjects,
  isFinished,
  isReady,
  phaseOf,
  podOf,
} from './owned-objects.ts';
import { isTerminating } from './owner-index.ts';
import { PodCreator } from './pod-creator.ts';
import { affinityTo, nodeOf, pods } from './pod-simulator.ts';
import { ensureRevision, type Revision, revisionLabel } from './revisions.ts';

export const daemonSets = 'apps/daemonsets';
const component = 'daemonset-controller';
export const nodes = '/nodes';
/** Delay of the next attempt after a rejected ControllerRevision. */
const rejectedMs = 60_000;

/** Runs a pod on every node that its template selects. */
export class DaemonSetController {
  readonly #client: ControllerClient;
  readonly #requeueAfter: RequeueAfter;
  readonly #pods: PodCreator;

  constructor(client: ControllerClient, requeueAfter: RequeueAfter) {
    this.#client = client;
    this.#requeueAfter = requeueAfter;
    this.#pods = new PodCreator({ client, component, requeueAfter });
  }

  reconcile(key: string): void {
    const place = { collection: daemonSets, key };
    const set = this.#client.find(place);
    if (set === undefined || isTerminating(set)) return;
    const template = objectField(partOf(set, 'spec'), 'template') ?? {};
    const revision = this.#revision(set);
    if (revision === undefined) return;
    adoptAndRelease(this.#client, pods, set);
    const desiredNodes = this.#nodes(template);
    const owned = controlledObjects(this.#client, pods, set);
    for (const node of desiredNodes)
      if (!owned.some((pod) => nodeOf(pod) === node)) this.#create(set, node, revision);
    for (const pod of owned)
      if (!desiredNodes.includes(nodeOf(pod)) || isFinished(pod)) this.#delete(set, pod);
    // A missing pod must be created before the next one is replaced.
    if (owned.length === desiredNodes.length) this.#update(set, owned, revision);
    this.#client.writeStatus(place, this.#status(set, desiredNodes, revision));
  }

  /**
   * The revision of the template. Undefined: the API server rejects it, because its name is too long for example. A mistake of the user: as
   * on a server there is no Pod, no status and no Event.
   */
  #revision(set: StoredObject): Revision | undefined {
    try {
      return ensureRevision(this.#client, set, revisionLabel);
    } catch (error) {
      if (!(error instanceof StatusError) || error.reason === 'AlreadyExists') throw error;
      this.#requeueAfter(set.key, rejectedMs);
      return undefined;
    }
  }

  /** The names of the nodes that match the template's node selector. */
  #nodes(template: JsonObject): readonly string[] {
    const selector = objectField(objectField(template, 'spec') ?? {}, 'nodeSelector') ?? {};
    return this.#client
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
    const name = this.#pods.create(set, {
      metadata: { ...metadata, labels },
      spec: {
        ...spec,
        affinity: affinityTo(nodeName, objectField(spec, 'affinity') ?? {}),
        tolerations: [...listField(spec, 'tolerations'), ...tolerations],
      },
    });
    if (name !== undefined)
      this.#record(set, { reason: 'SuccessfulCreate', message: `Created pod: ${name}` });
  }

  #delete(set: StoredObject, pod: StoredObject): void {
    if (isTerminating(pod)) return;
    this.#client.delete({ collection: pods, key: pod.key });
    const failed = `Found failed daemon pod ${pod.namespace}/${pod.name} on node ${nodeOf(pod)}, will try to kill it`;
    if (phaseOf(pod) === 'Failed')
      this.#record(set, { type: 'Warning', reason: 'FailedDaemonPod', message: failed });
    this.#record(set, { reason: 'SuccessfulDelete', message: `Deleted pod: ${pod.name}` });
  }

  #record(set: StoredObject, event: Omit<ControllerEvent, 'component'>): void {
    this.#client.recordEvent(set, { component, ...event });
  }

  #update(set: StoredObject, owned: readonly StoredObject[], { hash }: Revision): void {
    const strategy = objectField(partOf(set, 'spec'), 'updateStrategy') ?? {};
    if (strategy.type !== 'RollingUpdate' || !owned.every(isReady)) return;
    const old = owned.find((pod) => !hasRevision(pod, hash));
    if (old !== undefined) this.#delete(set, old);
  }

  #status(set: StoredObject, desiredNodes: readonly string[], { hash }: Revision): JsonObject {
    const owned = controlledObjects(this.#client, pods, set).filter((pod) => !isTerminating(pod));
    const ready = owned.filter(isReady).length;
    const missing = desiredNodes.length - ready;
    return {
      observedGeneration: numberOf(partOf(set, 'metadata'), 'generation', 1),
      currentNumberScheduled: owned.length,
      numberMisscheduled: 0,
      desiredNumberScheduled: desiredNodes.length,
      numberReady: ready,
      updatedNumberScheduled: owned.filter((pod) => hasRevision(pod, hash)).length,
      numberAvailable: ready,
      ...(missing > 0 ? { numberUnavailable: missing } : {}),
    };
  }
}

/** The tolerations of DaemonSet pods: they stay on their node whatever its state. */
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
