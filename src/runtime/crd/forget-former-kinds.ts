import { createSchemaCompiler } from '../../compile/index.ts';
import type { GroupKind } from '../../util/gvk.ts';
import { type CrdContext, crdFlowOf } from './crd-definition.ts';
import { applyCrd, intentFor, isAsWanted } from './crd-intent.ts';
import { whyNotOurs } from './crd-owner.ts';
import { crdGvk } from './stored-kind.ts';

/**
 * Notes that nothing is left of the definition's former kinds but these: the others are not looked at any more. One write, after a
 * change of the definition.
 * @throws KubeError
 */
export async function forgetFormerKinds(
  { definition, cluster }: CrdContext,
  left: readonly GroupKind[],
  signal: AbortSignal,
): Promise<void> {
  const ref = { gvk: crdGvk, name: definition.kind.crd.metadata.name };
  const live = await cluster.get(ref, { flow: crdFlowOf(definition) }, signal);
  if (live === undefined || whyNotOurs(live.object, definition) !== undefined) return;
  const schema = await cluster.fetchKindSchema(crdGvk, signal);
  const type = schema && createSchemaCompiler().compile(schema);
  const intent = intentFor({ definition, type, live: live.object, former: left });
  if (!isAsWanted(intent, live, definition))
    await applyCrd({ intent, live, definition, cluster }, signal);
}
