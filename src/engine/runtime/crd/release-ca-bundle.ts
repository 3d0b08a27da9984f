import { fieldManagerOf } from '#reconcile';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { type CrdContext, crdFlowOf } from './crd-definition.ts';

/**
 * Takes over the `caBundle` of the live CRD, if the manifest has no conversion webhook any more: an apply leaves the fields of other
 * managers (cert-manager), and the API server rejects the rest of a webhook beside `strategy: None`. The next apply then removes it.
 * Needs no right besides that of the apply.
 * @throws KubeError
 */
export async function releaseCaBundle(
  manifest: KubeObject,
  live: KubeObject,
  { definition, cluster }: CrdContext,
  signal: AbortSignal,
): Promise<void> {
  const conversion = conversionOf(live);
  const { webhook } = conversion;
  if (!isJsonObject(webhook) || !isJsonObject(webhook.clientConfig)) return;
  if (webhook.clientConfig.caBundle === undefined || !isJsonObject(manifest.spec)) return;
  if (conversionOf(manifest).webhook !== undefined) return;
  // Only a value that differs takes a field from its owners.
  const clientConfig = { ...webhook.clientConfig, caBundle: '' };
  const spec = {
    ...manifest.spec,
    conversion: { ...conversion, webhook: { ...webhook, clientConfig } },
  };
  await cluster.apply(
    { ...manifest, metadata: { ...manifest.metadata, uid: live.metadata.uid ?? '' }, spec },
    { fieldManager: fieldManagerOf(definition.name), force: true, flow: crdFlowOf(definition) },
    signal,
  );
}

function conversionOf({ spec }: KubeObject) {
  const conversion = isJsonObject(spec) ? spec.conversion : undefined;
  return isJsonObject(conversion) ? conversion : {};
}
