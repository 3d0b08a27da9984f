/**
 * The compiled form of a definition, and how a reconcile renders it. Contract between compile, reconcile and runtime.
 * Immutable and shared: many reconciles use one plan concurrently, each with its own Phase.
 */
import type {
  ChildDefinition,
  OnDeleteDefinition,
  OperatorDefinition,
  PlacementDefinition,
  ReadDefinition,
} from '#definition';
import type { FieldSteps } from '#util/field-path.ts';
import type { Gvk } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { LabelSelector } from '#util/label-selector.ts';
import type { TimeFlips, WorkBudget } from './language/index.ts';
import type { ClusterScope } from './language/leaf.ts';
import type { ReportingPlan } from './reporting-plan.ts';
import type { SchemaType } from './schema/schema-type.ts';
import type { ManifestExample } from './template/example.ts';

export interface OperatorPlan {
  /** The definition's name. */
  readonly name: string;
  readonly revision: string;
  readonly definition: OperatorDefinition;
  /** The file that places in messages name. @default undefined: the definition comes from an object */
  readonly file?: string | undefined;
  /** Undefined: the scope of a `for` kind is unknown. */
  readonly scope: 'Namespaced' | 'Cluster' | undefined;
  /** The type of the resource, compiled from its CRD schema, or from the server's schema for a `for` kind. */
  readonly resourceType: SchemaType;
  /** Secrecy of the resource, including its status. */
  readonly secrecy: Secrecy;
  readonly reads: readonly ReadPlan[];
  /** In definition order. */
  readonly children: readonly ChildPlan[];
  /**
   * The children in the order of application: each tier depends only on earlier tiers (`children.x` references and
   * `after`).
   */
  readonly tiers: readonly (readonly ChildPlan[])[];
  /** Ids of the children that any expression reads under `observed`. */ readonly observed: readonly string[];
  /** How many objects a resource may have. @default 2_000 */
  readonly maxObjects?: number;
  /** What to do when a resource is being deleted. @default undefined: the children are deleted */
  readonly onDelete?: OnDeletePlan;
  /** Whether resources need the Homeostat finalizer (docs/definition/deletion.md#finalizers). */
  readonly needsFinalizer: boolean;
  /**
   * Status fields that expressions outside `status` read (`status.phase`). When Homeostat writes one of them, it
   * reconciles the resource again.
   */
  readonly statusPathsRead: readonly FieldPath[];
  /**
   * For a `for` kind: status fields of the resource that any expression reads (`status.readyReplicas`) and other
   * controllers write. Empty for a CRD kind.
   */
  readonly externalStatusPathsRead: readonly FieldPath[];
  /** Versions of read objects. @default undefined: none are kept */
  readonly history?: HistoryPlan;
  /** Conditions, Events and patches. @default undefined: none */
  readonly reporting?: ReportingPlan;
  /** The objects of the definition itself, as the children of a resource that stands for it. @default undefined: none */
  readonly install?: OperatorPlan;
  /** Its admission policies, as these children. Only kinds and names are reliable. @default undefined: none */
  readonly admission?: OperatorPlan;
  /** Examples of the manifests of each child, for checks. @default undefined: the plan renders nothing */
  readonly exampleManifests?: () => readonly ChildExamples[];
  /** Starts a phase of a reconcile. Cheap; never shared between reconciles. */
  startPhase(input: PhaseInput): Phase;
}

/**
 * The part of an object that may contain values of a Secret, which messages must not quote: nothing; its content but
 * not its open metadata (name, labels, ...); all of it. Derived from the definition alone.
 */
export type Secrecy = 'none' | 'content' | 'all';

/** Field names into an object, without list indexes: `['status', 'readyReplicas']`. The empty path is the whole object. */
export type FieldPath = readonly string[];

/** How a definition keeps versions of the objects that it reads. */
export interface HistoryPlan {
  /** Whether an expression reads `history`: then a new version triggers a reconcile. */
  readonly isRead: boolean;
  /** The kinds that store versions: Secrets those of Secrets, ControllerRevisions all others. */
  readonly recordKinds: readonly Gvk[];
  /** Whether versions may be in another namespace than the resource, where it cannot own them. */
  readonly isDetached: boolean;
}

/** An entry of `history` in expressions: an earlier state of an object. */
export interface HistoryEntry {
  /** Id of the read. */
  readonly read: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** Omitted for cluster-scoped kinds. */
  readonly namespace?: string;
  readonly name: string;
  /** From 1 on. */
  readonly version: number;
  /** When it was recorded: ISO 8601 in UTC. */
  readonly time: string;
  /** What ended the state. */
  readonly reason: 'Changed' | 'Deleted';
  /** The object without status and what the server writes. */
  readonly object: KubeObject;
}

export interface ReadPlan
  extends Pick<ReadDefinition, 'id' | 'gvk' | 'optional'>,
    Partial<Pick<ReadDefinition, 'history'>> {
  /** `names`: a list of names. */
  readonly by: 'name' | 'names' | 'selector';
  /** For `name` and `names`: the names that all resources read, where no name is computed. */
  readonly literalNames?: readonly string[];
  /** For `name` and `names`: the namespaces that it can read from, where the definition names all of them. */
  readonly namespaces?: readonly string[];
  /**
   * For `selector`: the label selector of the watch. Literal pairs are kept, a computed value becomes "key exists":
   * `app=podSet,podSet_cr`. Undefined: the whole kind is watched.
   */
  readonly watchSelector?: string;
  /** For `selector`: a label key with a computed value, by which lists are indexed; undefined: lists are scanned. */
  readonly indexKey?: string;
  /** Paths of the read objects that any expression uses; `[[]]` is the whole object. */
  readonly pathsRead: readonly FieldPath[];
  /** The namespaces of this read: the resource's own, others by name, or (`wide`) all or by a namespace selector. */
  readonly reach: 'own' | 'named' | 'wide';
  /** Whether there is a `namespaceSelector`, so that Namespaces must be watched. */
  readonly selectsNamespaces: boolean;
  /** Secrecy of the read objects; `all`: also of the request. */
  readonly secrecy: Secrecy;
  /** See {@link ReadDefinition.placement}. */
  readonly placement?: PlacementDefinition;
  /** The objects represent member clusters. @default false */
  readonly isOfClusters?: boolean;
}

/** What to do when a resource is being deleted. */
interface OnDeletePlan extends Omit<OnDeleteDefinition, 'children'> {
  /** In definition order. */
  readonly children: readonly ChildPlan[];
  /** See {@link OperatorPlan.tiers}. */
  readonly tiers: readonly (readonly ChildPlan[])[];
}

/** The definition of a child and the analysis of its templates. */
export interface ChildPlan extends ChildDefinition {
  /**
   * With {@link ChildDefinition.kinds}, the plan for each kind: they differ in what depends on the kind. @default undefined: the kind is
   * literal
   */
  readonly variants?: readonly ChildPlan[];
  /** Whether it has `forEach`. */
  readonly isList: boolean;
  readonly hasReady: boolean;
  /** @default false */
  readonly hasGate?: boolean;
  /** Children that its `when`, `forEach`, template or `gate` read. */
  readonly childrenRead: readonly string[];
  /** Reads that its `when`, `forEach`, template or `gate` use. */
  readonly readsUsed: readonly string[];
  /** Children that its `when`, `forEach`, template or `gate` read under `observed`, possibly itself. */
  readonly childrenObserved: readonly string[];
  readonly hasDeleteWhen: boolean;
  /** {@link ChildDefinition.leave}, parsed. @default undefined: none */
  readonly left?: readonly FieldSteps[];
  /** Is it possible that its objects run once (`runs`)? Each object decides. @default false */
  readonly mayRunOnce?: boolean;
  /** Whether objects that are no longer desired are deleted only when all children are ready. @default false */
  readonly prunesAfterReady?: boolean;
  /**
   * The child has no owner reference, only Homeostat labels. Homeostat deletes it, and the resource has the Homeostat
   * finalizer.
   */
  readonly isDetached: boolean;
  /** With `placement` and `forEach`: the element alone decides the cluster, so no element moves to another one. @default false */
  readonly isPlacedByItem?: boolean;
  readonly secrecy: Secrecy;
  /** The schema of the kind; undefined: the server publishes none (objects are compared as written). */
  readonly type: SchemaType | undefined;
  /**
   * Paths of this child that any expression of the definition uses, including `ready` and `status`. `[[]]` is the
   * whole object.
   */
  readonly pathsRead: readonly FieldPath[];
  /**
   * Paths of this child that expressions outside `status` and `ready` use (other children, vars they use).
   * Homeostat's own writes to these paths trigger a reconcile.
   */
  readonly pathsReadByOthers: readonly FieldPath[];
  /**
   * Paths of this child that expressions outside `status` read under `observed`. Homeostat's own writes to these
   * paths trigger a reconcile.
   */
  readonly pathsObserved: readonly FieldPath[];
  /** 1-based line of the child in its file, for the decision record. */
  readonly line: number;
  /** `file:line:column`, for messages. Undefined: the definition comes from an object. */
  readonly place: string | undefined;
}

/** Manifests that a child may have. They differ in the values of its expressions. */
export interface ChildExamples {
  /** Id of the child. */
  readonly child: string;
  readonly examples: readonly ManifestExample[];
}

/** The value of `children.<id>`, `observed.<id>` or `reads.<id>` in expressions. */
export type ExpressionInput =
  | {
      readonly state: 'present';
      readonly value: KubeObject | readonly KubeObject[];
      /** Its name in messages: `Secret "a"`. @default undefined: messages do not name it */
      readonly label?: string;
    }
  /** Not available yet: expressions that read it wait. `on` is its name in messages: `children.database`. */
  | { readonly state: 'waiting'; readonly on: string }
  /**
   * Does not exist (not desired, or an optional read): a missing value. `why` continues `Missing value "children.web.status"`: `"when" of
   * child "web" is false`. For a read that is not optional: its name in messages.
   */
  | { readonly state: 'absent'; readonly why?: string }
  /** *Reporting* only: a part is in a member cluster that cannot be read now. What depends on it keeps its last value. */
  | { readonly state: 'unknown' };

export interface PhaseInput {
  /**
   * `wanting`: an expression waits for unavailable children and reads. `reporting`: unavailable values are missing,
   * nothing waits.
   */
  readonly phase: 'wanting' | 'reporting';
  /** The custom resource, the root of every expression. */
  readonly resource: KubeObject;
  /** Initial values; other ids are waiting until {@link Phase.setRead} or {@link Phase.setChild}. */
  readonly children?: ReadonlyMap<string, ExpressionInput>;
  readonly reads?: ReadonlyMap<string, ExpressionInput>;
  /** Current objects by child, including those being deleted. `waiting`: not read yet; ids without an entry are waiting. */
  readonly observed?: ReadonlyMap<string, ExpressionInput>;
  /** The versions, sorted; undefined: not read yet, expressions wait. Ignored if the definition keeps none. */
  readonly history?: readonly HistoryEntry[];
  /** `$previous`. @default undefined: missing */
  readonly previous?: KubeObject;
  /** `$now()`, constant during the reconcile: ISO 8601 in UTC. */
  readonly now: string;
  /** `$randomString(n)`. */
  readonly randomText: (length: number) => string;
  /** `$clusterOf(object)`, by the identity of the object. @default every object is in the cluster of the resource */
  readonly clusterOf?: (object: object) => string | undefined;
  /** `$cluster`. */
  readonly cluster: ClusterScope;
  /**
   * Limits on computation and memory, shared by all phases of the reconcile. @default a separate budget for each
   * evaluation
   */
  readonly budget?: WorkBudget;
  /** Collects when results change that depend on the present, shared by all phases of the reconcile. @default undefined: nothing asks */
  readonly flips?: TimeFlips;
}

/** When a resource deletes itself, in ms since the epoch, and why. */
export interface DeletionTime {
  readonly atMs: number;
  /** For people: `1h after 2026-01-01T00:00:00Z`. Undefined: the values may come from a Secret. */
  readonly text: string | undefined;
}

/** The result of an evaluation. */
export type Rendered<T> =
  | { readonly kind: 'value'; readonly value: T }
  /** No result; the table in docs/definition/expressions.md#missing-values defines its meaning. */
  | {
      readonly kind: 'missing';
      /** Why, for people. @default undefined: its field is optional, or nothing asked */
      readonly why?: string;
    }
  /** Names of the values it waits for: `children.database`, `reads.credentials`. */
  | { readonly kind: 'waiting'; readonly on: readonly string[] }
  | { readonly kind: 'failed'; readonly failure: RenderFailure };

/** Why a template could not be rendered. The message is stable and contains no values of Secrets. */
export interface RenderFailure {
  readonly code:
    | 'missing-value'
    | 'wrong-type'
    | 'evaluation-failed'
    /** One evaluation exceeded a limit. */
    | 'limit-reached'
    /** One evaluation, or everything rendered for the resource, exceeded the memory limit. */
    | 'too-large'
    /** The reconcile exceeded its steps or CPU time. */
    | 'budget-exceeded'
    | 'invalid-manifest';
  /** `Expected an integer at spec.replicas, found "abc"`. */
  readonly message: string;
  /**
   * Field within the child's manifest (or `when`, `forEach`, `ready`, `status.nodes`):
   * `spec.template.spec.containers[0].image`.
   */
  readonly field: string;
  /** `file:line:column` of the expression. @default undefined: the definition comes from an object */
  readonly place?: string;
}

/** The rendered request of a read. Labels are resolved. */
export type ReadRequest =
  | {
      readonly by: 'name';
      readonly name: string;
      /** Undefined: the namespace of the resource. */
      readonly namespace?: string;
      readonly cluster?: string;
    }
  | {
      readonly by: 'names';
      /** In the order of the result, without duplicates. */
      readonly names: readonly string[];
      /** Undefined: the namespace of the resource. */
      readonly namespace?: string;
      readonly cluster?: string;
    }
  | {
      readonly by: 'selector';
      /** `none`: a selector without a value selects nothing. */
      readonly selector: LabelSelector | 'none';
      readonly scope: ReadScope;
      /** The member cluster. Undefined: the cluster of the resource. */
      readonly cluster?: string;
    };

/** The namespaces that a list is read from. `allowed`: globs that namespaces must also match; others are not read. */
export type ReadScope =
  | { readonly kind: 'own' }
  /** Sorted, without duplicates; all are allowed. */
  | { readonly kind: 'named'; readonly namespaces: readonly string[] }
  | { readonly kind: 'all'; readonly allowed?: readonly string[] }
  | {
      readonly kind: 'selected';
      readonly selector: LabelSelector;
      readonly allowed?: readonly string[];
    };

export interface Element {
  readonly item: unknown;
  readonly index: number;
}

/**
 * One phase of one reconcile. Vars are evaluated on first use and cached for the phase, unless they waited for a
 * value that has since been set. Results are plain JSON copies, never references into the cache. Methods may be
 * called concurrently.
 */
export interface Phase {
  /** Sets or updates a child after its tier was applied. */
  setChild(id: string, seen: ExpressionInput): void;
  setRead(id: string, seen: ExpressionInput): void;
  /** Sets the current objects of a child. Vars that used an earlier value are evaluated again. */
  setObserved(id: string, seen: ExpressionInput): void;
  /** The request of a read: a name or a selector. */
  readRequest(id: string): Promise<Rendered<ReadRequest>>;
  /** Evaluates `when` of the child; `true` if it has none. A missing value is `failed`. */
  when(childId: string): Promise<Rendered<boolean>>;
  /** The elements of `forEach`; without `forEach` a single element with an undefined item. */
  elements(childId: string): Promise<Rendered<readonly Element[]>>;
  /** The name of the member cluster of one element; only for children with `placement`. Missing is `failed`. */
  cluster(childId: string, element: Element): Promise<Rendered<string>>;
  /** The kind of the objects; only for children with `variants`, and one of theirs (else `failed`). */
  kind(childId: string): Promise<Rendered<Gvk>>;
  /**
   * The manifest of one element, coerced to the schema of the child. `metadata.name` is a non-empty string (else
   * `failed`). The caller adds owner reference, labels and namespace. `kind`: of the variant.
   */
  manifest(childId: string, element: Element, kind?: Gvk): Promise<Rendered<KubeObject>>;
  /**
   * Only the name of one element, to report an element whose manifest cannot be rendered. Missing: the name is
   * invalid or cannot be rendered separately.
   */
  name(childId: string, element: Element): Promise<Rendered<string>>;
  /** Evaluates `ready` over `$child`; only for children that define it. Missing means false. */
  ready(childId: string, child: KubeObject, element: Element): Promise<Rendered<boolean>>;
  /** May an existing object of the element be changed? Only for children with `gate`. Missing means false. */
  gate(childId: string, element: Element): Promise<Rendered<boolean>>;
  /** Evaluates `deleteWhen` over `$child`; only for children that define it. Missing means false. */
  deleteWhen(childId: string, child: KubeObject): Promise<Rendered<boolean>>;
  /** When the resource is to be deleted; missing: it is kept. Only for definitions with `deleteAfter`. */
  deletionTime(): Promise<Rendered<DeletionTime>>;
  /**
   * The mapped status fields with a result, and the failures. Missing fields are omitted (lists become `[]`), see
   * docs/definition/expressions.md#missing-values.
   */
  status(): Promise<{
    readonly fields: Readonly<Record<string, unknown>>;
    readonly failures: readonly RenderFailure[];
    /** Fields that depend on an `unknown` input: they keep their last values. @default none */
    readonly kept?: readonly string[];
  }>;
}
