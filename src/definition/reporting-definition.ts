/**
 * What a definition reports besides `status`, what it patches, and when its resources run by themselves. Part of the CONTRACT of
 * operator-definition.ts.
 */
import type { Gvk } from '../util/gvk.ts';
import type { CrossNamespace, Template } from './operator-definition.ts';

/** The phase *reporting* (definition.md section 5), apart from `status`. In the order and with the indexes of the document. */
export interface ReportingDefinition {
  readonly conditions: readonly ConditionDefinition[];
  readonly events: readonly EventDefinition[];
  readonly patches: readonly PatchDefinition[];
  /** A duration, or nothing. @default undefined: never */
  readonly requeueAfter?: Template;
}

export interface ConditionDefinition {
  /** Not one of the standard ones. */
  readonly type: string;
  readonly status: Template;
  /** @default undefined: one that says no more than the status */
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
  /** @default undefined: the resource itself */
  readonly target?: PatchTarget;
  /** The fields to set. */
  readonly patch: Template;
  /** Make the target if it does not exist. @default false */
  readonly create: boolean;
  /** @default false */
  readonly crossNamespace: CrossNamespace;
}

export interface PatchTarget {
  readonly gvk: Gvk;
  readonly name: Template;
  /** @default undefined: the resource's own */
  readonly namespace?: Template;
}

/** When each resource is run though nothing has changed. */
export interface ScheduleDefinition {
  /** At least this often. @default undefined */
  readonly everyMs?: number;
  /** At these times. @default undefined */
  readonly cron?: { readonly expression: string; readonly timeZone: string };
}

/** Globs of the namespaces whose resources are served. */
export interface ServedNamespaces {
  /** Only these. @default undefined: all */
  readonly include?: readonly string[];
  /** Not these. @default [] */
  readonly exclude: readonly string[];
}
