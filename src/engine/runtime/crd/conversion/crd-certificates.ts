import { KubeError } from '#kube/roles.ts';
import { rightText, settled } from '#reconcile';
import { encodeBase64 } from '#util/base64.ts';
import { gvkOf } from '#util/gvk.ts';
import { crdFlowOf } from '../crd-definition.ts';
import { acquireSecret } from './ca-bundles.ts';
import type { CertificateAuthority, ConversionTarget } from './conversion-target.ts';
import { clientConfigOf, isInjected } from './crd-parts.ts';
import type { ConvertedInstall } from './install-converted.ts';
import { isSameServer } from './working-conversion.ts';

/** How long certificates are waited for before this is reported. */
const patienceMs = 10_000;
const pollMs = 100;
const namespaceGvk = gvkOf('v1', 'Namespace');
const none = 'The conversion webhook has no certificates yet';

/** The certificates that the API server trusts. */
export type WebhookCertificates =
  /** `caBundle`: of the CRD. Undefined: any, which another program writes. */
  | { readonly kind: 'issued'; readonly caBundle?: string }
  | { readonly kind: 'missing'; readonly message: string };

/**
 * Waits until the certificates of the webhook are issued, before its address is in a CRD: without them, all conversions of the CRD would fail.
 * Those that another program writes into a CRD need the address first.
 * @throws KubeError
 */
export async function issuedCertificates(
  options: ConvertedInstall,
  target: ConversionTarget,
  signal: AbortSignal,
): Promise<WebhookCertificates> {
  const { authority } = target;
  if (authority === undefined || isInjected(options.definition.kind.crd)) return { kind: 'issued' };
  if (hasThose(options, target)) return { kind: 'issued' };
  const { cluster, clock } = options;
  const { namespace, secret, bundleOf } = authority;
  const secrets = acquireSecret(cluster, authority);
  try {
    await settled(secrets, signal);
    const deadlineMs = clock.monotonicMs() + patienceMs;
    while (secrets.state.kind !== 'failing') {
      const found = secrets.get(namespace, secret)?.object;
      const bundle = found && bundleOf(found);
      if (bundle !== undefined) return { kind: 'issued', caBundle: encodeBase64(bundle) };
      if (clock.monotonicMs() >= deadlineMs) break;
      await clock.sleep(pollMs, signal);
    }
    const error = secrets.state.kind === 'failing' ? secrets.state.error : undefined;
    if (error !== undefined && error.code !== 'forbidden') throw error;
    const right = error?.right === undefined ? '' : `. ${rightText(error.right, secret)}`;
    const why =
      (await missingNamespace(options, authority, signal)) ??
      `Secret "${secret}" in namespace "${namespace}"${right}`;
    return { kind: 'missing', message: `${none}: ${why}` };
  } finally {
    secrets.release();
  }
}

/** Whether the live CRD has certificates of this server already, maybe not from the Secret. */
function hasThose({ crds, definition }: ConvertedInstall, target: ConversionTarget): boolean {
  const { name } = definition.kind.crd.metadata;
  const live = crds.get(undefined, name)?.object;
  const config = live && clientConfigOf(live);
  return (
    config !== undefined &&
    Boolean(config.caBundle) &&
    isSameServer(config, target.clientConfig(name, ''))
  );
}

/** Undefined: it exists, or the runtime may not read it. */
async function missingNamespace(
  { cluster, definition, conversion }: ConvertedInstall,
  { namespace: name }: CertificateAuthority,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const flow = crdFlowOf(definition);
    const found = await cluster.get({ gvk: namespaceGvk, name }, { flow }, signal);
    if (found !== undefined) return undefined;
  } catch (error) {
    if (error instanceof KubeError && error.code === 'forbidden') return undefined;
    throw error;
  }
  const action =
    conversion?.run === undefined
      ? '"--webhook-service" names it'
      : `create it with "kubectl create namespace ${name}"`;
  return `the namespace "${name}" of their Secret does not exist; ${action}`;
}

/**
 * Waits until the live CRD has the certificates, where they are needed: others write them.
 * @returns why it has none. Undefined: it has them
 */
export async function whyUntrusted(
  { crds, definition, clock }: ConvertedInstall,
  { authority }: ConversionTarget,
  { caBundle, signal }: { readonly caBundle: string | undefined; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const { crd } = definition.kind;
  if (authority === undefined && !isInjected(crd)) return undefined;
  const deadlineMs = clock.monotonicMs() + patienceMs;
  for (;;) {
    const live = crds.get(undefined, crd.metadata.name)?.object;
    const { caBundle: found = '' } = (live && clientConfigOf(live)) ?? {};
    if (caBundle === undefined ? found !== '' : found === caBundle) return undefined;
    if (clock.monotonicMs() >= deadlineMs) break;
    await clock.sleep(pollMs, signal);
  }
  return isInjected(crd)
    ? `${none}: cert-manager writes them into the CustomResourceDefinition, by its annotation`
    : `${none} in the CustomResourceDefinition`;
}
