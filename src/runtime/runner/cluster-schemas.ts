import type { KindSchema, SchemaSource } from '../../compile/index.ts';
import type { OperatorDefinition } from '../../definition/index.ts';
import { type Gvk, gvkKey } from '../../util/gvk.ts';
import type { RuntimeCluster } from '../runtime-cluster.ts';

/**
 * Fetches the schemas of all kinds that a definition makes, reads or works on, so that compile, which is pure, can look them up.
 * A kind that the server does not know (yet) is simply not there.
 * @throws KubeError when the server cannot be asked.
 */
export async function fetchSchemas(
  definition: OperatorDefinition,
  cluster: RuntimeCluster,
  signal: AbortSignal,
): Promise<SchemaSource> {
  const schemas = new Map<string, KindSchema>();
  const { kind, children, reads } = definition;
  for (const { gvk } of [...(kind.source === 'for' ? [kind] : []), ...children, ...reads]) {
    const key = gvkKey(gvk);
    if (schemas.has(key)) continue;
    await cluster.lookUp(gvk, signal);
    const schema = await cluster.fetchKindSchema(gvk, signal);
    if (schema !== undefined) schemas.set(key, schema);
  }
  return {
    schemaFor: (gvk: Gvk) => schemas.get(gvkKey(gvk)),
    isNamespaced: (gvk: Gvk) => cluster.resourceFor(gvk)?.namespaced,
  };
}
