/**
 * Aborts when the first of the signals aborts, with its reason. It does not keep the signals, and they do not keep it.
 *
 * `AbortSignal.any` of Node 24.21 follows its sources only when it gets its first listener. Before that, it loses an abort whose controller is
 * collected as garbage before anything reads `aborted`, and what waits for the abort never ends. So it gets a listener here for a moment.
 */
export function anySignal(signals: readonly AbortSignal[]): AbortSignal {
  const any = AbortSignal.any([...signals]);
  any.addEventListener('abort', nothing);
  any.removeEventListener('abort', nothing);
  return any;
}

function nothing(): void {
  // The listener alone makes the signal follow its sources.
}
