import type { CrdKind, OperatorDefinition } from '../../definition/index.ts';
import type { Clock } from '../../util/clock.ts';
import type { RuntimeCluster } from '../runtime-cluster.ts';

/** A definition that brings its kind with it. */
export interface CrdDefinition extends OperatorDefinition {
  readonly kind: CrdKind;
}

/** Does the definition bring its kind with it, or work on one that is there (`for`)? */
export function bringsCrd(definition: OperatorDefinition): definition is CrdDefinition {
  return definition.kind.source === 'crd';
}

/** A definition with a CRD and the cluster that it is for. */
export interface CrdContext {
  readonly definition: CrdDefinition;
  readonly cluster: RuntimeCluster;
  readonly clock: Clock;
}

/** Requests about the CRD: people wait for it. */
export function crdFlowOf({ name }: CrdDefinition) {
  return { name, priority: 'world' } as const;
}
