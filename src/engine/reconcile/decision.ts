/** The decision record of a pass, as data. Status, Events, metrics, logs and tests read it; none of them recomputes it. */
export interface ChildDecision {
  readonly childId: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  /** The member cluster. @default undefined: the cluster of the resource, or unknown */
  readonly cluster?: string;
  /** Empty if it could not be rendered. */
  readonly name: string;
  /** Its place and name may come from a Secret, and no object has them: they are shown nowhere. @default false */
  readonly isNameless?: boolean;
  readonly verdict: Verdict;
  /** As in `status.children`. */
  readonly state: 'Ready' | 'Progressing' | 'Waiting' | 'Failed' | 'Deleting';
  /** For people: stable text without times or random parts, never the value of a Secret. */
  readonly message: string;
  /** 1-based line of the child in its definition. */
  readonly line: number;
}

export type Verdict =
  | { readonly kind: 'created' }
  | { readonly kind: 'applied'; readonly fields: readonly string[] }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'waiting'; readonly on: readonly string[] }
  /** Another owner has an object of that name. */
  | { readonly kind: 'conflict'; readonly owner: string }
  /** Not desired, and it does not exist. */
  | { readonly kind: 'omitted' }
  | { readonly kind: 'pruned' }
  /** It is not desired, is kept, and no longer belongs to Homeostat. */
  | { readonly kind: 'released' }
  /** Its deletion is on hold. `deferred`: it follows by itself, when others are ready. */
  | { readonly kind: 'held'; readonly deferred?: { readonly losesData: boolean } }
  /** `code` of the KubeError or RenderFailure. */
  | { readonly kind: 'failed'; readonly code: string; readonly permanent: boolean };

export interface DecisionRecord {
  readonly children: readonly ChildDecision[];
  /** Ids of the patches that changed something. @default []: none */
  readonly patched?: readonly string[];
  /** What happened to the status. `superseded`: another pass follows and reports; `deleted`: the resource no longer exists. */
  readonly status: 'written' | 'unchanged' | 'superseded' | 'deferred' | 'failed' | 'deleted';
  /** The condition `Ready`. */
  readonly isReady: boolean;
  /** Codes of all KubeErrors and RenderFailures of the resource and its children; the reason of problems without a code. */
  readonly problemCodes: readonly string[];
}
