import {
  type ServedCluster,
  type ServedClusterOptions,
  serveCluster,
  thingCrd,
  thingDefinition,
} from './served-cluster.ts';

/** A console of a cluster with the definition of `Thing`. */
export async function withThings(
  use: (cluster: ServedCluster) => Promise<void>,
  options: ServedClusterOptions = {},
): Promise<void> {
  const cluster = await serveCluster(options);
  try {
    await cluster.apply(thingCrd, 'customresourcedefinitions');
    await cluster.apply(thingDefinition(), 'operatordefinitions');
    await use(cluster);
  } finally {
    await cluster.close();
  }
}
