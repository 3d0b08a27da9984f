import type { Writer } from '../../kube/roles.ts';
import type { Clock } from '../../util/clock.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { DefinitionOrigin } from '../desired-definition.ts';
import { flowOf, passTokenOf } from '../objects/names.ts';
import { writeOwnStatus } from '../objects/own-status.ts';
import { WriteRateLimiter } from '../objects/write-rate-limiter.ts';
import type { DefinitionFacts } from './definition-conditions.ts';
import {
  differsInCountsOnly,
  eventsBetween,
  hasStatus,
  type StatusEvent,
  statusOf,
} from './definition-status.ts';
import { liveStatus } from './record.ts';

/** Field manager of definition statuses. */
const statusManager = 'homeostat/operatordefinitions.status';

/** Minimum time between writes of counts. */
const countsMs = 1_000;
const pace = { burst: 5, refillMs: 1_000 };

interface StatusReporterOptions {
  readonly cluster: Writer;
  readonly clock: Clock;
  /** Called for each change. */
  readonly onEvent: (event: StatusEvent, object: KubeObject, origin: DefinitionOrigin) => void;
}

export interface Report {
  readonly object: KubeObject;
  readonly facts: DefinitionFacts;
}

/** Writes the status of definitions and emits Events for its changes. */
export class StatusReporter {
  readonly #options: StatusReporterOptions;
  readonly #pace: WriteRateLimiter;

  constructor(options: StatusReporterOptions) {
    this.#options = options;
    this.#pace = new WriteRateLimiter(options.clock, pace);
  }

  /**
   * Writes the status if it has changed.
   * @returns the delay until the write is allowed, in ms; 0: done. Undefined: the object is deleted.
   * @throws KubeError
   */
  async report({ object, facts }: Report, signal: AbortSignal): Promise<number | undefined> {
    const { clock, onEvent } = this.#options;
    const { name } = object.metadata;
    const now = new Date(clock.nowMs()).toISOString();
    const desired = statusOf({ facts, object, now });
    if (hasStatus(object, desired)) return 0;
    const delayMs = this.#pace.delayOf(name, differsInCountsOnly(object, desired) ? countsMs : 0);
    if (delayMs > 0) return delayMs;
    this.#pace.recordWrite(name);
    const written = {
      ...{ status: desired, fieldManager: statusManager, flow: flowOf(name) },
      pass: passTokenOf(name, 'controller'),
    };
    if (!(await writeOwnStatus(this.#options.cluster, object, written, signal))) return undefined;
    for (const event of eventsBetween(liveStatus(object), desired))
      onEvent(event, object, facts.origin);
    return 0;
  }

  forget(name: string): void {
    this.#pace.forget(name);
  }
}
