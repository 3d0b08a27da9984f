import type { CoverageRecorder } from '../../compile/index.ts';
import type { LocatedDefinition } from '../../definition/index.ts';
import type { ApiRequest } from '../../kube/index.ts';
import type { ApiAnswer } from '../../sandbox/index.ts';
import { silentLogger } from '../../telemetry/index.ts';
import type { JsonObject } from '../../util/json.ts';
import { conditionsOf, type KubeObject } from '../../util/kube-object.ts';
import { Simulation } from '../simulation.ts';
import { TestCluster } from '../testing/test-cluster.ts';

export interface RunResourceOptions {
  /** Without errors and conflicts. */
  readonly definitions: readonly LocatedDefinition[];
  readonly resource: KubeObject;
  /** Objects that exist before, such as those that the definition reads. */
  readonly given: readonly KubeObject[];
  /** Do simulated controllers make children ready? Else what reads them waits. */
  readonly simulatesControllers: boolean;
  /** See `SimulationOptions`. */
  readonly onRequest?: (request: ApiRequest) => ApiAnswer | undefined;
  /** See `SimulationOptions`. */
  readonly coverage?: CoverageRecorder;
  /** Called before the operators start again, once, for a resource that has failed. @default they do not start again */
  readonly onRestart?: () => void;
  /** Called when nothing happens any more. True: it has changed something, so it waits again. @default no action */
  readonly whenReady?: (simulation: Simulation) => Promise<boolean>;
}

/** Simulated time in which the resource must become ready, in ms. */
const limitMs = 600_000;
/** Simulated time that passes after a failure that a retry does not mend, in ms. */
const stalledMs = 5_000;

/**
 * Runs definitions on a simulated cluster until the resource is ready, or nothing happens any more.
 * @param name the definition of the resource
 * @param use is called with the resource then; the simulation ends with it
 * @throws KubeError when the API server rejects an object
 */
export async function runResource<T>(
  {
    definitions,
    resource,
    given,
    simulatesControllers,
    onRequest,
    coverage,
    onRestart,
    whenReady,
  }: RunResourceOptions,
  name: string,
  use: (simulation: Simulation, found: JsonObject | undefined) => Promise<T>,
): Promise<T> {
  const simulation = new Simulation({
    ...{ definitions: [], logger: silentLogger, simulatesControllers },
    ...(onRequest && { onRequest }),
    ...(coverage && { coverage }),
  });
  const cluster = new TestCluster(simulation);
  const start = async () => {
    const runners = simulation.startDefinitions(definitions);
    const isRunning = () =>
      runners.views.some((view) => view.name === name && view.state.kind === 'running');
    await simulation.advanceUntil(isRunning, limitMs);
  };
  try {
    for (const object of given) await cluster.apply(object);
    await start();
    await cluster.apply(resource);
    let found = await untilReady(simulation, cluster, resource);
    while (await whenReady?.(simulation)) found = await untilReady(simulation, cluster, resource);
    if (onRestart !== undefined && isStalled(found)) {
      onRestart();
      await simulation.stop();
      await start();
      await simulation.idle();
    }
    return await use(simulation, found);
  } finally {
    await simulation.close();
  }
}

/** The resource when it is ready, or when nothing happens any more. */
async function untilReady(
  simulation: Simulation,
  cluster: TestCluster,
  resource: KubeObject,
): Promise<JsonObject | undefined> {
  const endMs = simulation.clock.monotonicMs() + limitMs;
  await simulation.idle();
  for (;;) {
    const found = await cluster.find(resource);
    const ready = conditionsOf(found).find(({ type }) => type === 'Ready');
    if (ready?.status === 'True') return found;
    if (isStalled(found)) {
      // Other children become ready meanwhile.
      await simulation.advance(stalledMs);
      return cluster.find(resource);
    }
    if (!simulation.clock.runNextTimer(endMs)) return found;
    await simulation.idle();
  }
}

export function isStalled(found: JsonObject | undefined): boolean {
  return conditionsOf(found).some(({ type, status }) => type === 'Stalled' && status === 'True');
}
