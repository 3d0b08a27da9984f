import { KubeError } from '#kube/roles.ts';
import { rightText, settled } from '#reconcile';
import { gvkOf } from '#util/gvk.ts';
import { crdFlowOf } from '../crd-definition.ts';
import { acquireSecret } from './ca-bundles.ts';
import type { CertificateAuthority, ConversionTarget } from './conversion-target.ts';
import { clientConfigOf, isInjected } from './crd-parts.ts';
import type { ConvertedInstall } from './install-converted.ts';

/** How long a CRD waits for the certificates of its webhook before this is reported. */
const bundleMs = 10_000;
const pollMs = 100;
const namespaceGvk = gvkOf('v1', 'Namespace');

/** Whether the live CRD has certificates, where they are needed. Others write them: waits for a while. */
export async function hasCertificates(
  { crds, definition, clock }: ConvertedInstall,
  { authority }: ConversionTarget,
  signal: AbortSignal,
): Promise<boolean> {
  const { crd } = definition.kind;
  if (authority === undefined && !isInjected(crd)) return true;
  const deadlineMs = clock.monotonicMs() + bundleMs;
  for (;;) {
    const live = crds.get(undefined, crd.metadata.name)?.object;
    const { caBundle } = (live && clientConfigOf(live)) ?? {};
    if (typeof caBundle === 'string' && caBundle !== '') return true;
    if (clock.monotonicMs() >= deadlineMs) return false;
    await clock.sleep(pollMs, signal);
  }
}

/** Why a CRD has no certificates, as a message. */
export async function whyNoCertificates(
  options: ConvertedInstall,
  target: ConversionTarget,
  signal: AbortSignal,
): Promise<string> {
  const { authority } = target;
  const none = 'The conversion webhook has no certificates yet';
  if (authority === undefined || isInjected(options.definition.kind.crd))
    return `${none}: cert-manager writes them into the CustomResourceDefinition, by its annotation`;
  const { namespace, secret } = authority;
  if (await isNamespaceMissing(options, namespace, signal)) {
    const isOwn = target.run !== undefined;
    const action = isOwn
      ? `create it with "kubectl create namespace ${namespace}"`
      : '"--webhook-service" names it';
    return `${none}: the namespace "${namespace}" of their Secret does not exist; ${action}`;
  }
  const right = await missingRight(options, authority, signal);
  return `${none}: Secret "${secret}" in namespace "${namespace}"${right && `. ${right}`}`;
}

/** False if the runtime may not read namespaces. */
async function isNamespaceMissing(
  { cluster, definition }: ConvertedInstall,
  name: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const flow = crdFlowOf(definition);
    return (await cluster.get({ gvk: namespaceGvk, name }, { flow }, signal)) === undefined;
  } catch (error) {
    if (error instanceof KubeError && error.code === 'forbidden') return false;
    throw error;
  }
}

/** The right to read the Secret, as a message. Empty: it is not missing. */
async function missingRight(
  { cluster }: ConvertedInstall,
  authority: CertificateAuthority,
  signal: AbortSignal,
): Promise<string> {
  const secrets = acquireSecret(cluster, authority);
  try {
    await settled(secrets, signal);
    const { state } = secrets;
    const right = state.kind === 'failing' ? state.error.right : undefined;
    return right === undefined ? '' : rightText(right, authority.secret);
  } finally {
    secrets.release();
  }
}
