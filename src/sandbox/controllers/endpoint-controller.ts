import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import type { StoredObject } from '../store/index.ts';
import { type ControllerWorld, partOf, placeOf } from './controller-world.ts';
import { nodes } from './daemon-set-controller.ts';
import { controlledBy, controllerReference, isReady } from './owned-objects.ts';
import { isTerminating } from './owner-index.ts';
import { pods } from './pod-simulator.ts';

export const services = '/services';
export const endpointSlices = 'discovery.k8s.io/endpointslices';

/** Tells in an EndpointSlice which pods a Service leads to. */
export class EndpointController {
  readonly #world: ControllerWorld;

  constructor(world: ControllerWorld) {
    this.#world = world;
  }

  reconcile(key: string): void {
    const service = this.#world.find({ collection: services, key });
    if (service === undefined || isTerminating(service)) return;
    const spec = partOf(service, 'spec');
    const selector = objectField(spec, 'selector');
    if (selector === undefined || spec.type === 'ExternalName') return;
    const selected = this.#world
      .list(pods)
      .filter((pod) => isSelected(pod, service, selector) && this.#hasNode(pod));
    const content = { endpoints: selected.map(endpointOf), ports: portsOf(spec, selected[0]) };
    const [slice] = controlledBy(this.#world, endpointSlices, service);
    if (slice === undefined) this.#create(service, content);
    else
      this.#world.change({ collection: endpointSlices, key: slice.key }, (object) => ({
        ...object,
        ...content,
      }));
  }

  /** Nobody can be led to a pod on a node that is not there. */
  #hasNode(pod: StoredObject): boolean {
    const node = stringField(partOf(pod, 'spec'), 'nodeName') ?? '';
    return this.#world.find(placeOf(nodes, '', node)) !== undefined;
  }

  #create(service: StoredObject, content: JsonObject): void {
    const { labels } = partOf(service, 'metadata');
    this.#world.create(endpointSlices, service.namespace, {
      metadata: {
        generateName: `${service.name}-`,
        labels: {
          ...(labels as JsonObject | undefined),
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
          'kubernetes.io/service-name': service.name,
        },
        ownerReferences: [controllerReference(service)],
      },
      addressType: 'IPv4',
      ...content,
    });
  }
}

function isSelected(pod: StoredObject, service: StoredObject, selector: JsonObject): boolean {
  if (pod.namespace !== service.namespace) return false;
  const status = partOf(pod, 'status');
  if (!stringField(status, 'podIP') || ['Succeeded', 'Failed'].includes(String(status.phase)))
    return false;
  const labels = objectField(partOf(pod, 'metadata'), 'labels') ?? {};
  return Object.entries(selector).every(([name, value]) => labels[name] === value);
}

function endpointOf(pod: StoredObject): JsonObject {
  const ready = isReady(pod);
  const { uid } = partOf(pod, 'metadata');
  return {
    addresses: [stringField(partOf(pod, 'status'), 'podIP') ?? ''],
    conditions: {
      ready: ready && !isTerminating(pod),
      serving: ready,
      terminating: isTerminating(pod),
    },
    targetRef: { kind: 'Pod', namespace: pod.namespace, name: pod.name, uid },
    nodeName: stringField(partOf(pod, 'spec'), 'nodeName') ?? '',
  };
}

/** The ports of the pods; a port that is named is looked up in one of them. */
function portsOf(spec: JsonObject, pod: StoredObject | undefined): readonly JsonObject[] {
  return listField(spec, 'ports')
    .filter(isJsonObject)
    .flatMap((port) => {
      const number = portNumber(port.targetPort ?? port.port ?? 0, pod);
      if (number === undefined) return [];
      return [{ name: port.name ?? '', protocol: port.protocol ?? 'TCP', port: number }];
    });
}

function portNumber(target: Json, pod: StoredObject | undefined): number | undefined {
  if (typeof target === 'number') return target;
  const containers = pod === undefined ? [] : listField(partOf(pod, 'spec'), 'containers');
  const declared = containers
    .filter(isJsonObject)
    .flatMap((container) => listField(container, 'ports').filter(isJsonObject))
    .find((port) => port.name === target);
  return typeof declared?.containerPort === 'number' ? declared.containerPort : undefined;
}
