import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { launchNow } from '../../test/support/control-plane/index.ts';

const program = fileURLToPath(new URL('crowd-process.ts', import.meta.url));

/** So many connections that ask without a pause until the signal aborts, in a process that runs when no other does. Resolves with their answers a second. */
export async function crowd(url: string, count: number, signal: AbortSignal): Promise<number> {
  let printed = '';
  const startMs = performance.now();
  const running = launchNow({
    command: process.execPath,
    args: [program, url, String(count)],
    onOutput: (text) => {
      printed += text;
    },
  });
  if (!signal.aborted) await once(signal, 'abort');
  const seconds = (performance.now() - startMs) / 1_000;
  await running.stop(10_000);
  return Number(printed) / seconds;
}
