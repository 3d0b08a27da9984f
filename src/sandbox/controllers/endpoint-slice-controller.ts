import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { type ControllerClient, objectKey, partOf } from './controller-client.ts';
import { nodes } from './daemon-set-controller.ts';
import { controlledObjects, controllerReference, isReady } from './owned-objects.ts';
import { isTerminating } from './owner-index.ts';
import { pods } from './pod-simulator.ts';

export const services = '/services';
const endpointSlices = 'discovery.k8s.io/endpointslices';

/** Writes the endpoints of a Service to an EndpointSlice. */
export class EndpointSliceController {
  readonly #client: ControllerClient;

  constructor(client: ControllerClient) {
    this.#client = client;
  }

  reconcile(key: string): void {
    const service = this.#client.find({ collection: services, key });
    if (service === undefined || isTerminating(service)) return;
    const spec = partOf(service, 'spec');
    const selector = objectField(spec, 'selector');
    if (selector === undefined || spec.type === 'ExternalName') return;
    const selected = this.#client
      .list(pods)
      .filter((pod) => isSelected(pod, service, selector) && this.#hasNode(pod));
    const content = { endpoints: selected.map(endpointOf), ports: portsOf(spec, selected[0]) };
    const [slice] = controlledObjects(this.#client, endpointSlices, service);
    if (slice === undefined) this.#create(service, content);
    else
      this.#client.update({ collection: endpointSlices, key: slice.key }, (object) => ({
        ...object,
        ...content,
      }));
  }

  /** A pod on a missing node cannot receive traffic. */
  #hasNode(pod: StoredObject): boolean {
    const node = stringField(partOf(pod, 'spec'), 'nodeName') ?? '';
    return this.#client.find(objectKey(nodes, '', node)) !== undefined;
  }

  #create(service: StoredObject, content: JsonObject): void {
    const { labels } = partOf(service, 'metadata');
    this.#client.create(endpointSlices, service.namespace, {
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

/** The ports of the pods; a named port is resolved in one of them. */
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
