import type { LocatedDefinition } from '#definition';
import { isJsonObject } from '#util/json.ts';
import type {
  DesiredDefinition,
  Rejection,
  UninstallPolicy,
  UninstallRequest,
} from '../desired-definition.ts';
import type { Confirmation } from '../publish/publication.ts';
import type { OriginState } from '../publish/publish-plan.ts';
import type { DefinitionRecord } from './record.ts';
import type { SpecResult } from './spec-reader.ts';

/** What this process does for a definition. */
export type DefinitionTask =
  /** Nothing yet: the desired revision is not known. */
  | { readonly kind: 'wait'; readonly message: string }
  | { readonly kind: 'run'; readonly desired: DesiredDefinition; readonly stopInMs?: number }
  | FinalizeTask;

/** Only finalizes resources that are being deleted, until no resource has the finalizer. */
export interface FinalizeTask {
  readonly kind: 'finalize';
  /** `Rejected`: the manifest has errors, and no revision was accepted before. */
  readonly reason: 'NotRead' | 'Rejected' | 'Withdrawn' | 'Deleted';
  readonly message: string;
  /** Set if the reason is `Rejected`. */
  readonly rejection?: Rejection;
  /** Deletes what it created first: a user deletes it with the definition. @default undefined: nothing is deleted */
  readonly uninstall?: UninstallRequest;
  /** Removes the finalizer from all resources first, and orphans them. @default false */
  readonly isAbandoned?: boolean;
  /** Does nothing while true. @default false */
  readonly isPaused?: boolean;
}

/** The decision for one definition. */
export type Decision =
  | DefinitionTask
  /** It belongs to another runtime, or needs no work. */
  | { readonly kind: 'ignore' }
  /** Remove the finalizer from the object at once. */
  | { readonly kind: 'release' };

export interface DecideOptions {
  readonly record: DefinitionRecord;
  /** Name of this runtime. */
  readonly runtime: string;
  /** Whether the runtime runs `OperatorDefinition` objects that users create. */
  readonly readsObjects: boolean;
  /** Parses the `spec`. Called only for an object that a user created. */
  readonly readSpec: () => SpecResult;
  /** The manifest that the object was published from. Undefined: the object differs from its manifest. */
  readonly confirmation: Confirmation | undefined;
  /** State of the manifest's origin. Undefined: the sources have not been read. */
  readonly originState: OriginState | undefined;
  /** Whether a manifest declares that name. */
  readonly hasManifest: boolean;
  /** The accepted revision, then others that resources may have. */
  readonly recorded: readonly LocatedDefinition[];
  readonly nowMs: number;
  /** Whether this process has run it. A definition that was withdrawn before is not started again. */
  readonly hasRun: boolean;
  /** How long a definition keeps running after its manifest is removed, in ms. */
  readonly stopDelayMs: number;
}

/** Decides what to do for a definition. Pure. */
export function decide(options: DecideOptions): Decision {
  const { record, runtime, readsObjects } = options;
  if (record.runtime !== undefined && record.runtime !== runtime) return { kind: 'ignore' };
  const isPublished = record.origin.source !== 'object' || hasLostSourceLabel(options);
  if (record.isDeleted) return decideDeleted(options, isPublished);
  if (isPublished) return decidePublished(options);
  if (readsObjects) return decideUserObject(options);
  const message = 'This runtime does not read definitions from objects; add "objects" to --sources';
  return finalize(record, 'NotRead', message);
}

/** Reads from the object what is deleted together with the definition. Pure. */
function uninstallPolicyOf({ object, origin }: DefinitionRecord): UninstallPolicy {
  const spec = isJsonObject(object.spec) && origin.source === 'object' ? object.spec : {};
  const policy = isJsonObject(spec.crdPolicy) ? spec.crdPolicy : {};
  return {
    children: spec.removalPolicy === 'Delete',
    crd: spec.crd !== undefined && policy.deletion === 'Delete',
  };
}

/** Whether the source label was removed; the publisher restores it while the manifest exists. */
function hasLostSourceLabel({ record, runtime, originState, hasManifest }: DecideOptions): boolean {
  const isOurs = record.sourceRef !== undefined && record.runtime === runtime;
  return isOurs && (originState === undefined || hasManifest);
}

function decideDeleted(
  { record, hasManifest, readsObjects, readSpec: read, recorded }: DecideOptions,
  isPublished: boolean,
): Decision {
  // The manifest exists: the publisher recreates the object, and the definition keeps running.
  if (isPublished && hasManifest) return { kind: 'release' };
  if (!record.hasFinalizer) return { kind: 'ignore' };
  const finalizing = finalize(record, 'Deleted', 'Being deleted');
  if (isPublished) return finalizing;
  const policy = uninstallPolicyOf(record);
  const located = recorded[0] ?? read().located;
  const isAsking = policy.children || policy.crd;
  if (!isAsking || !readsObjects || located === undefined || record.isAbandoned) return finalizing;
  const sinceMs = Date.parse(record.object.metadata.deletionTimestamp ?? '');
  return { ...finalizing, uninstall: { policy, located, sinceMs } };
}

function decidePublished(options: DecideOptions): Decision {
  const { record, confirmation, originState, recorded, hasManifest, hasRun } = options;
  const { withdrawnAtMs, rejected, origin } = record;
  const isUnreadable = originState === 'unknown' && !hasManifest;
  if (confirmation !== undefined && !isUnreadable)
    return run(options, { located: confirmation.located, warnings: confirmation.warnings });
  if (withdrawnAtMs !== undefined) {
    const leftMs = withdrawnAtMs + options.stopDelayMs - options.nowMs;
    if (leftMs <= 0 || !hasRun || recorded[0] === undefined)
      return finalize(record, 'Withdrawn', withdrawnMessage(record));
    return { ...run(options, { located: recorded[0] }), stopInMs: leftMs };
  }
  if (originState === undefined)
    return { kind: 'wait', message: `Reading its manifest (${origin.source} ${origin.ref})` };
  if (originState === 'elsewhere' && !hasManifest) {
    const message = `Its manifest is in ${origin.source} ${origin.ref}, which this runtime does not read; if it no longer exists, delete the OperatorDefinition`;
    return finalize(record, 'NotRead', message);
  }
  if (originState === 'read' && !hasManifest && !hasRun)
    return finalize(record, 'Withdrawn', withdrawnMessage(record));
  // The publisher will publish it, revert an edit, or mark it as withdrawn.
  const isAwaited = rejected.length === 0 && (hasManifest || originState === 'read');
  const [accepted] = recorded;
  if (isAwaited)
    return accepted === undefined
      ? { kind: 'wait', message: 'Publishing' }
      : run(options, { located: accepted });
  const message = rejected.length > 0 ? 'Its manifest has errors' : 'Its manifest cannot be read';
  const rejection: Rejection = { message, diagnostics: rejected };
  if (accepted === undefined) return reject(record, rejection);
  return run(options, { located: accepted, rejection });
}

function decideUserObject(options: DecideOptions): Decision {
  const { record, recorded, readSpec: read } = options;
  const { located, errors, warnings } = read();
  if (located !== undefined) return run(options, { located, warnings });
  const rejection: Rejection = { message: errors[0] ?? 'It has errors', diagnostics: errors };
  return recorded[0] === undefined
    ? reject(record, rejection)
    : run(options, { located: recorded[0], rejection });
}

function run(
  { record, recorded }: DecideOptions,
  said: Pick<DesiredDefinition, 'located' | 'rejection' | 'warnings'>,
): Extract<Decision, { kind: 'run' }> {
  const { isPaused, approvedDeletions } = record;
  return {
    kind: 'run',
    desired: {
      ...said,
      previous: recorded,
      ...(isPaused && { isPaused }),
      ...(approvedDeletions !== undefined && { approvedDeletions }),
    },
  };
}

/** The newest revision is rejected, and there is no accepted one to run. Pure. */
export function reject(record: DefinitionRecord, rejection: Rejection): FinalizeTask {
  return { ...finalize(record, 'Rejected', rejection.message), rejection };
}

function finalize(
  { isAbandoned, isDeleted, isPaused }: DefinitionRecord,
  reason: FinalizeTask['reason'],
  message: string,
): FinalizeTask {
  const isReleased = isAbandoned && isDeleted;
  return {
    kind: 'finalize',
    reason,
    message,
    ...(isReleased && { isAbandoned: true }),
    ...(isPaused && !isReleased && { isPaused: true }),
  };
}

function withdrawnMessage({ origin }: DefinitionRecord): string {
  return `Its manifest in ${origin.source} ${origin.ref} was removed: the definition is stopped, its resources and their children are orphaned`;
}
