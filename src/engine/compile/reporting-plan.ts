/**
 * Conditions, Events and patches of a plan. Part of the contract of operator-plan.ts. The *reporting* phase reads the
 * objects after the applies. `status` is the new status, and nothing waits.
 */
import type { PatchDefinition } from '#definition';
import type { CronSchedule } from '#util/cron.ts';
import type { Gvk } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { FieldPath, PhaseInput, Rendered, RenderFailure, Secrecy } from './operator-plan.ts';
import type { SchemaType } from './schema/schema-type.ts';

export interface ReportingPlan {
  /** Types of the non-standard conditions, in definition order. */
  readonly conditionTypes: readonly string[];
  readonly hasEvents: boolean;
  readonly hasRequeueAfter: boolean;
  /** Whether each resource computes its own `schedule.cron`. */
  readonly hasSchedule: boolean;
  /** In definition order. */
  readonly patches: readonly PatchPlan[];
  /** Starts a reporting phase for one version of the status. Cheap; never shared between reconciles. */
  startPhase(input: ReportInput): ReportPhase;
}

export interface PatchPlan
  extends Pick<PatchDefinition, 'id' | 'create' | 'crossNamespace' | 'owned'> {
  /** Kind of the target; undefined: it is computed, or the target is the resource itself. */
  readonly gvk?: Gvk;
  /** Whether it writes only objects that have been recorded: its kind, or all of its fields, are computed. */
  readonly isRestore: boolean;
  /** Whether fields that it does not set are removed. */
  readonly replaces: boolean;
  /** Whether it deletes its target. */
  readonly deletes: boolean;
  /** Whether it sets the status of its target, through the subresource. */
  readonly setsStatus: boolean;
  /** Whether it is sent only in the deletion of the resource. */
  readonly atDeletion: boolean;
  /** Whether it is sent only once for each value. */
  readonly hasOnce: boolean;
  /** Whether it has `forEach`. */
  readonly isList: boolean;
  /** Whether an expression of it reads `history`. */
  readonly readsHistory: boolean;
  /** Whether the target has a namespace. */
  readonly hasNamespace: boolean;
  /**
   * Whether several resources may patch the same object. Then each resource uses its own field manager, or one would
   * remove the fields of another.
   */
  readonly isShared: boolean;
  /** Secrecy of the written fields; `all`: also of the target. */
  readonly secrecy: Secrecy;
  /** The target's schema; undefined: not known. */
  readonly type: SchemaType | undefined;
  /** Paths of the fields that the patch sets; lists are not divided. */
  readonly paths: readonly FieldPath[];
  /** 1-based line in its file. */
  readonly line: number;
  /** `file:line:column`, for messages. Undefined: the definition comes from an object. */
  readonly place: string | undefined;
}

export interface ReportInput extends Omit<PhaseInput, 'phase'> {
  /** `$previous`: the resource at the start of the reconcile. */
  readonly previous: KubeObject;
}

/** Renders reports after the applies. Results are plain JSON copies. Methods may be called concurrently. */
export interface ReportPhase {
  /** In definition order. */
  conditions(): Promise<readonly RenderedCondition[]>;
  /** Those whose `when` is true, in definition order. */
  events(): Promise<{
    readonly events: readonly RenderedEvent[];
    readonly failures: readonly RenderFailure[];
  }>;
  /** One for each element of `forEach`; without `forEach` one. Missing: its `when` is false. */
  patch(id: string): Promise<Rendered<readonly PatchElement[]>>;
  /** In ms. Missing: no requeue. */
  requeueAfter(): Promise<Rendered<number>>;
  /** The resource's own `schedule.cron`. Missing: it has none. */
  schedule(): Promise<Rendered<CronSchedule>>;
}

export interface RenderedCondition {
  readonly type: string;
  /** `Unknown`: the value is missing or the evaluation failed. */
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** Why the evaluation failed. */
  readonly failure?: RenderFailure;
  /** It depends on an `unknown` input: the condition keeps its last value. */
  readonly isKept?: true;
}

export interface RenderedEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** A patch of one target. */
export interface PatchElement {
  /** The target, also if nothing is sent to it. Undefined: it is not known, or the resource itself. */
  readonly target?: TargetNames;
  /** Missing: it has no value of `once`. */
  readonly patch: Rendered<RenderedPatch>;
}

/** Name and namespace of a target, as in {@link RenderedPatch}. */
export type TargetNames = Pick<RenderedPatch, 'name' | 'namespace'>;

export interface RenderedPatch {
  /** Kind of the target, if it is computed. */
  readonly gvk?: Gvk;
  /** A digest of the value of `once`. */
  readonly once?: string;
  /** Name of the target; undefined: the resource itself. */ readonly name?: string;
  /** Namespace of the target; undefined: the namespace of the resource. */
  readonly namespace?: string;
  /** The fields to set, coerced to the schema of the target. */
  readonly fields: Readonly<Record<string, unknown>>;
}
