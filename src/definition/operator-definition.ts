/**
 * The typed, frozen operator definition with all defaults filled in. CONTRACT between definition, compile and runtime.
 * The format is specified in docs/definition.md; fields whose behaviour comes later are refused before they get here and have no place in these types yet.
 */
import type { Gvk } from '../util/gvk.ts';
import type { JsonObject } from '../util/json.ts';
import type { KubeObject } from '../util/kube-object.ts';
import type { LabelSelector } from '../util/label-selector.ts';
import type {
  ReportingDefinition,
  ScheduleDefinition,
  ServedNamespaces,
} from './reporting-definition.ts';

export interface OperatorDefinition {
  /** `metadata.name`: the definition's identity, a DNS label. */
  readonly name: string;
  /** First 10 hex digits of the SHA-256 of the canonical `spec` with defaults. */
  readonly revision: string;
  readonly kind: ServedKind;
  readonly vars: Readonly<Record<string, Template>>;
  readonly reads: readonly ReadDefinition[];
  readonly children: readonly ChildDefinition[];
  /** @default undefined: nothing besides removing the children */
  readonly onDelete?: OnDeleteDefinition;
  /** Templates by status field; never one of the fields that are always written. */
  readonly status: Readonly<Record<string, Template>>;
  /** @default undefined: nothing besides the status */
  readonly reporting?: ReportingDefinition;
  /** @default undefined: resources run when something changes */
  readonly schedule?: ScheduleDefinition;
  readonly controller: ControllerOptions;
  /** What becomes of the children when a user deletes the definition. @default 'Retain' */
  readonly removalPolicy: RemovalPolicy;
}

/** A YAML tree whose string leaves may hold expressions, as written. */
export type Template = unknown;

/** The kind that the operator serves. */
export type ServedKind = CrdKind | ForeignKind;

/** A kind that the definition brings with it: the storage version of its CRD. */
export interface CrdKind {
  readonly source: 'crd';
  readonly gvk: Gvk;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
  /** The complete CustomResourceDefinition to install: defaults of definition.md section 1 filled in, standard status fields and printer columns added; our label is added by the runtime. */
  readonly crd: KubeObject;
  /** `openAPIV3Schema` of the storage version, as installed. */
  readonly schema: JsonObject;
  readonly crdPolicy: CrdPolicy;
}

/** A kind that exists already (`for`): built in, or installed by somebody else. Nothing but what is mapped is written into its status. */
export interface ForeignKind {
  readonly source: 'for';
  readonly gvk: Gvk;
  /** Its scope and its schema are the server's to tell. */
  readonly scope?: undefined;
  /** Labels that its resources must have. @default undefined: whatever they have */
  readonly selector?: LabelSelector;
  /** The same for annotations. @default undefined */
  readonly annotationSelector?: LabelSelector;
}

export interface CrdPolicy {
  /** Take over a CRD that exists and does not carry our label. @default false */
  readonly adopt: boolean;
  /** What becomes of the CRD, and with it of all resources, when a user deletes the definition. @default 'Retain' */
  readonly deletion: RemovalPolicy;
  /** Install also what breaks stored resources. @default false */
  readonly allowBreakingChanges: boolean;
}

/** What becomes of something when a user deletes the definition that it came with. */
export type RemovalPolicy = 'Retain' | 'Delete';

export interface ReadDefinition {
  readonly id: string;
  readonly gvk: Gvk;
  /** By name (a template that gives a string), or by selector. */
  readonly by:
    | { readonly kind: 'name'; readonly name: Template }
    /** `selector: all` is an empty selector said on purpose. */
    | { readonly kind: 'selector'; readonly selector: SelectorTemplate | 'all' };
  /** Absent is a missing value instead of something to wait for. @default false */
  readonly optional: boolean;
  /** Which namespaces are looked into. */
  readonly from: ReadNamespaces;
  /** @default false */
  readonly crossNamespace: CrossNamespace;
}

/** Where a read looks. Cluster-scoped kinds have no namespace: it is always `own` then. */
export type ReadNamespaces =
  /** The resource's own. */
  | { readonly kind: 'own' }
  /** A template that gives a name. */
  | { readonly kind: 'one'; readonly namespace: Template }
  /** A template that gives a list of names, or `*` for all there are. */
  | { readonly kind: 'list'; readonly namespaces: Template }
  | { readonly kind: 'selector'; readonly selector: SelectorTemplate };

/** May it leave the resource's namespace? `true`: where the definition says so in so many words; globs: also to computed ones that they match. */
export type CrossNamespace = boolean | { readonly namespaces: readonly string[] };

export interface SelectorTemplate {
  /** A map whose values (or the whole map) may be expressions. */
  readonly matchLabels?: Template;
  readonly matchExpressions?: Template;
}

/** How the objects of a child come, change and are taken over. */
export interface ChildLife {
  readonly updateStrategy: UpdateStrategy;
  /** What becomes of an object of that name that we did not make. @default 'Never' */
  readonly adopt: 'Never' | 'IfUnowned';
  /** The deletion policy of what was taken over. @default 'Orphan', unless `deletionPolicy: Delete` is written */
  readonly adoptedPolicy: 'Delete' | 'Orphan';
}

/** How a change of the template reaches an object that exists. */
export interface UpdateStrategy {
  /** @default 'Apply' */
  readonly type: 'Apply' | 'Recreate' | 'OnDelete';
  /** For `forEach`. @default undefined: all at once */
  readonly rollingUpdate?: RollingUpdate;
}

/** How many elements change at a time, and which. */
export interface RollingUpdate {
  /** A number, or a percentage of the elements: `25%`. @default 1 */
  readonly maxUnavailable: number | string;
  /** Elements below this index keep what they have. @default 0 */
  readonly partition: number;
  /** @default 'Ascending' */
  readonly order: 'Ascending' | 'Descending';
}

export interface ChildDefinition extends ChildLife {
  readonly id: string;
  readonly gvk: Gvk;
  readonly template: Template;
  /** @default undefined: always wanted */
  readonly when?: Template;
  readonly forEach?: Template;
  /** Ids that must be ready first. @default [] */
  readonly after: readonly string[];
  /** Expression over `$child`. @default undefined: readiness by kind */
  readonly ready?: Template;
  /** @default 'Force' */
  readonly conflicts: 'Force' | 'Report';
  /** May it be outside of the resource's namespace? @default false */
  readonly crossNamespace: CrossNamespace;
  /** With `forEach`: one after the other, removed from the last. @default false */
  readonly ordered: boolean;
  /** What becomes of the object when the child goes. @default 'Delete' */
  readonly deletionPolicy: 'Delete' | 'Orphan';
  /** Expression over `$child`: while false, a child that is to go stays. @default undefined: it goes at once */
  readonly deleteWhen?: Template;
}

/** What happens when a resource is deleted. */
export interface OnDeleteDefinition {
  /** Made first; the deletion goes on when they are ready. */
  readonly children: readonly ChildDefinition[];
  /** Dependents first, each waited for, or all at once. @default 'Reverse' */
  readonly order: 'Reverse' | 'Parallel';
  /** From the deletion on. @default 600_000 */
  readonly timeoutMs: number;
  /** @default 'Wait' */
  readonly onTimeout: 'Wait' | 'Continue';
}

export interface ControllerOptions {
  /** @default undefined: all namespaces */
  readonly namespaces?: ServedNamespaces;
  /** Resources worked on at once. @default 10 */
  readonly concurrency: number;
  /** @default 36_000_000 (10 h) */
  readonly resyncMs: number;
  readonly retry: {
    /** @default 5 */
    readonly initialMs: number;
    /** @default 1_000_000 */
    readonly maxMs: number;
    /** How long a permanent failure waits. @default 600_000 */
    readonly permanentMs: number;
  };
  readonly rollout: RolloutOptions;
  readonly limits: ReconcileLimits;
}

/** What one reconcile may use; beyond it the resource fails, and no other one is disturbed. */
export interface ReconcileLimits {
  /** Steps of all its evaluations. @default 1_000_000 */
  readonly steps: number;
  /** Bytes of all that is rendered for the resource, as JSON. @default 67_108_864 (64 MiB) */
  readonly memoryBytes: number;
  /** CPU time of its evaluations, in ms: the last resort, as it depends on the machine. @default 1_000 */
  readonly cpuMs: number;
}

/** How a changed definition reaches the resources that exist. */
export interface RolloutOptions {
  /** Resources per second; 0: all at once. @default 50 */
  readonly perSecond: number;
  /** So many resources that fail with it stop it; 1 or more. @default 10 */
  readonly stopAfterFailures: number;
  /** If more objects than this would be deleted, none is until that is approved. @default 10 */
  readonly maxDeletions: number;
}
