import type { PlaneClient, PlaneRequest } from './control-plane/index.ts';

/**
 * Sends a request that a quota rejects until it does. A quota is in force a little after it was written; before its numbers are known,
 * the server rejects with "status unknown for quota".
 */
export async function untilQuotaExceeded(
  client: PlaneClient,
  request: Pick<PlaneRequest, 'path' | 'body'>,
): Promise<void> {
  for (;;) {
    const { status, body } = await client.request({ method: 'POST', ...request });
    if (status >= 400 && JSON.stringify(body).includes('exceeded quota')) return;
  }
}
