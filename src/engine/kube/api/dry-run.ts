import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { ApiClient } from '../client/api-client.ts';
import { asCreateError, isResourceVersionError } from '../errors.ts';
import { KubeError } from '../kube-error.ts';
import type { ApplyOptions, ApplyResult, ResourceType } from '../roles.ts';
import type { PathDiscovery } from './discovery.ts';
import { pathOf } from './paths.ts';
import { objectOf } from './response-body.ts';

interface DryRunOptions {
  readonly api: ApiClient;
  readonly discovery: PathDiscovery;
}

/**
 * Sends an apply that the API server admits, validates and completes with defaults as usual, but does not store (`dryRun=All`). Caches
 * stay unchanged.
 * @throws KubeError as an apply
 */
export async function dryRunApply(
  { api, discovery }: DryRunOptions,
  { manifest, options }: { readonly manifest: KubeObject; readonly options: ApplyOptions },
  signal: AbortSignal,
): Promise<ApplyResult> {
  const gvk = gvkOf(manifest.apiVersion, manifest.kind);
  const type = discovery.resourceFor(gvk) ?? (await discovery.lookUp(gvk, signal));
  if (type === undefined) {
    const message = `The server does not serve kind "${gvk.kind}" of "${gvk.group}/${gvk.version}"`;
    throw new KubeError('kind-missing', message, { status: 404 });
  }
  const send = (sent: KubeObject) => sendTo(api, { type, manifest: sent, options }, signal);
  if (manifest.metadata.resourceVersion !== '1') return send(manifest);
  try {
    return await send(manifest);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (!isResourceVersionError(error)) throw asCreateError(error);
    // A server without create-only apply.
    const { resourceVersion: _, ...metadata } = manifest.metadata;
    return send({ ...manifest, metadata });
  }
}

interface Sending {
  readonly type: ResourceType;
  readonly manifest: KubeObject;
  readonly options: ApplyOptions;
}

async function sendTo(
  api: ApiClient,
  { type, manifest, options }: Sending,
  signal: AbortSignal,
): Promise<ApplyResult> {
  const { fieldManager, force, flow, subresource } = options;
  const { name, namespace } = manifest.metadata;
  const { status, body } = await api.request(
    {
      method: 'PATCH',
      path: pathOf(type, {
        name,
        ...(namespace !== undefined && { namespace }),
        ...(subresource !== undefined && { subresource }),
      }),
      query: { fieldManager, force: String(force), fieldValidation: 'Ignore', dryRun: 'All' },
      contentType: 'application/apply-patch+yaml',
      body: manifest,
      flow,
    },
    signal,
  );
  const { managedFields: _, ...metadata } = objectOf(body).metadata as KubeObject['metadata'] & {
    readonly managedFields?: unknown;
  };
  const object = { ...objectOf(body), metadata };
  return {
    stored: { object, cluster: undefined, appliedBy: [fieldManager] },
    created: status === 201,
  };
}
