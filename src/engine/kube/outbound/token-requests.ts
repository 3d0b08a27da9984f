import { isJsonObject } from '#util/json.ts';
import type { ApiClient } from '../client/api-client.ts';
import { KubeError } from '../kube-error.ts';
import type { Flow } from '../roles.ts';
import type { IssuedToken, TokenRequests } from './outbound-http.ts';

const flow: Flow = { name: 'http-objects', priority: 'object' };
/** The shortest that the API server accepts: the token is used once, for a login. */
const expirationSeconds = 600;

/** Requests tokens of service accounts (`serviceaccounts/token`). */
export class KubeTokenRequests implements TokenRequests {
  readonly #api: ApiClient;

  constructor(api: ApiClient) {
    this.#api = api;
  }

  async create(
    { namespace, name }: { readonly namespace: string; readonly name: string },
    audiences: readonly string[],
    signal: AbortSignal,
  ): Promise<IssuedToken> {
    const account = `${encodeURIComponent(namespace)}/serviceaccounts/${encodeURIComponent(name)}`;
    const { body } = await this.#api.request(
      {
        method: 'POST',
        path: `/api/v1/namespaces/${account}/token`,
        body: {
          ...{ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' },
          spec: { expirationSeconds, ...(audiences.length > 0 && { audiences }) },
        },
        flow,
      },
      signal,
    );
    const { spec, status } = isJsonObject(body) ? body : {};
    const token = isJsonObject(status) ? status.token : undefined;
    const granted = isJsonObject(spec) && Array.isArray(spec.audiences) ? spec.audiences : [];
    if (typeof token !== 'string' || token === '')
      throw new KubeError('unexpected', 'The answer to a TokenRequest has no token', { status: 0 });
    return { token, audiences: granted.filter((each) => typeof each === 'string') };
  }
}
