import type { ServerUnreachable } from '#kube/roles.ts';
import type { MigrationView, VersionView } from './crd/version-view.ts';
import type { Rejection } from './desired-definition.ts';
import type { RolloutView } from './rollout/rollout-view.ts';

/** State of a definition, for health checks, logs and its status. */
type DefinitionState =
  /** Installs the CRD and compiles the plan; `message` is the current step or what it waits for. */
  | { readonly kind: 'starting'; readonly message: string }
  /** The API server does not serve the kind of `for`; starts automatically when it does (`KindAvailable=False`). */
  | { readonly kind: 'waiting'; readonly message: string }
  /** The informers are listing for the first time. */
  | { readonly kind: 'syncing' }
  | { readonly kind: 'running' }
  /** Rejected, not failed: for example a CRD of another owner, or fields that are not in the server's schemas. */
  | { readonly kind: 'rejected'; readonly message: string; readonly diagnostics: readonly string[] }
  /** Does not run; only finalizes resources that are being deleted. `message` is the reason. */
  | { readonly kind: 'finalizing'; readonly message: string }
  /** A user deletes it with the objects it created; `message` is what it waits for. */
  | { readonly kind: 'uninstalling'; readonly message: string }
  /** Failed, will retry. */
  | {
      readonly kind: 'failing';
      readonly message: string;
      /** A missing right is the cause; the message names it. @default undefined: another cause */
      readonly isForbidden?: true;
    };

/** State of a definition in the members that it selects. */
export interface ClustersSummary {
  readonly selected: number;
  readonly running: number;
  /** Names of selected members that cannot be reached, sorted. */
  readonly unreachable: readonly string[];
  /** Selected members where it does not run, sorted by name. */
  readonly failing: readonly ClusterFailure[];
}

export interface ClusterFailure {
  readonly cluster: string;
  /** CamelCase. */
  readonly reason: string;
  readonly message: string;
}

/** Why the objects of a definition itself (`install`, `admission`) are not as it desires. */
export interface InstallView {
  /** CamelCase. */
  readonly reason:
    | 'Installing'
    | 'InstallFailing'
    | 'InstallNotReady'
    | 'ApplyingAdmission'
    | 'AdmissionFailing'
    | 'AdmissionNotReady'
    | 'DeletionsHeld';
  readonly message: string;
  /** Whether a user must act. */
  readonly isStuck: boolean;
}

/** What a definition counts: its parts in several clusters are summed up. */
export interface DefinitionCounts {
  /** Number of its resources. */
  readonly instances: number;
  /** Number of ready resources. @default undefined: not counted */
  readonly readyInstances?: number;
  /** Objects that no longer match the edited selector and keep their children. */
  readonly orphaned: number;
  /** Resources in the work queue. */
  readonly queued: number;
  /** Some of its resources have not been counted since the process began. @default undefined */
  readonly isCounting?: true;
  /** @default undefined: every resource has the current revision */
  readonly rollout?: RolloutView;
}

/** A newer revision that is being prepared. */
export interface NextRevision {
  readonly revision: string;
  /** The current step, or what it waits for. */
  readonly message: string;
  /** The step changes versions of the kind, which may take minutes. @default undefined: another step */
  readonly changesVersions?: true;
}

export interface DefinitionView extends DefinitionCounts {
  readonly name: string;
  readonly revision: string;
  /** API version of its kind. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly state: DefinitionState;
  /** Watches that fail: `Secret: ...forbidden...`. */
  readonly problems: readonly string[];
  /** Missing rights among the problems. @default none */
  readonly missingRights?: readonly string[];
  /** Why a newer revision is rejected while this one keeps running. @default undefined */
  readonly rejection?: Rejection;
  /** @default undefined: none */
  readonly next?: NextRevision;
  /** Paused by a user. @default undefined */
  readonly isPaused?: true;
  /** Active revisions, newest first. @default undefined: none */
  readonly activeRevisions?: readonly string[];
  /** @default undefined: it runs in the cluster of this runtime */
  readonly clusters?: ClustersSummary;
  /** It is starting in some of the members. @default undefined */
  readonly isSettling?: true;
  /** @default undefined: its own objects are as it desires, or it has none */
  readonly install?: InstallView;
  /** @default undefined: its policies are as it desires, or it has none */
  readonly admission?: InstallView;
  /** @default undefined: nothing converts between versions of its kind */
  readonly versions?: readonly VersionView[];
  /** @default undefined: all resources are stored in the storage version */
  readonly migration?: MigrationView;
}

/** A file with errors. */
export interface RejectedFile {
  readonly file: string;
  /** `file:line:column: message. Hint`, by position. */
  readonly diagnostics: readonly string[];
}

export interface RuntimeView {
  /** Undefined while the API server answers and accepts the credentials. */
  readonly unreachable: ServerUnreachable | undefined;
  /** Whether the process is shutting down. */
  readonly isStopping: boolean;
  readonly definitions: readonly DefinitionView[];
  /** Files with errors whose definitions have no object. */
  readonly rejected: readonly RejectedFile[];
  /** Identity of the leader while this process is a follower. @default undefined: this process leads, or the leader is unknown */
  readonly leader?: string;
  /** Sources that have not been read yet, with the reason if known. @default none */
  readonly unreadSources?: readonly string[];
  /** Degraded functions while everything runs, for example Events that cannot be written. */
  readonly warnings: readonly string[];
}

/** Whether the definition, or one of its member clusters, does not run yet and is not known to fail. */
export function isStarting({
  state: { kind },
  isSettling,
}: Pick<DefinitionView, 'state' | 'isSettling'>): boolean {
  return isSettling === true || kind === 'starting' || kind === 'syncing';
}

/** Whether the policies of a definition are not applied yet: requests do not meet them. */
export function hasPendingPolicies({ admission }: Pick<DefinitionView, 'admission'>): boolean {
  return admission?.reason === 'ApplyingAdmission';
}

/** Numbers of resources in the work queues, by definition. */
export function queuesOf({
  definitions,
}: Pick<RuntimeView, 'definitions'>): Readonly<Record<string, number>> {
  return Object.fromEntries(definitions.map(({ name, queued }) => [name, queued]));
}
