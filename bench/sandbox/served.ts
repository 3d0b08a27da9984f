import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('serve.ts', import.meta.url));

/** Does something with a sandbox in another process, as clients do. */
export async function withServed<T>(work: (url: string) => Promise<T>): Promise<T> {
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  try {
    return await work(String(line).trim());
  } finally {
    child.stdin.end();
    await once(child, 'exit');
  }
}
