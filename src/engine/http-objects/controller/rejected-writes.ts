import type { EventRecorder, KubeErrorCode } from '#kube/roles.ts';
import { KubeError } from '#kube/roles.ts';
import type { Logger } from '#telemetry/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { controllerName } from '../names.ts';

/** The API server answered, and the same request fails again until something changes. */
const rejections: ReadonlySet<KubeErrorCode> = new Set<KubeErrorCode>([
  ...(['forbidden', 'denied', 'rejected', 'quota-exceeded', 'too-large'] as const),
  ...(['webhook-failed', 'server-error', 'unexpected'] as const),
]);

export function isRejection(error: unknown): error is KubeError {
  return error instanceof KubeError && rejections.has(error.code);
}

interface RejectedWritesOptions {
  readonly logger: Logger;
  readonly events: EventRecorder;
}

/** Reports once what the API server rejects of an object, while it does: what cannot be written cannot be in its status. */
export class RejectedWrites {
  readonly #options: RejectedWritesOptions;
  /** By key of a queue, the text of the last rejection. */
  readonly #reported = new Map<string, string>();

  constructor(options: RejectedWritesOptions) {
    this.#options = options;
  }

  /** Call after a failed reconcile. */
  note(key: string, object: KubeObject | undefined, error: unknown): void {
    if (object === undefined || !isRejection(error)) return;
    const { code, message } = error;
    if (this.#reported.get(key) === message) return;
    this.#reported.set(key, message);
    const { kind, metadata } = object;
    const { logger, events } = this.#options;
    logger.warn(
      { kind, object: `${metadata.namespace}/${metadata.name}`, code, message },
      'The API server rejects a request of an object behind HTTP',
    );
    events.record({
      ...{ regarding: object, type: 'Warning', reason: 'WriteRejected', note: message },
      ...{ action: 'Reconcile', definition: controllerName },
    });
  }

  /** Call after a reconcile that has not failed. */
  forget(key: string): void {
    this.#reported.delete(key);
  }
}
