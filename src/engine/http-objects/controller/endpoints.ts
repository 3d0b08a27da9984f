import { deepEqual } from '#util/deep-equal.ts';
import { type KubeObject, keyOf } from '#util/kube-object.ts';
import type { EndpointView } from '../core/view.ts';
import { decodeEndpoint, type EndpointSpec } from '../spec/endpoint-spec.ts';
import { problemText } from '../spec/problem.ts';
import { EndpointSession } from './endpoint-session.ts';
import type { HttpObjectPorts } from './ports.ts';
import { OriginPlaces, RequestLimits } from './request-limits.ts';

/** An endpoint, for one reconcile. */
export interface Endpoint {
  readonly view: EndpointView;
  /** Undefined: requests cannot be sent. */
  readonly session: EndpointSession | undefined;
  /** Another text: the endpoint or its credentials have changed. */
  readonly version: string;
}

interface OpenEndpoint {
  readonly uid: string;
  /** As it is written: the generation also changes with a deletion, which keeps limits, credentials and tokens. */
  readonly written: unknown;
  readonly spec: EndpointSpec;
  readonly limits: RequestLimits;
  /** The last session, which serves deletions when its Secrets are missing. */
  session: EndpointSession | undefined;
}

export interface EndpointsOptions {
  readonly ports: HttpObjectPorts;
  /** From the cache. Undefined: it does not exist. */
  readonly objectOf: (key: string) => KubeObject | undefined;
}

/** The endpoints in use, with their sessions. */
export class Endpoints {
  readonly #options: EndpointsOptions;
  readonly #open = new Map<string, OpenEndpoint>();
  readonly #origins = new OriginPlaces();

  constructor(options: EndpointsOptions) {
    this.#options = options;
  }

  /**
   * The endpoint as it is now, with its credentials. Undefined: it does not exist. `keepsOld`: for deletions, credentials are used that
   * are no longer in the cluster.
   * @throws KubeError
   */
  async find(key: string, keepsOld: boolean, signal: AbortSignal): Promise<Endpoint | undefined> {
    const object = this.#options.objectOf(key);
    if (object === undefined) {
      this.#forget(key);
      return undefined;
    }
    const { uid = '', generation, deletionTimestamp } = object.metadata;
    const isTerminating = deletionTimestamp !== undefined;
    const base = { uid, isTerminating, checkPath: undefined, timeoutMs: 0 };
    const open = this.#openOf(object);
    if ('message' in open) {
      const blocked = { reason: 'EndpointInvalid', message: open.message };
      const view = { ...base, location: '', blocked };
      return { view, session: undefined, version: `${uid} ${generation} ${open.message}` };
    }
    const { spec } = open;
    const { ports } = this.#options;
    const opened = await EndpointSession.open({ object, spec, ports, limits: open.limits }, signal);
    const isOpened = opened instanceof EndpointSession;
    // A session with the same credentials keeps its token.
    if (isOpened && opened.version !== open.session?.version) open.session = opened;
    const { session } = open;
    const view: EndpointView = {
      ...base,
      location: `${spec.origin}${spec.basePath}`,
      checkPath: spec.checkPath,
      timeoutMs: spec.timeoutMs,
      blocked: isOpened || (keepsOld && session !== undefined) ? undefined : opened,
    };
    const state = isOpened ? session?.version : `${opened.reason} ${opened.message}`;
    return { view, session, version: `${uid} ${generation} ${isTerminating} ${state}` };
  }

  /** Origin and base path. Undefined: the endpoint does not exist, or is not valid. */
  locationOf(key: string): string | undefined {
    const object = this.#options.objectOf(key);
    const open = object && this.#openOf(object);
    if (open === undefined || 'message' in open) return undefined;
    return `${open.spec.origin}${open.spec.basePath}`;
  }

  /** Forgets credentials and tokens. */
  #forget(key: string): void {
    this.#open.delete(key);
    const origins = Array.from(this.#open.values(), ({ spec }) => spec.origin);
    this.#origins.keepOnly(new Set(origins));
  }

  #openOf(object: KubeObject): OpenEndpoint | { readonly message: string } {
    const { namespace, name, uid = '' } = object.metadata;
    const key = keyOf(namespace, name);
    const known = this.#open.get(key);
    const written = object.spec;
    if (known?.uid === uid && deepEqual(known.written, written)) return known;
    const { ports } = this.#options;
    const { spec, problems } = decodeEndpoint(object, ports.parser);
    if (spec === undefined) {
      const [first] = problems.filter(({ severity }) => severity === 'error');
      return { message: first === undefined ? '' : problemText(first) };
    }
    const { requestsPerSecond, concurrent, origin } = spec;
    const limits = new RequestLimits({
      ...{ clock: ports.clock, requestsPerSecond, concurrent },
      origin: this.#origins.of(origin),
    });
    const open = { ...{ uid, written, spec, limits }, session: undefined };
    this.#open.set(key, open);
    return open;
  }
}
