import type { Logger } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import type { AccessRight } from '../kube-error.ts';
import type { EventsRefused } from '../roles.ts';

/** So many namespaces are told apart. */
const mostNamespaces = 100;

/** Where Events may not be written. Told once when it begins and once when it is over; in between it is a state. */
export class EventRefusals {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #rights = new Map<string, AccessRight | undefined>();
  #sinceMs = 0;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Undefined: nothing was refused that has not been taken since. */
  get current(): EventsRefused | undefined {
    const { size } = this.#rights;
    if (size === 0) return undefined;
    const right = [...this.#rights.values()].find((each) => each !== undefined);
    return { namespaces: size, ...(right === undefined ? {} : { right }) };
  }

  /** An Event was refused for want of a right. */
  refused(namespace: string, right: AccessRight | undefined): void {
    const isFirst = this.#rights.size === 0;
    if (this.#rights.size < mostNamespaces) this.#rights.set(namespace, right);
    if (!isFirst) return;
    this.#sinceMs = this.#clock.monotonicMs();
    this.#logger.warn({ namespace, ...right }, 'Events may not be written, going on without');
  }

  /** An Event was taken. */
  taken(namespace: string): void {
    if (!this.#rights.delete(namespace) || this.#rights.size > 0) return;
    const missingForMs = Math.round(this.#clock.monotonicMs() - this.#sinceMs);
    this.#logger.info({ missingForMs }, 'Events are written again');
  }
}
