import { type Cluster, type Informer, KubeError } from '../../kube/roles.ts';
import type { Logger } from '../../telemetry/roles.ts';
import { backoffMs } from '../../util/backoff.ts';
import type { Clock } from '../../util/clock.ts';
import { failureFields } from '../../util/failure-fields.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { definitionGvk, isMirror } from '../objects/index.ts';
import type { WantedSet } from '../wanted-definition.ts';
import { setFinalizer } from './let-go.ts';
import { hasRemovalFinalizer, isAsking, termsIn } from './removal-terms.ts';

export interface RemovalFinalizersOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly logger: Logger;
}

const retry = { baseDelayMs: 1_000, maxDelayMs: 60_000 };

/**
 * Keeps our finalizer on the objects of definitions with which something goes, and on no others: so a user's deletion of one waits until
 * that is gone. An object that is being deleted is let go here only where nothing of it runs.
 */
export class RemovalFinalizers {
  readonly #options: RemovalFinalizersOptions;
  #wanted: WantedSet | undefined;
  #news = Promise.withResolvers<void>();

  constructor(options: RemovalFinalizersOptions) {
    this.#options = options;
  }

  /** What the sources say now. Called at every change of them, before or while {@link run} goes on. */
  show(wanted: WantedSet): void {
    this.#wanted = wanted;
    this.#news.resolve();
  }

  /** Until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { cluster, clock } = this.#options;
    const objects = cluster.acquire({ gvk: definitionGvk });
    const wake = () => this.#news.resolve();
    const unsubscribe = objects.subscribe(wake);
    signal.addEventListener('abort', wake, { once: true });
    try {
      let failures = 0;
      while (!signal.aborted) {
        this.#news = Promise.withResolvers();
        const failed = await this.#keepAll(objects, failures, signal);
        failures = failed ? failures + 1 : 0;
        const cancel = failed ? clock.after(backoffMs(failures, retry), wake) : undefined;
        if (!signal.aborted) await this.#news.promise;
        cancel?.();
      }
    } finally {
      signal.removeEventListener('abort', wake);
      unsubscribe();
      objects.release();
    }
  }

  /** True: something is to be tried again. */
  async #keepAll(objects: Informer, failures: number, signal: AbortSignal): Promise<boolean> {
    let hasFailed = false;
    for (const { object } of [...objects.list()]) {
      const isWanted = this.#isWanted(object);
      if (signal.aborted || isWanted === undefined || isWanted === hasRemovalFinalizer(object))
        continue;
      try {
        await setFinalizer(this.#options.cluster, { object, isWanted }, signal);
      } catch (error) {
        if (signal.aborted) return false;
        hasFailed = true;
        const isExpected = error instanceof KubeError && failures > 0;
        const about = { definition: object.metadata.name, ...failureFields(error) };
        const text = 'The finalizer of a definition cannot be changed, will retry';
        this.#options.logger[isExpected ? 'debug' : 'warn'](about, text);
      }
    }
    return hasFailed;
  }

  /** Undefined: it is not for us to say (now). */
  #isWanted(object: KubeObject): boolean | undefined {
    const { name, deletionTimestamp } = object.metadata;
    if (isMirror(object)) return false;
    const runs = this.#wanted?.definitions.some(
      ({ located, origin }) => located.definition.name === name && origin?.source === 'object',
    );
    if (deletionTimestamp === undefined) {
      // Of one that does not run nothing would go; whoever mends it gets the finalizer then.
      return runs === true ? isAsking(termsIn(object)) : undefined;
    }
    return this.#wanted?.lettingGo?.includes(name) === true ? false : undefined;
  }
}
