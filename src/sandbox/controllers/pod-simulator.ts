import { isJsonObject, type JsonObject } from '#util/json.ts';
import { outcomeAnnotation } from '#util/stored-names.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { type ControllerClient, type ObjectKey, partOf } from './controller-client.ts';
import { phaseOf } from './owned-objects.ts';
import { isTerminating } from './owner-index.ts';

export const pods = '/pods';

/** The node that all pods run on. */
const nodeName = 'sandbox-node';

/** The outcome of a pod: `ready` and `never-ready` while it runs; `fail` only applies to a pod that is not restarted. */
export type PodOutcome = 'ready' | 'never-ready' | 'fail';

/**
 * Simulates scheduler and kubelet: pods are bound, run and are ready at once; those that are not restarted succeed. The
 * annotation `sandbox.homeostat.dev/outcome` selects another outcome: `never-ready` or `fail`.
 */
export class PodSimulator {
  readonly #client: ControllerClient;
  /** The last entry that matches a pod applies, with precedence over its annotation. */
  readonly #outcomes: { readonly labels: Labels; readonly outcome: PodOutcome }[] = [];

  constructor(client: ControllerClient) {
    this.#client = client;
  }

  /** Sets the outcome of all pods with these labels; running pods change when they are reconciled next. */
  setOutcome(labels: Labels, outcome: PodOutcome): void {
    this.#outcomes.push({ labels, outcome });
  }

  reconcile(key: string): void {
    const place = { collection: pods, key };
    const pod = this.#client.find(place);
    if (pod === undefined) return;
    if (isTerminating(pod)) this.#client.delete(place, { gracePeriodSeconds: 0 });
    else if (stringField(partOf(pod, 'spec'), 'nodeName') === undefined)
      this.#bind(place, nodeOf(pod) || nodeName);
    else this.#run(place, pod);
  }

  #bind(place: ObjectKey, nodeName: string): void {
    this.#client.update(place, (pod) => ({
      ...pod,
      spec: { ...objectField(pod, 'spec'), nodeName },
    }));
  }

  #run(place: ObjectKey, pod: StoredObject): void {
    const phase = phaseOf(pod);
    const set = this.#outcomeSetFor(pod);
    const outcome = set ?? annotatedOutcome(pod);
    if (phase === 'Pending') {
      const state = outcome === 'never-ready' ? 'waiting' : 'running';
      this.#client.writeStatus(place, this.#status(pod, state));
    } else if (phase === 'Running' && canFinish(pod) && outcome !== 'never-ready') {
      const state = outcome === 'fail' ? 'failed' : 'succeeded';
      this.#client.writeStatus(place, this.#status(pod, state));
    } else if (phase === 'Running' && set !== undefined && isReady(pod) !== (set === 'ready')) {
      this.#client.writeStatus(place, this.#status(pod, set === 'ready' ? 'running' : 'waiting'));
    }
  }

  #outcomeSetFor(pod: StoredObject): PodOutcome | undefined {
    const labels = objectField(partOf(pod, 'metadata'), 'labels') ?? {};
    return this.#outcomes.findLast((each) =>
      Object.entries(each.labels).every(([key, value]) => labels[key] === value),
    )?.outcome;
  }

  #status(pod: StoredObject, state: ContainerState): JsonObject {
    const now = this.#client.now();
    const old = partOf(pod, 'status');
    const isReady = state === 'running';
    const reason = isFinished(state) ? { reason: 'PodCompleted' } : {};
    const condition = (type: string, isTrue: boolean): JsonObject => ({
      type,
      status: isTrue ? 'True' : 'False',
      lastProbeTime: null,
      lastTransitionTime: now,
      ...(isTrue ? {} : reason),
    });
    const conditions = [
      condition('PodReadyToStartContainers', !isFinished(state)),
      condition('Initialized', true),
      condition('Ready', isReady),
      condition('ContainersReady', isReady),
      condition('PodScheduled', true),
    ];
    const own = new Set(conditions.map(({ type }) => type));
    const others = listField(old, 'conditions').filter(isJsonObject);
    return {
      ...old,
      phase: phases[state],
      conditions: [...conditions, ...others.filter(({ type }) => !own.has(type))],
      hostIP: '192.0.2.1',
      podIP: podAddress(pod),
      podIPs: [{ ip: podAddress(pod) }],
      startTime: old.startTime ?? now,
      containerStatuses: listField(partOf(pod, 'spec'), 'containers')
        .filter(isJsonObject)
        .map((container) => containerStatus(container, state, now)),
    };
  }
}

type ContainerState = 'waiting' | 'running' | 'succeeded' | 'failed';

const phases = { waiting: 'Running', running: 'Running', succeeded: 'Succeeded', failed: 'Failed' };

function isFinished(state: ContainerState): boolean {
  return state === 'succeeded' || state === 'failed';
}

/** Only pods that are not restarted can finish. */
function canFinish(pod: StoredObject): boolean {
  return partOf(pod, 'spec').restartPolicy !== 'Always';
}

type Labels = Readonly<Record<string, string>>;

function isReady(pod: StoredObject): boolean {
  const conditions = listField(partOf(pod, 'status'), 'conditions').filter(isJsonObject);
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

function annotatedOutcome(pod: StoredObject): string {
  const annotations = objectField(partOf(pod, 'metadata'), 'annotations') ?? {};
  return stringField(annotations, outcomeAnnotation) ?? '';
}

function containerStatus(container: JsonObject, state: ContainerState, now: string): JsonObject {
  const name = stringField(container, 'name') ?? '';
  const exitCode = state === 'failed' ? 1 : 0;
  const reason = state === 'failed' ? 'Error' : 'Completed';
  const terminated = { exitCode, reason, startedAt: now, finishedAt: now };
  return {
    name,
    image: stringField(container, 'image') ?? '',
    imageID: 'sandbox://simulated',
    containerID: `sandbox://${name}`,
    restartCount: 0,
    ready: state === 'running',
    started: !isFinished(state),
    lastState: {},
    state: isFinished(state) ? { terminated } : { running: { startedAt: now } },
  };
}

/** An address from the documentation range, stable for each pod. */
function podAddress({ key }: StoredObject): string {
  let hash = 0;
  for (const character of key) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_000;
  return `198.18.${Math.floor(hash / 254)}.${(hash % 254) + 1}`;
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution';

/** An affinity to one node by its name; replaces other node affinities. */
export function affinityTo(nodeName: string, affinity: JsonObject): JsonObject {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [nodeName] }];
  const nodeAffinity = objectField(affinity, 'nodeAffinity') ?? {};
  return {
    ...affinity,
    nodeAffinity: { ...nodeAffinity, [required]: { nodeSelectorTerms: [{ matchFields }] } },
  };
}

/** The node that a pod is bound to, or its affinity requires; empty when any node will do. */
export function nodeOf(pod: StoredObject): string {
  const spec = partOf(pod, 'spec');
  const bound = stringField(spec, 'nodeName') ?? '';
  if (bound !== '') return bound;
  const nodeAffinity = objectField(objectField(spec, 'affinity') ?? {}, 'nodeAffinity') ?? {};
  const names = listField(objectField(nodeAffinity, required) ?? {}, 'nodeSelectorTerms')
    .filter(isJsonObject)
    .flatMap((term) => listField(term, 'matchFields').filter(isJsonObject))
    .filter(({ key }) => key === 'metadata.name')
    .flatMap((field) => listField(field, 'values'));
  return String(names[0] ?? '');
}
