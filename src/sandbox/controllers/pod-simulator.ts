import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import type { StoredObject } from '../store/index.ts';
import { type ControllerWorld, type ObjectPlace, partOf } from './controller-world.ts';
import { nodeOf } from './node-affinity.ts';
import { phaseOf } from './owned-objects.ts';
import { isTerminating } from './owner-index.ts';

export const pods = '/pods';

/** The node that all pods run on. */
const nodeName = 'sandbox-node';

/** What a pod's author may ask of the simulation. */
const outcomeAnnotation = 'sandbox.homeostat.dev/outcome';

/**
 * Plays scheduler and kubelet: pods are bound, run and are ready at once; those that are not restarted
 * succeed. The annotation `sandbox.homeostat.dev/outcome` asks for something else: `never-ready` or `fail`.
 */
export class PodSimulator {
  readonly #world: ControllerWorld;

  constructor(world: ControllerWorld) {
    this.#world = world;
  }

  reconcile(key: string): void {
    const place = { collection: pods, key };
    const pod = this.#world.find(place);
    if (pod === undefined) return;
    if (isTerminating(pod)) this.#world.delete(place, { gracePeriodSeconds: 0 });
    else if (stringField(partOf(pod, 'spec'), 'nodeName') === undefined)
      this.#bind(place, nodeOf(pod) || nodeName);
    else this.#run(place, pod);
  }

  #bind(place: ObjectPlace, nodeName: string): void {
    this.#world.change(place, (pod) => ({
      ...pod,
      spec: { ...objectField(pod, 'spec'), nodeName },
    }));
  }

  #run(place: ObjectPlace, pod: StoredObject): void {
    const phase = phaseOf(pod);
    if (phase === 'Pending') {
      const outcome = outcomeOf(pod);
      const state = outcome === 'never-ready' ? 'waiting' : 'running';
      this.#world.writeStatus(place, this.#status(pod, state));
    } else if (phase === 'Running' && endsByItself(pod) && outcomeOf(pod) !== 'never-ready') {
      const state = outcomeOf(pod) === 'fail' ? 'failed' : 'succeeded';
      this.#world.writeStatus(place, this.#status(pod, state));
    }
  }

  #status(pod: StoredObject, state: ContainerState): JsonObject {
    const now = this.#world.now();
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

/** Does the pod end by itself? Only what is not restarted can. */
function endsByItself(pod: StoredObject): boolean {
  return partOf(pod, 'spec').restartPolicy !== 'Always';
}

function outcomeOf(pod: StoredObject): string {
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

/** An address from the range for documentation, the same for the same pod. */
function podAddress({ key }: StoredObject): string {
  let hash = 0;
  for (const character of key) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_000;
  return `198.18.${Math.floor(hash / 254)}.${(hash % 254) + 1}`;
}
