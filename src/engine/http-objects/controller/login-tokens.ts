import { KubeError, type Reader, type TokenRequests } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import { HomeostatError } from '#util/homeostat-error.ts';
import { controllerName } from '../names.ts';
import type { ServiceAccountTokens, TokenRequest } from './ports.ts';

/**
 * On a ServiceAccount: `ENDPOINT=AUDIENCE`, the HttpEndpoint that may log in with its token, and the audience of that token. Several are
 * separated by commas. Who writes an endpoint must not choose the audience: a token for another API could be sent to the endpoint.
 */
export const loginAnnotation = 'homeostat.dev/http-login';

const accountGvk = gvkOf('v1', 'ServiceAccount');
const flow = { name: controllerName, priority: 'object' } as const;

/** Why no token is requested. */
export class TokenRefusedError extends HomeostatError<'account-missing' | 'not-allowed'> {}

interface LoginTokensOptions {
  readonly cluster: Reader;
  readonly requests: TokenRequests;
}

/** Requests tokens of service accounts that name the endpoint and the audience, which is not that of the API server. */
export class LoginTokens implements ServiceAccountTokens {
  readonly #options: LoginTokensOptions;
  /** Those of the API server. */
  #ownAudiences: ReadonlySet<string> | undefined;

  constructor(options: LoginTokensOptions) {
    this.#options = options;
  }

  async issue(request: TokenRequest, signal: AbortSignal): Promise<string> {
    const { namespace, serviceAccount: name, audience } = request;
    await this.#checkAccount(request, signal);
    const { requests } = this.#options;
    const account = { namespace, name };
    this.#ownAudiences ??= new Set((await requests.create(account, [], signal)).audiences);
    // The API server would accept the token, and so would give the rights of the account to the API.
    if (this.#ownAudiences.has(audience))
      throw new TokenRefusedError(
        'not-allowed',
        `Expected an audience other than that of the API server, found "${audience}"`,
      );
    return (await requests.create(account, [audience], signal)).token;
  }

  /** @throws TokenRefusedError, KubeError */
  async #checkAccount(
    { namespace, serviceAccount: name, endpoint, audience }: TokenRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const { cluster } = this.#options;
    const found = await cluster.get({ gvk: accountGvk, namespace, name }, { flow }, signal);
    if (found === undefined)
      throw new TokenRefusedError('account-missing', `ServiceAccount "${name}" does not exist`);
    const permitted = (found.object.metadata.annotations?.[loginAnnotation] ?? '').split(',');
    const login = `${endpoint}=${audience}`;
    if (!permitted.some((each) => each.trim() === login))
      throw new TokenRefusedError(
        'not-allowed',
        `ServiceAccount "${name}" does not have the annotation "${loginAnnotation}: ${login}"`,
      );
  }
}

/** Whether the account was deleted, after it was looked at, too. */
export function isAccountMissing(error: unknown): boolean {
  return (
    (error instanceof TokenRefusedError && error.code === 'account-missing') ||
    (error instanceof KubeError && error.code === 'not-found')
  );
}
