/**
 * What a definition compiles to, and how a pass renders with it. CONTRACT between compile, reconcile and runtime.
 * Immutable and shared: many passes render with one plan at once, each through a Phase of its own.
 */
import type {
  CrossNamespace,
  OnDeleteDefinition,
  OperatorDefinition,
  UpdateStrategy,
} from '../definition/index.ts';
import type { Gvk } from '../util/gvk.ts';
import type { KubeObject } from '../util/kube-object.ts';
import type { LabelSelector } from '../util/label-selector.ts';
import type { WorkBudget } from './language/index.ts';
import type { ReportingPlan } from './reporting-plan.ts';
import type { SchemaType } from './schema/schema-type.ts';

export interface OperatorPlan {
  /** The definition's name. */
  readonly name: string;
  readonly revision: string;
  readonly definition: OperatorDefinition;
  /** Undefined: a kind of `for` that nobody could tell about. */
  readonly scope: 'Namespaced' | 'Cluster' | undefined;
  /** The resource's type, compiled from its CRD schema or, for a kind of `for`, from the server's. */
  readonly resourceType: SchemaType;
  /** Of the resource, its status included. */
  readonly secrecy: Secrecy;
  readonly reads: readonly ReadPlan[];
  /** In definition order. */
  readonly children: readonly ChildPlan[];
  /** The children in the order of application: each tier depends on the tiers before it only (`children.x` references and `after`). */
  readonly tiers: readonly (readonly ChildPlan[])[];
  /** Ids of the children that any expression sees under `observed`. */
  readonly observed: readonly string[];
  /** What is done in a resource that is being deleted, before it goes. @default undefined: the children are removed */
  readonly onDelete?: OnDeletePlan;
  /** Does a resource with such children need our finalizer (definition.md section 7)? */
  readonly isFinalizing: boolean;
  /** Status fields that expressions outside `status` read (`status.phase`): a write of ours to one of them runs the resource again. */
  readonly statusPathsRead: readonly FieldPath[];
  /**
   * For a kind of `for`: status fields of the resource that any expression reads (`status.readyReplicas`), as others write them.
   * Empty for a kind of our own.
   */
  readonly foreignPathsRead: readonly FieldPath[];
  /** What it reports besides the status, and patches. @default undefined: nothing */
  readonly reporting?: ReportingPlan;
  /** Begins a phase of a pass. Cheap; not shared between passes. */
  startPhase(input: PhaseInput): Phase;
}

/**
 * What of an object may hold values of a Secret, so that no message says it: nothing; its content, not its name, labels and the like;
 * all of it. Found in the definition, without a look at any object.
 */
export type Secrecy = 'none' | 'content' | 'all';

/** Steps into an object, list indexes left out: `['status', 'readyReplicas']`. The empty path means "all of it". */
export type FieldPath = readonly string[];

export interface ReadPlan {
  readonly id: string;
  readonly gvk: Gvk;
  readonly by: 'name' | 'selector';
  /** For `name`: the name that all resources read, where it is written out. */
  readonly literalName?: string;
  /** Beside a literal name: the namespace, where that is written out, too. */
  readonly literalNamespace?: string;
  readonly optional: boolean;
  /**
   * For `selector`: the label selector to watch with (literal pairs as they are, a computed value as "key exists",
   * e.g. `app=podSet,podSet_cr`); undefined when it cannot be narrowed (the whole kind is watched).
   */
  readonly watchSelector?: string;
  /** For `selector`: a label key whose value each resource computes, to serve its list from an index; undefined: scan. */
  readonly indexKey?: string;
  /** Paths of what is read that any expression uses; `[[]]` = all of it. */
  readonly pathsRead: readonly FieldPath[];
  /** Where a request of this read may look: in the resource's own namespace, in others by name, in all or by a selector over namespaces. */
  readonly reach: 'own' | 'named' | 'wide';
  /** Is there a `namespaceSelector`, so that Namespaces are watched? */
  readonly selectsNamespaces: boolean;
  /** Of what is read; `all`: also of what it asks for. */
  readonly secrecy: Secrecy;
}

/** What is done in a resource that is being deleted. */
export interface OnDeletePlan extends Omit<OnDeleteDefinition, 'children'> {
  /** In definition order. */
  readonly children: readonly ChildPlan[];
  /** As {@link OperatorPlan.tiers}. */
  readonly tiers: readonly (readonly ChildPlan[])[];
}

export interface ChildPlan {
  readonly id: string;
  readonly gvk: Gvk;
  /** Is it a list (`forEach`)? */
  readonly isList: boolean;
  readonly hasWhen: boolean;
  readonly hasReady: boolean;
  /** Ids that must be ready first (`after`). */
  readonly after: readonly string[];
  /** Children that its `when`, `forEach` or template read. */
  readonly childrenRead: readonly string[];
  /** Reads that its `when`, `forEach` or template use. */
  readonly readsUsed: readonly string[];
  /** Children that its `when`, `forEach` or template see under `observed`; itself may be among them. */
  readonly childrenObserved: readonly string[];
  /** With `forEach`: element n+1 is made only when n is ready. */
  readonly ordered: boolean;
  readonly updateStrategy: UpdateStrategy;
  /** What becomes of an object of that name that we did not make. */
  readonly adopt: 'Never' | 'IfUnowned';
  /** What becomes of what was taken over, when nobody wants it any more. */
  readonly adoptedPolicy: 'Delete' | 'Orphan';
  /** Fields that another manager took: taken back, or left to it and told. */
  readonly conflicts: 'Force' | 'Report';
  readonly crossNamespace: CrossNamespace;
  readonly deletionPolicy: 'Delete' | 'Orphan';
  readonly hasDeleteWhen: boolean;
  /** It carries only our labels, no owner reference: it is removed by us, in a resource with our finalizer. */
  readonly isDetached: boolean;
  readonly secrecy: Secrecy;
  /** The kind's schema; undefined: the server documents none (custom resources compare as written). */
  readonly type: SchemaType | undefined;
  /** Paths of this child that expressions (and `ready`) use, anywhere in the definition, the status included. `[[]]` = all of it. */
  readonly pathsRead: readonly FieldPath[];
  /** Paths of this child that expressions outside `status` and `ready` (other children, vars used by them) use: a change by our own write matters to them. */
  readonly pathsReadByOthers: readonly FieldPath[];
  /** Paths that expressions outside `status` see of it under `observed`: when our own writes change them, the resource runs again. */
  readonly pathsObserved: readonly FieldPath[];
  /** 1-based line of the child in its file, for the decision record. */
  readonly line: number;
}

/** What an expression sees under `children.<id>` or `reads.<id>`. */
export type Seen =
  | { readonly state: 'present'; readonly value: KubeObject | readonly KubeObject[] }
  /** Not there (yet): what reads it waits. `on` names it for people: `children.database`. */
  | { readonly state: 'waiting'; readonly on: string }
  /** Known not to be there (not wanted, or an optional read): a missing value. */
  | { readonly state: 'absent' };

export interface PhaseInput {
  /** `wanting`: children and reads may make an expression wait. `reporting`: nothing waits, what is not there is missing. */
  readonly phase: 'wanting' | 'reporting';
  /** The custom resource, the root of every expression. */
  readonly resource: KubeObject;
  /** What is known at the start; ids not named are waiting (reads before {@link Phase.setRead}, children before {@link Phase.setChild}). */
  readonly children?: ReadonlyMap<string, Seen>;
  readonly reads?: ReadonlyMap<string, Seen>;
  /** By child: what there is of it now, those being deleted too. `waiting`: nobody knows (yet); ids not named are waiting. */
  readonly observed?: ReadonlyMap<string, Seen>;
  /** `$previous`. @default undefined: it is not there */
  readonly previous?: KubeObject;
  /** `$now()`, fixed for the pass: ISO 8601 in UTC. */
  readonly now: string;
  /** `$randomString(n)`. */
  readonly randomText: (length: number) => string;
  /** `$cluster`. */
  readonly clusterName: string;
  /** What the reconcile may compute and hold, shared by all of its phases. @default one of its own for each evaluation */
  readonly budget?: WorkBudget;
}

/** The outcome of evaluating something. */
export type Rendered<T> =
  | { readonly kind: 'value'; readonly value: T }
  /** No result: see the table in definition.md section 2 for what that means where. */
  | { readonly kind: 'missing' }
  /** What it waits for, for people: `children.database`, `reads.credentials`. */
  | { readonly kind: 'waiting'; readonly on: readonly string[] }
  | { readonly kind: 'failed'; readonly failure: RenderFailure };

/** Why something could not be rendered. Stable text, no values of Secrets. */
export interface RenderFailure {
  readonly code:
    | 'missing-value'
    | 'wrong-type'
    | 'evaluation-failed'
    /** A limit of one evaluation. */
    | 'limit-reached'
    /** What one evaluation made, or all that is rendered for the resource, takes too much memory. */
    | 'too-large'
    /** The reconcile has used the steps or the time that it may. */
    | 'budget-exceeded'
    | 'invalid-manifest';
  /** `Expected an integer at spec.replicas, found "abc"`. */
  readonly message: string;
  /** Field within the child's manifest (or `when`, `forEach`, `ready`, `status.nodes`): `spec.template.spec.containers[0].image`. */
  readonly field: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A request for what a read wants. Labels are the resolved pairs. */
export type ReadRequest =
  | {
      readonly by: 'name';
      readonly name: string;
      /** Undefined: the resource's own. */
      readonly namespace?: string;
    }
  | { readonly by: 'selector'; readonly selector: LabelSelector; readonly place: ReadPlace };

/** Namespaces that a list is read from. `allowed`: globs that they must match, too (a namespace that does not is not read). */
export type ReadPlace =
  | { readonly kind: 'own' }
  /** Sorted, without doubles; all of them allowed. */
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
 * One phase of one pass. Vars are evaluated on first use and kept for the phase, unless they waited for something that has been set since.
 * All results are plain JSON copies, never aliases of the cache. Methods may be called concurrently.
 */
export interface Phase {
  /** Makes a child known (or changes what is known) after the tier it is in was applied. */
  setChild(id: string, seen: Seen): void;
  setRead(id: string, seen: Seen): void;
  /** Makes known what there is of a child now. Vars that have seen something else are evaluated anew. */
  setObserved(id: string, seen: Seen): void;
  /** What a read asks for: a name or a selector. */
  readRequest(id: string): Promise<Rendered<ReadRequest>>;
  /** The child's `when`; `value: true` when it has none. Missing is `failed`. */
  wanted(childId: string): Promise<Rendered<boolean>>;
  /** The elements of `forEach`; for a child without one a single element with item undefined. */
  elements(childId: string): Promise<Rendered<readonly Element[]>>;
  /**
   * The manifest of one element: apiVersion, kind, metadata.name (a non-empty string, else `failed`), no namespace filled in,
   * fitted to the child's schema. Owner reference, labels and namespace are the caller's.
   */
  manifest(childId: string, element: Element): Promise<Rendered<KubeObject>>;
  /** The name alone of one element, for the report of one whose manifest cannot be rendered. Missing: it is no name, or not to be told apart. */
  name(childId: string, element: Element): Promise<Rendered<string>>;
  /** The child's own `ready` over `$child`; only for children with one. Missing means false. */
  ready(childId: string, child: KubeObject, element: Element): Promise<Rendered<boolean>>;
  /** The child's own `deleteWhen` over `$child`; only for children with one. Missing means false. */
  mayGo(childId: string, child: KubeObject): Promise<Rendered<boolean>>;
  /** All mapped status fields: those with a result, and what failed. Missing fields are left out (lists become `[]`), see definition.md section 2. */
  status(): Promise<{
    readonly fields: Readonly<Record<string, unknown>>;
    readonly failures: readonly RenderFailure[];
  }>;
}
