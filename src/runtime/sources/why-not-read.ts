import type { BigIntStats } from 'node:fs';

/** More than a definition file may hold, whatever its characters are. */
const mostBytes = 4 * 1024 * 1024;

/** Why what stands there is not even opened, for people: a pipe would be waited for, and for ever. Undefined: it can be read. Pure. */
export function whyNotRead(stats: Pick<BigIntStats, 'size' | 'isFile'>): string | undefined {
  if (!stats.isFile()) return 'it is no regular file';
  if (stats.size > mostBytes) return `it is larger than ${mostBytes} bytes`;
  return undefined;
}
