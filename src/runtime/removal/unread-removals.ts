import type { Logger } from '../../telemetry/roles.ts';
import { whenAborted } from '../../util/when-aborted.ts';
import type { DefinitionObjects } from '../objects/index.ts';
import { hasRemovalFinalizer, removalFinalizer } from './removal-terms.ts';

export interface UnreadRemovalsOptions {
  readonly objects: Pick<DefinitionObjects, 'list' | 'whenKnown' | 'onKnown'>;
  readonly logger: Logger;
}

/** So many are named. */
const named = 3;

/**
 * Tells, where objects of definitions are no source, that some wait for a process that reads them before they go: nobody else would
 * say why a deletion hangs. Asks the server nothing.
 */
export class UnreadRemovals {
  readonly #options: UnreadRemovalsOptions;
  #isTold = false;

  constructor(options: UnreadRemovalsOptions) {
    this.#options = options;
  }

  /** For people. Undefined: none waits. */
  get warning(): string | undefined {
    const names = Array.from(this.#options.objects.list())
      .filter(hasRemovalFinalizer)
      .map(({ metadata }) => metadata.name)
      .sort();
    if (names.length === 0) return undefined;
    const others = names.length - named;
    const list = names.slice(0, named).join(', ') + (others > 0 ? ` and ${others} more` : '');
    return `OperatorDefinitions with the finalizer ${removalFinalizer} are not read here, and are not gone when deleted until a runtime with --sources objects has seen to them: ${list}`;
  }

  /** Says so once. Until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { objects } = this.#options;
    await objects.whenKnown(signal).catch(() => {});
    if (signal.aborted) return;
    this.#tell();
    const unsubscribe = objects.onKnown(() => this.#tell());
    await whenAborted(signal);
    unsubscribe();
  }

  #tell(): void {
    if (this.#isTold) return;
    const { warning } = this;
    if (warning === undefined) return;
    this.#isTold = true;
    this.#options.logger.warn({}, warning);
  }
}
