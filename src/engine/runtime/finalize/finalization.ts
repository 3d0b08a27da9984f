import type { OperatorDefinition } from '#definition';
import { type GroupKind, groupKindKey } from '#util/gvk.ts';
import { messageOf } from '#util/homeostat-error.ts';
import { whenAborted } from '#util/when-aborted.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { FinalizeTask } from '../definitions/decide.ts';
import type { UninstallRequest } from '../desired-definition.ts';
import type { RecordedKinds } from '../recorded-state.ts';
import type { ViewListener } from '../view-change-notifier.ts';
import { retryUntilDone } from '../waits.ts';
import type { FinalizeOptions } from './finalize-kind.ts';
import { abandonResources, finalizeKinds } from './finalize-kinds.ts';
import { uninstall } from './uninstall.ts';

export interface FinalizationOptions extends FinalizeOptions {
  readonly listener: ViewListener;
  /** Kinds of all resources and children, current and previous. */
  readonly kinds: () => RecordedKinds;
}

const pausedMessage = 'Paused by annotation homeostat.dev/paused';

/** Finalizes or uninstalls a definition that does not run. */
export class Finalization {
  readonly #options: FinalizationOptions;
  #progress = '';
  #remaining = 0;
  #isCounting = true;
  #isDone = false;
  /** Uninstalling has ended; resources that are left are finalized. */
  #isUninstalled = false;

  constructor(options: FinalizationOptions) {
    this.#options = options;
  }

  /** Whether it is complete. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Number of resources with the definition's finalizer. */
  get remaining(): number {
    return this.#remaining;
  }

  /** Whether they have not been counted yet. */
  get isCounting(): boolean {
    return this.#isCounting;
  }

  /** The reason of the task, and the last error. */
  stateFor({ uninstall: request, message, rejection }: FinalizeTask): DefinitionView['state'] {
    const progress = this.#progress;
    if (request !== undefined && !this.#isUninstalled)
      return { kind: 'uninstalling', message: progress };
    if (rejection !== undefined) return { kind: 'rejected', ...rejection };
    return { kind: 'finalizing', message: progress === '' ? message : `${message}: ${progress}` };
  }

  /** Runs until it is complete or the signal aborts. Never rejects. */
  async run(task: FinalizeTask, signal: AbortSignal): Promise<void> {
    const { name, listener } = this.#options;
    if (task.isPaused) this.#progress = pausedMessage;
    listener.changed();
    const finalize = async () => {
      await this.#finalize(task, signal);
      this.#isDone = true;
      this.#isCounting = false;
      listener.awaited();
    };
    await retryUntilDone(finalize, {
      ...this.#options,
      signal,
      message: 'Definition cannot be finalized, will retry',
      fields: { definition: name },
      onFailure: (error) => {
        this.#progress = messageOf(error);
        listener.changed();
      },
    });
  }

  async #finalize(task: FinalizeTask, signal: AbortSignal): Promise<void> {
    const { isAbandoned = false, isPaused = false } = task;
    let kinds = this.#options.kinds();
    if (isAbandoned) await abandonResources({ ...this.#options, kinds }, signal);
    if (task.uninstall !== undefined) {
      if (isPaused) await whenAborted(signal);
      kinds = await this.#uninstall(task.uninstall, signal);
    }
    const onRemaining = (remaining: number, isCounted: boolean) =>
      this.#setRemaining(remaining, isCounted);
    await finalizeKinds({ ...this.#options, kinds, isPaused, onRemaining }, signal);
  }

  /** @returns the kinds of resources that are left: they have our finalizer until they are deleted */
  async #uninstall(request: UninstallRequest, signal: AbortSignal): Promise<RecordedKinds> {
    signal.throwIfAborted();
    const onProgress = (message: string, remaining: number) => {
      this.#progress = message;
      this.#setRemaining(remaining, true);
    };
    const kinds = this.#options.kinds();
    const options = { ...this.#options, ...request, childKinds: kinds.children, onProgress };
    const isKindDeleted = await uninstall(options, signal);
    this.#isUninstalled = true;
    this.#progress = '';
    this.#options.listener.changed();
    return isKindDeleted
      ? splitKinds(this.#options.kinds(), request.located.definition).others
      : kinds;
  }

  #setRemaining(remaining: number, isCounted: boolean): void {
    const isCounting = this.#isCounting && !isCounted;
    if (remaining === this.#remaining && isCounting === this.#isCounting) return;
    this.#remaining = remaining;
    this.#isCounting = isCounting;
    this.#options.listener.changed();
  }
}

/** Splits recorded kinds into the kind of the definition and previous ones. Pure. */
export function splitKinds(
  { resources, children }: RecordedKinds,
  { kind }: OperatorDefinition,
): { readonly own: RecordedKinds; readonly others: RecordedKinds } {
  const isOwn = (each: GroupKind) => groupKindKey(each) === groupKindKey(kind.gvk);
  return {
    own: { resources: resources.filter(isOwn), children },
    others: { resources: resources.filter((each) => !isOwn(each)), children },
  };
}
