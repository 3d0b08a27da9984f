import type { LocatedDefinition } from '#definition';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import type { InstallView } from '../definition-view.ts';
import { liveStatus } from '../recorded-state.ts';
import type { Decision } from './decide.ts';

/** What is done with the objects of a definition itself (`install`). */
export type InstallTask =
  /** They are as the accepted revision desires; others are deleted. */
  | {
      readonly kind: 'apply';
      readonly located: LocatedDefinition;
      readonly approvedDeletions?: string | undefined;
    }
  /** A user deletes the definition with what it created. */
  | { readonly kind: 'remove'; readonly located: LocatedDefinition }
  /** They stay as they are. */
  | { readonly kind: 'keep' };

/** Manages the objects of definitions themselves. */
export interface InstallTasks {
  /** Changes the task. Returns at once. */
  want(name: string, task: InstallTask): void;
  /** Why the objects cannot be managed; undefined: they are, or nothing is to be done. */
  problemOf(name: string): string | undefined;
  /** Whether no object of a definition is left that is to be removed. */
  isDone(name: string): boolean;
  /** Stops the work on a definition; resolves when it has ended. */
  forget(name: string): Promise<void>;
}

/** What a definition has of `install`. */
interface Installed {
  readonly object: KubeObject;
  /** The revision that the status records. Undefined: none. */
  readonly accepted: LocatedDefinition | undefined;
}

/** Whether a definition has or had objects of its own. Pure. */
export function hasInstall({ object, accepted }: Installed): boolean {
  return accepted?.definition.install !== undefined || statusOfInstall(object) !== undefined;
}

interface InstallContext extends Installed {
  readonly decision: Decision;
  /** Whether the status contains the accepted revision. */
  readonly isRecorded: boolean;
  /** Whether everything else that is deleted with the definition is deleted. */
  readonly isRemoved: boolean;
}

/** Decides what is done with the objects of a definition itself. Undefined: what was done so far. Pure. */
export function installTaskOf({
  decision,
  accepted,
  isRecorded,
  isRemoved,
}: InstallContext): InstallTask | undefined {
  if (decision.kind === 'run') {
    if (!isRecorded || accepted === undefined) return undefined;
    const { approvedDeletions } = decision.desired;
    return { kind: 'apply', located: accepted, approvedDeletions };
  }
  if (decision.kind !== 'finalize' || decision.uninstall?.policy.children !== true)
    return { kind: 'keep' };
  // The children may need them.
  return isRemoved ? { kind: 'remove', located: decision.uninstall.located } : { kind: 'keep' };
}

/** Why the objects of a definition are not as it desires. Undefined: they are. Pure. */
export function installViewOf(
  { object, accepted }: Installed,
  problem: string | undefined,
): InstallView | undefined {
  if (problem !== undefined) return { reason: 'InstallFailing', message: problem, isStuck: true };
  const status = statusOfInstall(object);
  const isDesired = accepted?.definition.install !== undefined;
  if (status === undefined || status.definitionRevision !== accepted?.definition.revision)
    return isDesired
      ? { reason: 'Installing', message: 'Applying the objects of "install"', isStuck: false }
      : undefined;
  const conditions = conditionsOf({ status });
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (ready === undefined || ready.status === 'True') return undefined;
  const isStuck = conditions.some(({ type, status: is }) => type === 'Stalled' && is === 'True');
  const message = String(ready.message);
  if (ready.reason === 'DeletionsHeld')
    return { reason: 'DeletionsHeld', message: `install: ${message}`, isStuck: true };
  return { reason: 'InstallNotReady', message: `${String(ready.reason)}: ${message}`, isStuck };
}

/** `status.install`; undefined: there is none. */
export function statusOfInstall(object: KubeObject): JsonObject | undefined {
  const { install } = liveStatus(object);
  return isJsonObject(install) ? install : undefined;
}
