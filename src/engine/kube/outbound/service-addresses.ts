import type { Clock } from '#util/clock.ts';
import { isJsonObject, type JsonObject, objectAt } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { ApiClient } from '../client/api-client.ts';
import { effectiveAddress, ipSet, parseRange } from '../client/ip-address.ts';
import { KubeError } from '../kube-error.ts';
import type { Flow } from '../roles.ts';
import { OutboundNotAllowedError, type ServiceName } from './outbound-policy.ts';
import type { ServedAddress, ServiceCheck } from './undici-transport.ts';

const flow: Flow = { name: 'http-objects', priority: 'object' };
/** Connections that begin within this time share what was read. */
const sharedMs = 1_000;
/** Less than the time for a connection. */
const timeoutMs = 3_000;
/** Pods in one answer, and most answers for one Service. */
const podsPerPage = 500;
const maxPages = 20;
const nameLabel = 'kubernetes.io/service-name';
const managerLabel = 'endpointslice.kubernetes.io/managed-by';
const manager = 'endpointslice-controller.k8s.io';
const hint = 'an administrator can allow it with --http-allow';

/** A Service, with its EndpointSlices and the Pods that it selects. */
interface ServiceParts {
  readonly service: JsonObject;
  readonly slices: readonly JsonObject[];
  readonly pods: readonly KubeObject[];
}

interface RecentRead {
  readonly sinceMs: number;
  readonly result: Promise<ServiceParts>;
}

/**
 * Confirms that the name of a Service leads to Pods that it selects, which are in its namespace, and says which of them have the address of
 * their node. An ExternalName, and addresses that are written by hand, would lead anywhere. Reads the API for each connection; those that
 * begin within a second share what was read, so that a Service without Pods costs few requests.
 */
export class ServiceAddresses implements ServiceCheck {
  readonly #api: ApiClient;
  readonly #clock: Clock;
  readonly #recent = new Map<string, RecentRead>();

  constructor({ api, clock }: { readonly api: ApiClient; readonly clock: Clock }) {
    this.#api = api;
    this.#clock = clock;
  }

  async confirm(
    service: ServiceName,
    addresses: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly ServedAddress[]> {
    const { service: object, slices, pods } = await this.#read(service, signal);
    const allowed = allowedAddresses(service, object, slices);
    const isAllowed = ipSet(allowed.flatMap((address) => parseRange(address) ?? []));
    if (!addresses.every((address) => isAllowed(effectiveAddress(address))))
      throw rejected(service, 'is not what its name resolves to');
    return servedAddresses(service, slices, pods);
  }

  /** @throws KubeError */
  #read(service: ServiceName, signal: AbortSignal): RecentRead['result'] {
    const nowMs = this.#clock.monotonicMs();
    for (const [key, { sinceMs }] of this.#recent)
      if (nowMs - sinceMs >= sharedMs) this.#recent.delete(key);
    const key = `${service.namespace}/${service.name}`;
    const known = this.#recent.get(key);
    if (known !== undefined) return known.result;
    const result = this.#readParts(service, signal);
    this.#recent.set(key, { sinceMs: nowMs, result });
    return result;
  }

  /** @throws KubeError */
  async #readParts(name: ServiceName, signal: AbortSignal): Promise<ServiceParts> {
    const [service, slices] = await Promise.all([
      this.#service(name, signal),
      this.#slices(name, signal),
    ]);
    // The others are rejected without Pods.
    const selector = selectorOf(service);
    const pods = selector === undefined ? [] : await this.#pods(name, selector, signal);
    return { service, slices, pods };
  }

  /** @throws KubeError */
  async #service({ namespace, name }: ServiceName, signal: AbortSignal): Promise<JsonObject> {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/services/${encodeURIComponent(name)}`;
    return this.#get({ path }, signal);
  }

  /** @throws KubeError */
  async #slices(
    { namespace, name }: ServiceName,
    signal: AbortSignal,
  ): Promise<readonly JsonObject[]> {
    const path = `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/endpointslices`;
    const { items } = await this.#get(
      { path, query: { labelSelector: `${nameLabel}=${name}` } },
      signal,
    );
    return Array.isArray(items) ? items.filter(isJsonObject) : [];
  }

  /** @throws KubeError */
  async #pods(
    { namespace }: ServiceName,
    selector: JsonObject,
    signal: AbortSignal,
  ): Promise<readonly KubeObject[]> {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
    const labels = Object.entries(selector).map(([name, value]) => `${name}=${String(value)}`);
    const query = { labelSelector: labels.join(','), limit: String(podsPerPage) };
    const pods: KubeObject[] = [];
    let next = '';
    for (let pages = 0; pages === 0 || (next !== '' && pages < maxPages); pages++) {
      const page = await this.#get(
        { path, query: { ...query, ...(next !== '' && { continue: next }) } },
        signal,
      );
      const items = Array.isArray(page.items) ? page.items.filter(isJsonObject) : [];
      pods.push(...(items as unknown as readonly KubeObject[]));
      const { continue: token } = objectAt(page, 'metadata') ?? {};
      next = typeof token === 'string' ? token : '';
    }
    return pods;
  }

  async #get(
    request: { readonly path: string; readonly query?: Readonly<Record<string, string>> },
    signal: AbortSignal,
  ): Promise<JsonObject> {
    try {
      const { body } = await this.#api.request(
        { method: 'GET', ...request, flow, timeoutMs },
        signal,
      );
      return isJsonObject(body) ? body : {};
    } catch (error) {
      // Without the right to look, nothing is permitted.
      if (error instanceof KubeError && error.code === 'forbidden')
        throw new OutboundNotAllowedError(error.message, { cause: error });
      throw error;
    }
  }
}

/** The addresses to which the name of a Service may resolve. @throws OutboundNotAllowedError */
function allowedAddresses(
  service: ServiceName,
  { spec }: JsonObject,
  slices: readonly JsonObject[],
): readonly string[] {
  const { type, clusterIPs, clusterIP } = isJsonObject(spec) ? spec : {};
  if (type === 'ExternalName') throw rejected(service, 'has the type ExternalName');
  if (selectorOf({ spec }) === undefined)
    throw rejected(service, 'has no selector, so its addresses are written by hand');
  const foreign = slices.find((slice) => !isManaged(slice as unknown as KubeObject));
  if (foreign !== undefined)
    throw rejected(service, 'has an EndpointSlice that is written by hand');
  const own = texts(clusterIPs ?? [clusterIP ?? '']).filter((each) => each !== '');
  if (own.length > 0 && !own.includes('None')) return own;
  // Headless: its name resolves to its Pods.
  return endpointsOf(slices).flatMap(({ addresses }) => texts(addresses));
}

/** Undefined: it has none, or one that selects nothing. */
function selectorOf({ spec }: JsonObject): JsonObject | undefined {
  const selector = isJsonObject(spec) ? spec.selector : undefined;
  return isJsonObject(selector) && Object.keys(selector).length > 0 ? selector : undefined;
}

/** Where connections to the Service end. @throws OutboundNotAllowedError, KubeError */
function servedAddresses(
  service: ServiceName,
  slices: readonly JsonObject[],
  pods: readonly KubeObject[],
): readonly ServedAddress[] {
  const byUid = new Map(pods.map((pod) => [pod.metadata.uid, pod]));
  return slices.flatMap((slice) => {
    const ports = portsOf(slice);
    return endpointsOf([slice]).flatMap(({ addresses, targetRef }) => {
      const { kind, uid, namespace } = isJsonObject(targetRef) ? targetRef : {};
      if (kind !== 'Pod' || namespace !== service.namespace)
        throw rejected(service, 'leads to something other than its Pods');
      const pod = byUid.get(String(uid));
      return texts(addresses).map((address) => servedAddress(service, { address, ports, pod }));
    });
  });
}

/** The Pod must have the address that the slice says. @throws KubeError */
function servedAddress(
  { namespace, name }: ServiceName,
  {
    address,
    ports,
    pod,
  }: {
    readonly address: string;
    readonly ports: readonly number[];
    readonly pod: KubeObject | undefined;
  },
): ServedAddress {
  const isOfPod = addressesIn(pod?.status, 'podIP').includes(effectiveAddress(address));
  // The slices follow the Pods: a Pod has been deleted, or has begun, a moment ago.
  if (pod === undefined || !isOfPod)
    throw new KubeError(
      'unavailable',
      `An EndpointSlice of Service "${name}" of namespace "${namespace}" has an address that no Pod has now`,
      { status: 0 },
    );
  const { status, spec } = pod;
  const isOfNode =
    (isJsonObject(spec) && spec.hostNetwork === true) ||
    addressesIn(status, 'hostIP').includes(effectiveAddress(address));
  return { address, ports, ...(isOfNode && { podOnNode: pod.metadata.name }) };
}

/** `podIP` and `podIPs`, or `hostIP` and `hostIPs`. */
function addressesIn(status: unknown, field: 'podIP' | 'hostIP'): readonly string[] {
  if (!isJsonObject(status)) return [];
  const { [`${field}s`]: list, [field]: first } = status;
  const all = Array.isArray(list) ? list.map((each) => (isJsonObject(each) ? each.ip : each)) : [];
  return texts([first, ...all]).map(effectiveAddress);
}

function endpointsOf(slices: readonly JsonObject[]): readonly JsonObject[] {
  return slices.flatMap(({ endpoints }) =>
    Array.isArray(endpoints) ? endpoints.filter(isJsonObject) : [],
  );
}

function portsOf({ ports }: JsonObject): readonly number[] {
  const all = Array.isArray(ports) ? ports.filter(isJsonObject) : [];
  return all.map(({ port }) => port).filter((port) => typeof port === 'number');
}

/** Other slices of a Service are added to those of its selector. */
function isManaged({ metadata }: KubeObject): boolean {
  return metadata.labels?.[managerLabel] === manager;
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function rejected({ namespace, name }: ServiceName, what: string): OutboundNotAllowedError {
  return new OutboundNotAllowedError(
    `Service "${name}" of namespace "${namespace}" ${what}; ${hint}`,
  );
}
