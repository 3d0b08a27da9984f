import type { KubeError } from '../../kube/roles.ts';
import { rightText } from '../../reconcile/index.ts';
import type { Logger } from '../../telemetry/roles.ts';

/** Of no definition in particular. */
const ofAll = '';

/** Why definitions are not shown as they should be. */
export class ShownTroubles {
  readonly #logger: Logger;
  /** By definition. */
  readonly #reasons = new Map<string, string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** For people. Undefined: they are. */
  get now(): string | undefined {
    return this.#reasons.values().next().value;
  }

  /** Logged once: mostly it is the same for all. */
  tell(reason: string, definition = ofAll): void {
    const isKnown = [...this.#reasons.values()].includes(reason);
    this.#reasons.set(definition, reason);
    if (!isKnown) this.#logger.warn({ reason }, 'Definitions are not shown in the cluster');
  }

  end(definition = ofAll): void {
    this.#reasons.delete(definition);
  }
}

/** What a refused request lacked, or what the server said. */
export function wordsOf({ right, message }: KubeError): string {
  return right === undefined ? message : rightText(right);
}
