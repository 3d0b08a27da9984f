/**
 * The decision record of a pass, as data. Status, Events, metrics, logs, and later `plan`, `explain` and the tests read this record; nothing recomputes it. CONTRACT.
 */
export interface ChildDecision {
  readonly childId: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  /** Empty when it could not be rendered. */
  readonly name: string;
  readonly verdict: Verdict;
  /** What stands in `status.children`. */
  readonly state: 'Ready' | 'Progressing' | 'Waiting' | 'Failed' | 'Deleting';
  /** For people; stable text without times or random parts; never a Secret's value. */
  readonly message: string;
  /** 1-based line of the child in its definition. */
  readonly line: number;
}

export type Verdict =
  | { readonly kind: 'created' }
  | { readonly kind: 'applied'; readonly fields: readonly string[] }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'waiting'; readonly on: readonly string[] }
  /** An object of that name that is not ours. */
  | { readonly kind: 'conflict'; readonly owner: string }
  /** Not wanted, and not there. */
  | { readonly kind: 'unwanted' }
  | { readonly kind: 'pruned' }
  /** It is not wanted and stays, no longer ours. */
  | { readonly kind: 'released' }
  /** It is to go, and stays for now. */
  | { readonly kind: 'held' }
  /** `code` of the KubeError or RenderFailure. */
  | { readonly kind: 'failed'; readonly code: string; readonly permanent: boolean };

export interface DecisionRecord {
  readonly children: readonly ChildDecision[];
  /** Ids of the patches that changed something. @default []: none */
  readonly patched?: readonly string[];
  /** Was the status written, and why not else. `overtaken`: there is news, so the next pass tells; `gone`: nothing to report on. */
  readonly status: 'written' | 'unchanged' | 'overtaken' | 'failed' | 'gone';
  /** The condition `Ready`. */
  readonly isReady: boolean;
  /** Code of the KubeError or RenderFailure of everything that stands in the way, of children and of the rest; else its reason. */
  readonly problemCodes: readonly string[];
}
