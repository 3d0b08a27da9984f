import { createDefaultLeafParser } from '#compile';
import { HttpObjectsController } from '#http-objects';
import { httpKinds } from '#http-objects/kinds/index.ts';
import type { KubeCluster } from '#kube';
import type { HttpTransport, TokenRequests } from '#kube/roles.ts';
import type { OwnController } from '#runtime';
import type { Logger, MetricRegistry } from '#telemetry';
import type { Clock } from '#util/clock.ts';
import type { Random } from '#util/random.ts';

interface SimulatedHttpOptions {
  readonly cluster: KubeCluster;
  readonly transport: HttpTransport;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Called before objects are managed. */
  readonly permitHttp: () => Promise<void>;
}

/** The controller of production for objects behind HTTP, with simulated APIs. It runs when a definition or an object needs it. */
export function createSimulatedHttp({
  permitHttp,
  ...options
}: SimulatedHttpOptions): OwnController {
  return {
    kinds: httpKinds,
    isAlwaysServed: false,
    async run(signal) {
      await permitHttp();
      const controller = new HttpObjectsController({
        ...options,
        tokenRequests: simulatedTokens,
        parser: createDefaultLeafParser(),
        runtimeNamespace: undefined,
      });
      await controller.run(signal);
    },
    observe: () => undefined,
  };
}

/** Tokens of service accounts that any simulated API accepts. */
const simulatedTokens: TokenRequests = {
  create: async (_account, audiences) => ({ token: 'simulated-token', audiences }),
};
