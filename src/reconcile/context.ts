import type { OperatorPlan } from '../compile/index.ts';
import type { Cluster } from '../kube/roles.ts';
import type { Counter, Logger } from '../telemetry/roles.ts';
import type { Clock } from '../util/clock.ts';
import type { Random } from '../util/random.ts';
import type { DecisionRecord } from './decision.ts';
import type { ResourceState } from './resource-state.ts';
import type { Watches } from './wake/watches.ts';

/** What all passes of one definition share. */
export interface OperatorContext {
  readonly plan: OperatorPlan;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: PassMetrics;
  readonly watches: Watches;
  /** By key. */
  readonly states: Map<string, ResourceState>;
  readonly server: ServerTraits;
  /** Runs a resource again because of what its own pass wrote. */
  readonly follow: (key: string) => void;
  readonly onDecisions: (key: string, record: DecisionRecord) => void;
}

/** What was learnt about the server on the way. */
export interface ServerTraits {
  /** Does it understand an apply that only creates? Until it says no. */
  createOnlyApply: boolean;
}

/** The metrics of a pass. */
export interface PassMetrics {
  /** `homeostat_applies_total{definition,result}` */
  readonly applies: Counter;
}
