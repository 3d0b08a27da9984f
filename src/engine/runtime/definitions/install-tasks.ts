import type { LocatedDefinition } from '#definition';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import type { OwnPart } from '#util/stored-names.ts';
import type { InstallView } from '../definition-view.ts';
import { liveStatus } from '../recorded-state.ts';
import type { Decision } from './decide.ts';

/** What is done with the objects of a definition itself: those of `install`, or the policies of `admission`. */
export type InstallTask =
  /** They are as the accepted revision desires; others are deleted. */
  | {
      readonly kind: 'apply';
      readonly located: LocatedDefinition;
      readonly approvedDeletions?: string | undefined;
    }
  /** A user deletes the definition with these objects. Without `located`, only objects on record are found. */
  | { readonly kind: 'remove'; readonly located?: LocatedDefinition }
  /** They stay as they are. */
  | { readonly kind: 'keep' };

/** Why the objects of a definition itself are not managed. */
export interface InstallProblem {
  readonly message: string;
  /** Some of them wait, and it passes. @default false: it is a failure */
  readonly isWaiting?: boolean;
}

/** Manages the objects of definitions themselves. */
export interface InstallTasks {
  /** Changes the task. Returns at once. */
  want(name: string, part: OwnPart, task: InstallTask): void;
  /** Why the objects cannot be managed; undefined: they are, or nothing is to be done. */
  problemOf(name: string, part: OwnPart): InstallProblem | undefined;
  /** Whether no object of a definition is left that is to be removed. */
  isDone(name: string, part: OwnPart): boolean;
  /** Stops the work on a definition; resolves when it has ended. */
  forget(name: string): Promise<void>;
}

/** What a definition has of `install`. */
interface Installed {
  readonly object: KubeObject;
  /** The revision that the status records. Undefined: none. */
  readonly accepted: LocatedDefinition | undefined;
}

/** The parts of a definition that have objects of their own. */
export const ownParts: readonly OwnPart[] = ['install', 'admission'];

/** Whether a definition has or had objects of its own. Pure. */
function hasOwn(part: OwnPart, { object, accepted }: Installed): boolean {
  return accepted?.definition[part] !== undefined || statusOfOwn(object, part) !== undefined;
}

interface InstallContext extends Installed {
  readonly decision: Decision;
  /** Whether the status contains the accepted revision. */
  readonly isRecorded: boolean;
  /** Whether everything else that is deleted with the definition is deleted. */
  readonly isRemoved: boolean;
}

/** Decides what is done with the objects of a definition itself. Undefined: what was done so far. Pure. */
export function installTaskOf(part: OwnPart, context: InstallContext): InstallTask | undefined {
  const { decision, accepted, isRecorded } = context;
  if (!hasOwn(part, context)) return undefined;
  if (decision.kind === 'run') {
    if (!isRecorded || accepted === undefined) return undefined;
    const { approvedDeletions } = decision.desired;
    return { kind: 'apply', located: accepted, approvedDeletions };
  }
  return part === 'install' ? endOfInstall(context) : endOfAdmission(context);
}

function endOfInstall({ decision, isRemoved }: InstallContext): InstallTask {
  if (decision.kind !== 'finalize' || decision.uninstall?.policy.children !== true)
    return { kind: 'keep' };
  // The children may need them.
  return isRemoved ? { kind: 'remove', located: decision.uninstall.located } : { kind: 'keep' };
}

/**
 * Policies end with the definition, whatever its `removalPolicy` is: nothing would remove them later. They are kept where the user orphans
 * everything.
 */
function endOfAdmission({ decision }: InstallContext): InstallTask {
  const isEnd = decision.kind === 'finalize' && decision.reason === 'Deleted';
  return isEnd && decision.isAbandoned !== true && decision.isPaused !== true
    ? { kind: 'remove' }
    : { kind: 'keep' };
}

const views = {
  install: {
    what: 'the objects of "install"',
    reasons: { applying: 'Installing', failing: 'InstallFailing', notReady: 'InstallNotReady' },
  },
  admission: {
    what: 'the policies of "admission"',
    reasons: {
      applying: 'ApplyingAdmission',
      failing: 'AdmissionFailing',
      notReady: 'AdmissionNotReady',
    },
  },
} as const;

/** What the status of a definition shows of all its own objects. */
export function installViewsOf(
  installed: Installed,
  problemOf: (part: OwnPart) => InstallProblem | undefined,
): Partial<Record<OwnPart, InstallView>> {
  return Object.fromEntries(
    ownParts.flatMap((part) => {
      if (!hasOwn(part, installed)) return [];
      const view = installViewOf(part, installed, problemOf(part));
      return view === undefined ? [] : [[part, view] as const];
    }),
  );
}

/** Why the objects of a definition are not as it desires. Undefined: they are. Pure. */
function installViewOf(
  part: OwnPart,
  { object, accepted }: Installed,
  problem: InstallProblem | undefined,
): InstallView | undefined {
  const { what, reasons } = views[part];
  if (problem !== undefined) {
    const { message, isWaiting = false } = problem;
    const reason = isWaiting ? reasons.applying : reasons.failing;
    return { reason, message, isStuck: !isWaiting };
  }
  const status = statusOfOwn(object, part);
  const isDesired = accepted?.definition[part] !== undefined;
  if (status === undefined || status.definitionRevision !== accepted?.definition.revision)
    return isDesired
      ? { reason: reasons.applying, message: `Applying ${what}`, isStuck: false }
      : undefined;
  const conditions = conditionsOf({ status });
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (ready === undefined || ready.status === 'True') return undefined;
  const isStuck = conditions.some(({ type, status: is }) => type === 'Stalled' && is === 'True');
  const message = String(ready.message);
  if (ready.reason === 'DeletionsHeld')
    return { reason: 'DeletionsHeld', message: `${part}: ${message}`, isStuck: true };
  return { reason: reasons.notReady, message: `${String(ready.reason)}: ${message}`, isStuck };
}

/** `status.install` or `status.admission`; undefined: there is none. */
export function statusOfOwn(object: KubeObject, part: OwnPart): JsonObject | undefined {
  const { [part]: status } = liveStatus(object);
  return isJsonObject(status) ? status : undefined;
}
