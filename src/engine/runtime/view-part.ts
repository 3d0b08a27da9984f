import type { MetricOptions } from '#telemetry/roles.ts';
import type { ConditionContent } from '#util/condition.ts';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { DefinitionView } from './definition-view.ts';
import type { DefinitionFacts } from './definitions/definition-conditions.ts';
import type { DefinitionStatus } from './definitions/definition-status.ts';

/** The condition `Ready`. `moves`: progresses by itself; `stuck`: a user must act; `none`: idle. */
export interface Summary extends ConditionContent {
  readonly progress: 'moves' | 'stuck' | 'none';
}

/** `Ready` is false. */
export function notReady(reason: string, message: string, progress: Summary['progress']): Summary {
  return { type: 'Ready', status: 'False', reason, message, progress };
}

/** An Event without its object. */
export interface StatusEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: string;
  readonly note: string;
}

/** A value of a gauge. */
export interface GaugeValue {
  readonly gauge: MetricOptions;
  readonly value: number;
  /** After the name of the definition. */
  readonly labels: readonly string[];
}

/**
 * What only some definitions show: fields of their view, which their statuses have, too. The conditions, the status, its Events and its
 * schema, and the metrics ask each part and know none. All members are pure; each is optional.
 */
export interface ViewPart {
  /** Schema of its fields in the status of an `OperatorDefinition`. */
  readonly statusSchema?: JsonObject;
  /** Schema of its fields in the entry of a definition in the status of a `Cluster`. */
  readonly entrySchema?: JsonObject;
  /** Gauges that exist before they have a value. The first label is the name of the definition. */
  readonly gauges?: readonly MetricOptions[];

  /** Its fields of the view of a definition, from the installed CRD of its kind. */
  ofCrd?(crd: KubeObject): Partial<DefinitionView>;
  /** Why the definition is not ready. Undefined: not because of this part. */
  blocks?(view: DefinitionView): Summary | undefined;
  /** Lines in the message of a definition that is ready. */
  notes?(view: DefinitionView): readonly string[];
  /** One Event for each change of its fields. */
  events?(before: JsonObject, after: DefinitionStatus): readonly StatusEvent[];
  /** Its fields of the desired status if they differ from those of the live one in counts only. */
  countsOf?(live: JsonObject, desired: DefinitionStatus): JsonObject;
  /** What is recorded of its fields in the entry of a definition in the status of a `Cluster`. */
  entryOf?(view: DefinitionView): JsonObject;
  /** Its fields for several clusters, from the views of the definition there. */
  combined?(views: readonly DefinitionView[]): Partial<DefinitionView>;
  /** Values of all its gauges. A series that is missing is removed. */
  measured?(facts: DefinitionFacts): readonly GaugeValue[];
}
