import { isJsonObject, type Json, pointerTo } from '../../util/json.ts';
import { errorAt, type SpecProblem } from './problem.ts';

/** Headers that the runtime or the connection sets. */
const reserved: ReadonlySet<string> = new Set([
  ...['host', 'authorization', 'proxy-authorization', 'content-length', 'content-type', 'cookie'],
  ...[
    'connection',
    'keep-alive',
    'proxy-connection',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
  ],
  ...['expect', 'accept-encoding', 'idempotency-key', 'if-match'],
]);

/** Why headers must not be sent: reserved names, and texts that would end a header. Pure. */
export function headerProblems(headers: Json | undefined, path: string): readonly SpecProblem[] {
  if (!isJsonObject(headers)) return [];
  return Object.entries(headers).flatMap(([name, value]) => {
    const at = pointerTo(path, name);
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/.test(name))
      return [errorAt(at, `Expected the name of a header, found "${name}"`)];
    if (reserved.has(name.toLowerCase()))
      return [
        errorAt(at, `The header "${name}" is set by the runtime`, 'Use "auth" for credentials'),
      ];
    if (typeof value === 'string' && !isHeaderValue(value))
      return [errorAt(at, `Expected a printable value of the header "${name}"`)];
    return [];
  });
}

/** Whether a text can be the value of a header. Pure. */
export function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
