/**
 * How long a test waits for what must come, in ms, before it calls it missing. What comes, comes in a moment: no passing
 * test waits so long, however slow, loaded or noisy the machine is.
 */
export const patienceMs = 120_000;
