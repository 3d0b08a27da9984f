import type { LocatedDefinition } from '#definition';

/** Where the manifest of a definition is stored. */
export interface DefinitionOrigin {
  readonly source: 'configmap' | 'directory' | 'object';
  /**
   * Shown to users and in the annotation `homeostat.dev/source-ref`: `namespace/name/key` of a ConfigMap, a path, or the name of an object.
   */
  readonly ref: string;
}

/** Why a revision was rejected. */
export interface Rejection {
  /** The rejected revision. Undefined: it cannot be determined. */
  readonly revision?: string;
  readonly message: string;
  /** `file:line:column: message. Hint`, one each. */
  readonly diagnostics: readonly string[];
}

/** What is deleted together with a definition that a user deletes, from its newest revision. */
export interface UninstallPolicy {
  /** Delete the children of all its resources (`removalPolicy: Delete`). */
  readonly children: boolean;
  /** Delete its CRD, and with it the resources (`crdPolicy.deletion: Delete`). */
  readonly crd: boolean;
}

/** A deletion of a definition with what it created. */
export interface UninstallRequest {
  readonly policy: UninstallPolicy;
  readonly located: LocatedDefinition;
  /** Start of the deletion, in ms since the epoch. */
  readonly sinceMs: number;
}

/** A definition to run: an accepted revision, or one that will be accepted when it is prepared. */
export interface DesiredDefinition {
  /** The newest valid revision: the last valid one while a later one is rejected. */
  readonly located: LocatedDefinition;
  /** Why the newest revision is rejected; `located` is then an older one. @default undefined */
  readonly rejection?: Rejection;
  /** Warnings of the accepted revision: `file:line:column: message. Hint`, one each. */
  readonly warnings?: readonly string[];
  /**
   * Previously accepted revisions (`status.revisions`), newest first; may include `located`. Used when the cluster rejects `located`, and
   * for resources that the roll-out has not reached. @default none
   */
  readonly previous?: readonly LocatedDefinition[];
  /** The revision whose deletions a user has approved (`homeostat.dev/approve-deletions`). @default undefined: none */
  readonly approvedDeletions?: string;
  /** Paused, deletions included (`homeostat.dev/paused: "true"` on the definition). @default false */
  readonly isPaused?: boolean;
}

/** The origin as a string: `configmap ns/name/key`. Pure. */
export function originText({ source, ref }: DefinitionOrigin): string {
  return source === 'object' ? source : `${source} ${ref}`;
}

export function isSameOrigin(a: DefinitionOrigin, b: DefinitionOrigin): boolean {
  return a.source === b.source && a.ref === b.ref;
}

/** A key of a ConfigMap. */
interface ConfigMapKey {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}

/** Parses `namespace/name/key`; undefined for other origins. Pure. */
export function configMapKeyOf({ source, ref }: DefinitionOrigin): ConfigMapKey | undefined {
  const [namespace, name, key] = ref.split('/');
  if (source !== 'configmap' || namespace === undefined || name === undefined) return undefined;
  return { namespace, name, key: key ?? '' };
}
