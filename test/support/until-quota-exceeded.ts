import type { PlaneClient, PlaneRequest } from './control-plane/index.ts';
import { patienceMs } from './patience.ts';

/**
 * Sends a request that a quota rejects until it does. A quota is in force a little after it was written; before its numbers are known,
 * the server rejects with "status unknown for quota". It may do so once more after it has found the quota exceeded: a request that
 * comes before the server's cache has the quota is decided by a read of its own. A test waits for the message that it expects, not for the first one.
 * @throws Error with the last answer, after `patienceMs`
 */
export async function untilQuotaExceeded(
  client: PlaneClient,
  request: Pick<PlaneRequest, 'path' | 'body'>,
): Promise<void> {
  const limit = AbortSignal.timeout(patienceMs);
  let last = '';
  while (!limit.aborted) {
    const { status, body } = await client.request({ method: 'POST', ...request });
    last = `${status} ${JSON.stringify(body)}`;
    if (status >= 400 && last.includes('exceeded quota')) return;
  }
  throw new Error(`Waited in vain for a quota to reject ${request.path}; last answer: ${last}`);
}
