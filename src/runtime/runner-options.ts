import type { LocatedDefinition } from '../definition/index.ts';
import type { KubeError } from '../kube/roles.ts';
import type { Logger, MetricRegistry } from '../telemetry/roles.ts';
import type { BytePool } from '../util/byte-pool.ts';
import type { Clock } from '../util/clock.ts';
import type { Random } from '../util/random.ts';
import type { Turns } from '../util/work-turns.ts';
import type { RuntimeCluster } from './runtime-cluster.ts';
import type { ViewBell } from './view-bell.ts';

/** What all definitions of a manager share. */
export interface SharedOptions {
  readonly bell: ViewBell;
  readonly cluster: RuntimeCluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Where the runtime and its definitions live: nothing is ever read or made there for resources of elsewhere. @default none */
  readonly guardedNamespaces?: ReadonlySet<string>;
  /** Shares the thread between definitions. @default endlessTurns */
  readonly turns?: Turns;
  /** What the reconciles of all definitions may hold together. @default undefined: no bound */
  readonly memory?: BytePool;
  /** How long running passes may go on after the signal, in ms. @default 20_000 */
  readonly graceMs?: number;
  /** Does a change of a CRD break nothing that anybody would miss (a world of samples)? @default false */
  readonly breaksStored?: boolean;
  /**
   * Resolves when it is known which older revisions there are (`WantedDefinition.formerly`): who starts without them gives all resources
   * the newest text at once. No definition starts before. Rejects when the signal aborts. Each try in vain until then is told. @default at once
   */
  readonly whenFormersKnown?: (
    signal: AbortSignal,
    onFailure: (error: KubeError) => void,
  ) => Promise<void>;
  /** Called with each revision that was accepted: it compiles against the server's schemas, and its kind is served. @default nobody is told */
  readonly onAccepted?: (located: LocatedDefinition) => void;
}

type ForOperator =
  | 'cluster'
  | 'clock'
  | 'random'
  | 'metrics'
  | 'logger'
  | 'guardedNamespaces'
  | 'turns'
  | 'memory';

/** What an operator needs of it. */
export function forOperator(options: Pick<SharedOptions, ForOperator>) {
  const { cluster, clock, random, metrics, logger, guardedNamespaces, turns, memory } = options;
  return {
    cluster,
    clock,
    random,
    metrics,
    // A pass adds the definition's name itself.
    logger,
    ...(guardedNamespaces === undefined ? {} : { guardedNamespaces }),
    ...(turns === undefined ? {} : { turns }),
    ...(memory === undefined ? {} : { memory }),
  };
}

type ForController = 'clock' | 'metrics' | 'logger' | 'graceMs';

/** What the controller of a definition needs of it. */
export function forController(options: Pick<SharedOptions, ForController>, name: string) {
  const { clock, metrics, logger, graceMs } = options;
  return {
    name,
    clock,
    metrics,
    logger: logger.child({ definition: name }),
    ...(graceMs === undefined ? {} : { graceMs }),
  };
}
