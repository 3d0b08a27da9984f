import { backoffMs } from '#util/backoff.ts';
import type { JsonObject } from '#util/json.ts';
import { StatusError } from '../status/status-error.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { ControllerClient } from './controller-client.ts';
import type { RequeueAfter } from './deployment-status.ts';
import { uidOf } from './owner-index.ts';
import { pods } from './pod-simulator.ts';

/** Delays of the next attempt after a rejected pod. */
const delays = { baseDelayMs: 1_000, maxDelayMs: 1_000_000 };

interface PodCreatorOptions {
  readonly client: ControllerClient;
  /** Name of the controller in its Events. */
  readonly component: string;
  readonly requeueAfter: RequeueAfter;
}

interface Rejection {
  readonly message: string;
  readonly count: number;
}

/**
 * Creates the pods of a controller. A rejected pod is a mistake of the user, not of the sandbox: it becomes an Event `FailedCreate` of the
 * owner, as on a server, and is tried again after growing delays.
 */
export class PodCreator {
  readonly #options: PodCreatorOptions;
  /** By UID of the owner. */
  readonly #rejections = new Map<string, Rejection>();

  constructor(options: PodCreatorOptions) {
    this.#options = options;
  }

  /**
   * Creates a pod and returns its name. Undefined: it was rejected.
   * @param prefix Begins the message of the Event, before the server's words.
   */
  create(owner: StoredObject, manifest: JsonObject, prefix = 'Error creating'): string | undefined {
    const { client } = this.#options;
    try {
      const name = client.create(pods, owner.namespace, manifest);
      this.#rejections.delete(uidOf(owner));
      return name;
    } catch (error) {
      // A pod of that name is still being deleted: the queue tries again.
      if (!(error instanceof StatusError) || error.reason === 'AlreadyExists') throw error;
      this.#noteRejection(owner, `${prefix}: ${error.message}`);
      return undefined;
    }
  }

  #noteRejection(owner: StoredObject, message: string): void {
    const { client, component, requeueAfter } = this.#options;
    const uid = uidOf(owner);
    const before = this.#rejections.get(uid);
    const count = (before?.count ?? 0) + 1;
    this.#rejections.set(uid, { message, count });
    requeueAfter(owner.key, backoffMs(count - 1, delays));
    // A server counts equal Events in one.
    if (before?.message === message) return;
    client.recordEvent(owner, { component, type: 'Warning', reason: 'FailedCreate', message });
  }
}
