/**
 * The typed, frozen operator definition with all defaults filled in. Contract between definition, compile and
 * runtime. docs/definition/ specifies the format. Fields that are not supported yet are rejected earlier and are
 * not part of these types.
 */
import type { ConversionRules } from '#conversion';
import type { Gvk } from '#util/gvk.ts';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { LabelSelector } from '#util/label-selector.ts';

export interface OperatorDefinition {
  /** `metadata.name`, which identifies the definition: a DNS label. */
  readonly name: string;
  /** First 10 hex digits of the SHA-256 of the canonical `spec` with defaults. */
  readonly revision: string;
  readonly kind: ServedKind;
  readonly vars: Readonly<Record<string, Template>>;
  readonly reads: readonly ReadDefinition[];
  readonly children: readonly ChildDefinition[];
  /** Objects of the definition itself, at least one. @default undefined: none */
  readonly install?: readonly ChildDefinition[];
  /** How the versions of its own kind differ. @default undefined: by name only, or the author has a webhook */
  readonly conversions?: ConversionRules;
  /** Rules that the API server enforces. @default undefined: none */
  readonly admission?: AdmissionDefinition;
  /** @default undefined: only the children are deleted */
  readonly onDelete?: OnDeleteDefinition;
  /** Templates by status field, without the fields that Homeostat always writes. */
  readonly status: Readonly<Record<string, Template>>;
  /** @default undefined: only the status is reported */
  readonly reporting?: ReportingDefinition;
  /** @default undefined: resources are reconciled when something changes */
  readonly schedule?: ScheduleDefinition;
  /** When a resource deletes itself. @default undefined: never */
  readonly deleteAfter?: DeleteAfterDefinition;
  readonly controller: ControllerOptions;
  /** What happens to the children, and to objects of `install`, when a user deletes the definition. @default 'Retain' */
  readonly removalPolicy: RemovalPolicy;
}

/** Rules and defaults of a kind that the API server enforces, also while the runtime is down. At least one of both. */
export interface AdmissionDefinition {
  readonly rules: readonly AdmissionRule[];
  /** In the order in which they are set: a later one sees the values of earlier ones. */
  readonly defaults: readonly AdmissionDefault[];
  /** What happens to a request that breaks a rule. */
  readonly action: 'Deny' | 'Warn' | 'Audit';
  /** What happens if a rule or a default cannot be evaluated. @default 'Fail' for `crd`, 'Ignore' for `for` */
  readonly failurePolicy: 'Fail' | 'Ignore';
}

/** A value for a field that a request leaves out. */
export interface AdmissionDefault {
  /** The names of the fields that lead to it, and of keys in maps: at least one. */
  readonly steps: readonly string[];
  /** A CEL expression. */
  readonly value: string;
}

export interface AdmissionRule {
  /** A CEL expression that is true for a request that is permitted. */
  readonly rule: string;
  /** One line. */
  readonly message: string;
  /** At least one. @default ['Create', 'Update'] */
  readonly operations: readonly AdmissionOperation[];
  /** The field that the message is about, such as `spec.size`. @default undefined: none */
  readonly field?: string;
}

/** A request that a rule checks. */
export type AdmissionOperation = 'Create' | 'Update' | 'Delete';

/** A YAML tree as written. Its string leaves may contain expressions. */
export type Template = unknown;

/** The kind that the operator serves. */
export type ServedKind = CrdKind | ExistingKind;

/** A kind that the definition installs: the storage version of its CRD. */
export interface CrdKind {
  readonly source: 'crd';
  readonly gvk: Gvk;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
  /**
   * The complete CustomResourceDefinition to install, with the defaults of docs/definition/kind.md, the standard
   * status fields and the printer columns. The runtime adds the Homeostat label.
   */
  readonly crd: KubeObject;
  /** `openAPIV3Schema` of the storage version, as installed. */
  readonly schema: JsonObject;
  readonly crdPolicy: CrdPolicy;
}

/**
 * A kind that exists already (`for`): built in, or installed by someone else. Homeostat writes only the status fields
 * that the definition maps.
 */
export interface ExistingKind {
  readonly source: 'for';
  readonly gvk: Gvk;
  /** Scope and schema come from the API server. */
  readonly scope?: undefined;
  /** Labels that its resources must have. @default undefined: any */
  readonly selector?: LabelSelector;
  /** Annotations that its resources must have. @default undefined: any */
  readonly annotationSelector?: LabelSelector;
}

export interface CrdPolicy {
  /** Take over an existing CRD that lacks the Homeostat label. @default false */
  readonly adopt: boolean;
  /** What happens to the CRD, and with it to all resources, when a user deletes the definition. @default 'Retain' */
  readonly deletion: RemovalPolicy;
  /** Install CRD changes that break stored resources. @default false */
  readonly allowBreakingChanges: boolean;
}

/** What happens to an object when a user deletes the definition that created it. */
export type RemovalPolicy = 'Retain' | 'Delete';

export interface ReadDefinition {
  readonly id: string;
  readonly gvk: Gvk;
  /** By name (a template for a string or a list of them), or by selector. */
  readonly by:
    | { readonly kind: 'name'; readonly name: Template }
    /** `all` explicitly selects all objects of the kind; another text is a template for a whole selector. */
    | { readonly kind: 'selector'; readonly selector: SelectorTemplate | string };
  /** An absent object is a missing value, or left out of a list; otherwise expressions that use it wait. @default false */
  readonly optional: boolean;
  /** The namespaces to read from. */
  readonly from: ReadNamespaces;
  /** @default false */
  readonly crossNamespace: CrossNamespace;
  /** @default undefined: the objects are in the cluster of the resource */
  readonly placement?: PlacementDefinition;
  /** Earlier states of the objects are kept. @default undefined: they are not */
  readonly history?: HistoryDefinition;
}

/** Which states of the objects of a read are kept, and how long. */
export interface HistoryDefinition {
  /** Earlier versions of each object, 1 to 100. @default 10 */
  readonly keep: number;
  /** Dotted paths; a change of one of them creates a version. @default undefined: everything but `metadata` and `status` */
  readonly onChange?: readonly string[];
  /** How long versions of a deleted object are kept. @default 2_592_000_000 (30 days) */
  readonly keepDeletedMs: number;
}

/** The member cluster of a child or read. */
export interface PlacementDefinition {
  /** A template for the name of an object of kind `Cluster`. */
  readonly cluster: Template;
  /** The members that may be chosen. @default undefined: the literal one */
  readonly allowed?: ClusterSelector;
}

/** The namespaces of a read. Always `own` for cluster-scoped kinds, which have no namespace. */
export type ReadNamespaces =
  /** The namespace of the resource. */
  | { readonly kind: 'own' }
  /** A template for a name. */
  | { readonly kind: 'one'; readonly namespace: Template }
  /** A template for a list of names, or `*` for all namespaces. */
  | { readonly kind: 'list'; readonly namespaces: Template }
  | { readonly kind: 'selector'; readonly selector: SelectorTemplate };

/**
 * Whether namespaces other than the resource's are allowed. `true`: namespaces written as literals and selectors;
 * globs: also computed namespaces that match.
 */
export type CrossNamespace = boolean | { readonly namespaces: readonly string[] };

export interface SelectorTemplate {
  /** A map; its values or the whole map may be expressions. */
  readonly matchLabels?: Template;
  readonly matchExpressions?: Template;
}

/** How the objects of a child are updated and adopted. */
export interface ChildLifecycle {
  readonly updateStrategy: UpdateStrategy;
  /** Whether to adopt an existing object of that name that Homeostat did not create. @default 'Never' */
  readonly adopt: 'Never' | 'IfUnowned';
  /** The deletion policy of adopted objects. @default 'Orphan', unless `deletionPolicy: Delete` is written */
  readonly adoptedPolicy: 'Delete' | 'Orphan';
}

/** How a change of the template is applied to an existing object. */
export interface UpdateStrategy {
  /** @default 'Apply' */
  readonly type: 'Apply' | 'Recreate' | 'RecreateIfImmutable' | 'OnDelete';
  /** What happens to the dependents of an object that is recreated. @default undefined: 'Background' */
  readonly cascade?: Cascade;
  /** For `forEach`. @default undefined: all at once */
  readonly rollingUpdate?: RollingUpdate;
}

/** What happens to the dependents of a deleted object: deleted after it, deleted before it, or kept. */
export type Cascade = 'Background' | 'Foreground' | 'Orphan';

/** How many elements of `forEach` change at a time, and in which order. */
export interface RollingUpdate {
  /** A number, or a percentage of the elements: `25%`. @default 1, with {@link maxSurge} 0 */
  readonly maxUnavailable: number | string;
  /**
   * For elements that get other names: how many objects may exist beyond the number of elements, as a number or a percentage of it.
   * @default undefined: new ones are created, and earlier ones deleted, at once
   */
  readonly maxSurge?: number | string;
  /** Elements with a lower index keep the old template. @default 0 */
  readonly partition: number;
  /** @default 'Ascending' */
  readonly order: 'Ascending' | 'Descending';
}

export interface ChildDefinition extends ChildLifecycle {
  readonly id: string;
  /** With {@link kinds}, the first of them. */
  readonly gvk: Gvk;
  /** The kinds that the template may choose from, by its `apiVersion` and `kind`. @default undefined: one literal kind */
  readonly kinds?: readonly Gvk[];
  readonly template: Template;
  /** @default undefined: always created */
  readonly when?: Template;
  readonly forEach?: Template;
  /** Ids of children that must be ready first. @default [] */
  readonly after: readonly string[];
  /** Those of {@link after} of which only the element with the same key must be ready. @default undefined: none */
  readonly afterSame?: readonly string[];
  /** Expression over `$child`. @default undefined: readiness by kind */
  readonly ready?: Template;
  /** Expression for an element: while it is false, an existing object is not changed. @default undefined: changed at once */
  readonly gate?: Template;
  /**
   * Is an object that has finished created again when it is missing? @default undefined: not for a Job with
   * `ttlSecondsAfterFinished`
   */
  readonly runs?: 'Once' | 'Always';
  /** Fields that another manager changed: applied again, or left unchanged and reported. @default 'Force' */
  readonly conflicts: 'Force' | 'Report';
  /** Paths of fields that an existing object keeps. @default undefined: none */
  readonly leave?: readonly string[];
  /** Whether the object may be outside the resource's namespace. @default false */
  readonly crossNamespace: CrossNamespace;
  /** @default undefined: the object is in the cluster of the resource */
  readonly placement?: PlacementDefinition;
  /**
   * With `forEach`: element n+1 is created only when n is ready, and elements are deleted in reverse order. @default
   * false
   */
  readonly ordered: boolean;
  /** What happens to the object when the child is removed. @default 'Delete' */
  readonly deletionPolicy: 'Delete' | 'Orphan';
  /** Whether a changed definition may delete the object only with approval. @default undefined: decided by its kind */
  readonly holdsData?: boolean;
  /** When objects that are no longer desired are deleted. @default undefined: decided by its kind and name */
  readonly prune?: 'Immediately' | 'AfterReady';
  /** What happens to the dependents of the object when it is deleted. @default undefined: 'Background' */
  readonly cascade?: Cascade;
  /** Expression over `$child`: while it is false, the child is not deleted. @default undefined: deleted at once */
  readonly deleteWhen?: Template;
}

/** What happens when a resource is deleted. */
export interface OnDeleteDefinition {
  /** Created first; the deletion continues when they are ready. */
  readonly children: readonly ChildDefinition[];
  /** `Reverse`: dependents first, waiting for each to be deleted. `Parallel`: all at once. @default 'Reverse' */
  readonly order: 'Reverse' | 'Parallel';
  /** Counted from the deletion. @default 600_000 */
  readonly timeoutMs: number;
  /** @default 'Wait' */
  readonly onTimeout: 'Wait' | 'Continue';
}

/** A resource is deleted this long after a time. Without one of the values it is kept. */
export interface DeleteAfterDefinition {
  /** A template for a duration. */
  readonly ttl: Template;
  /** A template for a time. */
  readonly since: Template;
}

/** Members whose labels match; `all`: every member. */
export type ClusterSelector = LabelSelector | 'all';

export interface ControllerOptions {
  /** The members in which the operator runs. @default undefined: in the cluster of the runtime only */
  readonly clusters?: { readonly selector: ClusterSelector };
  /** @default undefined: all namespaces */
  readonly namespaces?: ServedNamespaces;
  /** Resources reconciled at the same time. @default 10 */
  readonly concurrency: number;
  /** @default 36_000_000 (10 h) */
  readonly resyncMs: number;
  readonly retry: {
    /** @default 5 */
    readonly initialMs: number;
    /** @default 1_000_000 */
    readonly maxMs: number;
    /** Delay after a permanent failure. @default 600_000 */
    readonly permanentMs: number;
  };
  readonly rollout: RolloutOptions;
  readonly limits: ReconcileLimits;
}

/** Limits of one reconcile. A resource that exceeds them fails without affecting others. */
export interface ReconcileLimits {
  /** Evaluation steps. @default 1_000_000 */
  readonly steps: number;
  /** Bytes of everything rendered for the resource, as JSON. @default 67_108_864 (64 MiB) */
  readonly memoryBytes: number;
  /** CPU time of evaluations, in ms. A last resort, because it depends on the machine. @default 1_000 */
  readonly cpuMs: number;
}

/** How a changed definition is rolled out to existing resources. */
export interface RolloutOptions {
  /** Resources per second; 0: all at once. @default 50 */
  readonly perSecond: number;
  /** The rollout stops when this many resources fail because of it; 1 or more. @default 10 */
  readonly stopAfterFailures: number;
  /** If more objects than this would be deleted, none is deleted until a user approves it. @default 10 */
  readonly maxDeletions: number;
}

/**
 * Conditions, Events, patches and schedules. Part of the contract of operator-definition.ts.
 */
/** The *reporting* phase (docs/definition/reporting.md) without `status`. Order and indexes are those of the document. */
export interface ReportingDefinition {
  readonly conditions: readonly ConditionDefinition[];
  readonly events: readonly EventDefinition[];
  readonly patches: readonly PatchDefinition[];
  /** A template for a duration or a missing value. @default undefined: never */
  readonly requeueAfter?: Template;
  /** `schedule.cron` with an expression: each resource has its own schedule, or none. @default undefined: see {@link ScheduleDefinition} */
  readonly cron?: { readonly expression: Template; readonly timeZone: string } | undefined;
}

export interface ConditionDefinition {
  /** Not a standard condition type. */
  readonly type: string;
  readonly status: Template;
  /** @default undefined: derived from the type and the status */
  readonly reason?: Template;
  /** @default undefined: none */
  readonly message?: Template;
}

export interface EventDefinition {
  readonly when: Template;
  /** @default 'Normal' */
  readonly type: 'Normal' | 'Warning';
  readonly reason: Template;
  /** @default undefined: none */
  readonly message?: Template;
}

export interface PatchDefinition {
  readonly id: string;
  /** @default undefined: always */
  readonly when?: Template;
  /** A list, with a target for each element. @default undefined: one target */
  readonly forEach?: Template;
  /** @default undefined: the resource itself */
  readonly target?: PatchTarget;
  /** The fields to set. One expression for the whole map only for a recorded object. */
  readonly patch: Template;
  /** Create the target if it does not exist. @default false */
  readonly create: boolean;
  /** The patch is sent once for each value, and not without a value. @default undefined: whenever fields differ */
  readonly once?: Template;
  /** Fields that the patch does not set are removed. @default undefined: false */
  readonly replace?: true;
  /** It deletes the target instead of setting fields. @default undefined: false */
  readonly delete?: true;
  /** It sets only the status of the target, through its subresource. @default undefined: false */
  readonly status?: true;
  /** It is sent once, in the deletion of the resource. @default undefined: in each reconcile */
  readonly atDeletion?: true;
  /** It has `conflicts` or `withdraw`. @default undefined: it takes its fields by force and leaves them for ever */
  readonly owned?: PatchOwnership;
  /** @default false */
  readonly crossNamespace: CrossNamespace;
}

/** How a patch that has a field manager for each resource owns its fields (docs/decisions/0034). */
export interface PatchOwnership {
  readonly conflicts: 'Report' | 'Force';
  /** Whether its fields are removed when it no longer applies. */
  readonly withdraws: boolean;
}

export interface PatchTarget {
  /** Undefined: the kind is computed, see {@link ComputedKind}. */
  readonly gvk?: Gvk;
  /** Only for a recorded object. */
  readonly computed?: ComputedKind;
  readonly name: Template;
  /** @default undefined: the resource's namespace */
  readonly namespace?: Template;
}

/** Templates for the kind of a recorded object. */
export interface ComputedKind {
  readonly apiVersion: Template;
  readonly kind: Template;
}

/** When each resource is reconciled without a change. */
export interface ScheduleDefinition {
  /** Reconcile at least this often. @default undefined */
  readonly everyMs?: number;
  /** Reconcile all resources at these times. @default undefined */
  readonly cron?: { readonly expression: string; readonly timeZone: string };
}

/** Globs of the namespaces whose resources are reconciled. */
export interface ServedNamespaces {
  /** Only these. @default undefined: all */
  readonly include?: readonly string[];
  /** Not these. @default [] */
  readonly exclude: readonly string[];
}
