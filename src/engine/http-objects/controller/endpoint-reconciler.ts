import type { ReconcileResult } from '#controller';
import { HttpTransportError } from '#kube/roles.ts';
import type { Logger } from '#telemetry/roles.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { pausedAnnotation, reconcileAtAnnotation } from '#util/stored-names.ts';
import { type EndpointFacts, endpointStatusOf } from '../core/endpoint-status.ts';
import { readAnswer } from '../core/read-answer.ts';
import { requestText } from '../core/request-text.ts';
import type { EndpointView } from '../core/view.ts';
import { controllerName } from '../names.ts';
import type { EndpointOwnership } from './endpoint-ownership.ts';
import type { EndpointSession } from './endpoint-session.ts';
import type { Endpoint, Endpoints } from './endpoints.ts';
import { ownPass } from './object-writer.ts';
import type { HttpObjectPorts } from './ports.ts';
import { writeStatus } from './status-writer.ts';
import { transportFailure } from './transport-failure.ts';

/** Between two checks of an endpoint that works, and after the first failure. */
const everyMs = 60_000;
const jitter = 0.1;
const failureDelays = { baseDelayMs: 1_000, maxDelayMs: 60_000 };

interface EndpointReconcilerOptions {
  readonly ports: HttpObjectPorts;
  readonly endpoints: Endpoints;
  readonly ownership: EndpointOwnership;
  /** From the cache. Undefined: it is deleted. */
  readonly objectOf: (key: string) => KubeObject | undefined;
  readonly logger: Logger;
}

/** The last check of an endpoint. */
interface Checked {
  /** What it depended on. */
  readonly cause: string;
  /** Of the next one, on the monotonic clock. */
  readonly dueMs: number;
  readonly result: EndpointFacts['check'];
}

/** Reconciles `HttpEndpoint`s: finalizer, check, status. */
export class EndpointReconciler {
  readonly #options: EndpointReconcilerOptions;
  readonly #checks = new Map<string, Checked>();

  constructor(options: EndpointReconcilerOptions) {
    this.#options = options;
  }

  /** Never called concurrently for one endpoint. @throws KubeError */
  async reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult> {
    const { ownership, endpoints, ports } = this.#options;
    if (!(await ownership.claim(key, false, signal))) return { kind: 'done' };
    await ownership.release(key, signal);
    const object = this.#options.objectOf(key);
    const endpoint = await endpoints.find(key, false, signal);
    if (object === undefined || endpoint === undefined) {
      this.#checks.delete(key);
      await ports.metrics?.forget(key);
      return { kind: 'done' };
    }
    if (object.metadata.annotations?.[pausedAnnotation] === 'true') return { kind: 'done' };
    const { blocked, checkPath } = endpoint.view;
    const checked = await this.#check(key, { object, endpoint }, signal);
    const facts = { blocked, check: checked?.result, hasCheck: checkPath !== undefined };
    await this.#report(object, facts, signal);
    if (checked === undefined) return { kind: 'done' };
    if (checked.result?.kind === 'failed')
      return { kind: 'retry', ...failureDelays, reason: checked.result.reason };
    const afterMs = Math.max(0, checked.dueMs - ports.clock.monotonicMs());
    return { kind: 'done', due: { afterMs } };
  }

  /** Checks an endpoint if that is due. Undefined: it has no check, or no request can be sent. */
  async #check(
    key: string,
    { object, endpoint }: { readonly object: KubeObject; readonly endpoint: Endpoint },
    signal: AbortSignal,
  ): Promise<Checked | undefined> {
    const { view, session, version } = endpoint;
    const { clock, random } = this.#options.ports;
    if (view.checkPath === undefined || view.blocked !== undefined || session === undefined)
      return undefined;
    const cause = `${version} ${object.metadata.annotations?.[reconcileAtAnnotation] ?? ''}`;
    const before = this.#checks.get(key);
    const isCurrent = before?.cause === cause && clock.monotonicMs() < before.dueMs;
    if (isCurrent && before.result?.kind === 'passed') return before;
    const result = await this.#send(object, { session, view, path: view.checkPath }, signal);
    const delayMs = everyMs * (1 - jitter + 2 * jitter * random.fraction());
    const checked = { cause, result, dueMs: clock.monotonicMs() + delayMs };
    this.#checks.set(key, checked);
    return checked;
  }

  /** @throws HttpTransportError `aborted` */
  async #send(
    { metadata }: KubeObject,
    {
      session,
      view,
      path,
    }: {
      readonly session: EndpointSession;
      readonly view: EndpointView;
      readonly path: string;
    },
    signal: AbortSignal,
  ): Promise<EndpointFacts['check']> {
    const request = { method: 'GET', path } as const;
    const reader = {
      ...{ metadata, spec: undefined, id: undefined, match: {}, showsErrors: false },
      ...{ request: requestText(view, request), auth: session.authText },
      mask: (text: string) => session.mask(text),
      nowMs: this.#options.ports.clock.nowMs(),
    };
    try {
      const { answer } = await session.send(
        request,
        (raw) => readAnswer('check', raw, reader),
        signal,
      );
      if (answer.kind === 'ok') return { kind: 'passed' };
      if (answer.kind === 'failed') return { kind: 'failed', ...reasonOf(answer.failure) };
      return { kind: 'failed', reason: 'NotFound', message: `"${path}" does not exist` };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof HttpTransportError) || error.code === 'aborted') throw error;
      return { kind: 'failed', ...reasonOf(transportFailure(error)) };
    }
  }

  /** Writes the status if it has changed, with an Event and a log line for a change of its conditions. @throws KubeError */
  async #report(object: KubeObject, facts: EndpointFacts, signal: AbortSignal): Promise<void> {
    const { cluster, clock } = this.#options.ports;
    const now = new Date(clock.nowMs()).toISOString();
    const status = endpointStatusOf(facts, { object, now });
    const { namespace = '', name } = object.metadata;
    const pass = { key: `${namespace}/${name}`, definition: ownPass };
    const stored = await writeStatus(object, status, { cluster, pass, signal });
    if (stored !== undefined) this.#announce(object, stored);
  }

  #announce(before: KubeObject, after: KubeObject): void {
    const [old, now] = [problemOf(before), problemOf(after)];
    if (old?.reason === now?.reason) return;
    const { logger, ports } = this.#options;
    const { namespace, name } = after.metadata;
    const about = { endpoint: `${namespace}/${name}` };
    if (now === undefined) logger.info(about, 'The API of an HttpEndpoint can be used again');
    else logger.warn({ ...about, ...now }, 'The API of an HttpEndpoint cannot be used');
    ports.cluster.events.record({
      regarding: after,
      ...(now === undefined
        ? { type: 'Normal', reason: 'Usable', note: 'The API can be used' }
        : { type: 'Warning', reason: now.reason, note: now.message }),
      ...{ action: 'Check', definition: controllerName },
    });
  }
}

function reasonOf({ reason, message }: { readonly reason: string; readonly message: string }) {
  return { reason, message };
}

/** The first condition that is not `True`. Undefined: there is none, or nothing is known yet. */
function problemOf(object: KubeObject) {
  const failing = conditionsOf(object).find(({ status }) => status === 'False');
  return failing && { reason: String(failing.reason), message: String(failing.message) };
}
