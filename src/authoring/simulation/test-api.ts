import { type ApiClient, type ApiRequest, KubeError } from '#kube';

/** The API server of a test, as its user: simulated or real. */
export interface TestApi {
  readonly client: ApiClient;
  /** @throws KubeError */
  request(request: Omit<ApiRequest, 'flow'>): Promise<unknown>;
  /** An object, or undefined where there is none. @throws KubeError for any other failure. */
  get(path: string): Promise<unknown>;
}

export function createTestApi(
  client: ApiClient,
  signal: AbortSignal = new AbortController().signal,
): TestApi {
  const flow = { name: 'user', priority: 'object' } as const;
  const request: TestApi['request'] = async (sent) =>
    (await client.request({ ...sent, flow }, signal)).body;
  return {
    client,
    request,
    async get(path) {
      try {
        return await request({ method: 'GET', path });
      } catch (error) {
        if (error instanceof KubeError && error.status === 404) return undefined;
        throw error;
      }
    },
  };
}
