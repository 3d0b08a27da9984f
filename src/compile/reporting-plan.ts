/**
 * What a plan reports besides the status, and writes outside its children. Part of the CONTRACT of operator-plan.ts. The phase
 * *reporting* sees the world after the applies; here `status` is the new one, and nothing waits.
 */
import type { CrossNamespace } from '../definition/index.ts';
import type { Gvk } from '../util/gvk.ts';
import type { KubeObject } from '../util/kube-object.ts';
import type { FieldPath, PhaseInput, Rendered, RenderFailure, Secrecy } from './operator-plan.ts';
import type { SchemaType } from './schema/schema-type.ts';

export interface ReportingPlan {
  /** Types of the conditions besides the standard ones, in definition order. */
  readonly conditionTypes: readonly string[];
  readonly hasEvents: boolean;
  readonly hasRequeueAfter: boolean;
  /** In definition order. */
  readonly patches: readonly PatchPlan[];
  /** Begins a look at the world, for one stand of the status. Cheap; not shared between passes. */
  startPhase(input: ReportInput): ReportPhase;
}

export interface PatchPlan {
  readonly id: string;
  /** Of the target; undefined: the resource itself. */
  readonly gvk?: Gvk;
  /** Does the target name its namespace? */
  readonly hasNamespace: boolean;
  readonly create: boolean;
  /** May several resources patch one object? Then each needs a field manager of its own, or one would take back what the other set. */
  readonly isShared: boolean;
  readonly crossNamespace: CrossNamespace;
  /** Of what it writes; `all`: also of what it patches. */
  readonly secrecy: Secrecy;
  /** The target's schema; undefined: not known. */
  readonly type: SchemaType | undefined;
  /** Paths of the fields that it sets, lists as a whole. */
  readonly paths: readonly FieldPath[];
  /** 1-based line in its file. */
  readonly line: number;
}

export interface ReportInput extends Omit<PhaseInput, 'phase'> {
  /** `$previous`: the resource as the pass began. */
  readonly previous: KubeObject;
}

/** One look at the world after the applies. Results are plain JSON copies. Methods may be called concurrently. */
export interface ReportPhase {
  /** In definition order. */
  conditions(): Promise<readonly RenderedCondition[]>;
  /** Those whose `when` is true, in definition order. */
  events(): Promise<{
    readonly events: readonly RenderedEvent[];
    readonly failures: readonly RenderFailure[];
  }>;
  /** Missing: its `when` is false. */
  patch(id: string): Promise<Rendered<RenderedPatch>>;
  /** In ms. Missing: not wanted. */
  requeueAfter(): Promise<Rendered<number>>;
}

export interface RenderedCondition {
  readonly type: string;
  /** `Unknown`: missing, or failed. */
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** Why it could not be told. */
  readonly failure?: RenderFailure;
}

export interface RenderedEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface RenderedPatch {
  /** Of the target; undefined: the resource itself. */
  readonly name?: string;
  /** As the target says; undefined: the resource's own. */
  readonly namespace?: string;
  /** The fields to set, fitted to the target's schema. */
  readonly fields: Readonly<Record<string, unknown>>;
}
