import type { MetricRegistry } from './roles.ts';

const nothing = () => undefined;

/** A registry that measures nothing, for work that no server reports: it loads no metrics library. */
export const silentMetrics: MetricRegistry = Object.freeze({
  counter: () => ({ increment: nothing }),
  gauge: () => ({ set: nothing, add: nothing, remove: nothing }),
  histogram: () => ({ observe: nothing, initialize: nothing }),
  removeSeries: async () => undefined,
});
