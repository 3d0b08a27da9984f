import { KubeError } from '#kube';

/**
 * Sends a change that the API server must reject.
 * @param text in the message of the rejection. Undefined: it must accept the change
 * @throws Error that says what happened otherwise
 */
export async function expectDenied(
  text: string | undefined,
  change: () => Promise<void>,
): Promise<void> {
  if (text === undefined) return change();
  const rejection = await rejectionOf(change);
  if (rejection === undefined)
    throw new Error(`Expected a rejection with "${text}", but the API server accepted the change`);
  if (!rejection.includes(text))
    throw new Error(`Expected a rejection with "${text}", found "${rejection}"`);
}

/** The message of the server. Undefined: it has accepted the change. @throws whatever is no answer of the server */
async function rejectionOf(change: () => Promise<void>): Promise<string | undefined> {
  try {
    await change();
    return undefined;
  } catch (error) {
    if (error instanceof KubeError && error.status >= 400) return error.message;
    throw error;
  }
}
