import type { Diagnostic } from '#definition';
import type { FieldChange } from './field-changes.ts';

/** What a definition would do to a cluster. Never contains a value of a Secret. */
export interface DefinitionPlan {
  readonly definition: string;
  readonly revision: string;
  /** Set: the cluster would reject the definition, and what runs would continue. */
  readonly rejection?: { readonly message: string; readonly diagnostics: readonly Diagnostic[] };
  /** The change of its CustomResourceDefinition on the hub. Undefined: none, or the kind is that of `for`. */
  readonly crd?: PlannedChange;
  /** The changes of its CustomResourceDefinition in the members that it runs in. @default undefined: none */
  readonly memberCrds?: readonly PlannedChange[];
  /** All resources of the kind, by namespace and name. */
  readonly resources: readonly ResourcePlan[];
  /** Set: more objects would be deleted than `maxDeletions` allows, or some that hold data, so that none is until a user approves. */
  readonly heldDeletions?: HeldDeletions;
  /** Set: stored objects break rules that the cluster does not enforce yet. They stay as they are until they change. */
  readonly brokenRules?: BrokenRules;
  /** Failing informers and missing rights, for people. Not empty: the plan may be incomplete. */
  readonly problems: readonly string[];
}

export interface BrokenRules {
  /** Number of objects. */
  readonly count: number;
  /** The first of them. */
  readonly objects: readonly {
    readonly kind: string;
    readonly namespace?: string;
    readonly name: string;
    /** The messages of the rules. */
    readonly message: string;
  }[];
  /** Messages of rules that are known in a request only, or that only an API server can evaluate. @default none */
  readonly unchecked?: readonly string[];
}

export interface HeldDeletions {
  readonly count: number;
  readonly maxDeletions: number;
  /** Those of them that hold data. @default undefined: none */
  readonly withData?: number;
}

export interface ResourcePlan {
  /** Name of the member cluster that it is in. @default undefined: it is on the hub */
  readonly cluster?: string;
  readonly kind: string;
  /** Undefined: cluster-scoped. */
  readonly namespace?: string;
  readonly name: string;
  readonly changes: readonly PlannedChange[];
  /** Children that would wait or fail, and why. */
  readonly unresolved: readonly UnresolvedChild[];
}

/** `replace`: deleted and created again. */
export type PlannedAction = 'create' | 'change' | 'replace' | 'delete';

export interface PlannedChange {
  readonly action: PlannedAction;
  /** Name of the member cluster. @default undefined: the object is on the hub */
  readonly cluster?: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** For `delete` and `replace`: the object holds data. @default undefined: it holds none */
  readonly losesData?: true;
  /** For `delete`: the object is kept until all children, or its successors, are ready (`prune: AfterReady`, `maxSurge`). @default undefined: it is deleted at once */
  readonly isLater?: true;
  /** Empty for `delete`, and where only internal metadata changes. */
  readonly fields: readonly FieldChange[];
}

export interface UnresolvedChild {
  /** Id of the child. */
  readonly child: string;
  readonly state: 'Waiting' | 'Failed';
  readonly message: string;
  /** 1-based line of the child in its definition. */
  readonly line: number;
}
