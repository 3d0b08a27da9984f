import { isJsonObject, type Json, pointerTo } from '#util/json.ts';
import { errorAt, errorOfKey, type SpecProblem } from './problem.ts';

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

/** With these, some servers use another method or path than the request has, which `allow` of the endpoint has permitted. */
const overriding: ReadonlySet<string> = new Set([
  ...['x-http-method-override', 'x-http-method', 'x-method-override'],
  ...['x-original-url', 'x-rewrite-url'],
]);

/** Why headers must not be sent: reserved names, other methods and paths, and texts that would end a header. Pure. */
export function headerProblems(headers: Json | undefined, path: string): readonly SpecProblem[] {
  if (!isJsonObject(headers)) return [];
  return Object.entries(headers).flatMap(([name, value]) => {
    const at = pointerTo(path, name);
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/.test(name))
      return [errorOfKey(at, `Expected the name of a header, found "${name}"`)];
    // Gateways write both as "_" in variables of the environment.
    const plain = name.toLowerCase().replaceAll('_', '-');
    if (overriding.has(plain))
      return [
        errorOfKey(
          at,
          `The header "${name}" makes some servers use another method or path`,
          'Use "method" and "path"',
        ),
      ];
    if (reserved.has(plain))
      return [
        errorOfKey(at, `The header "${name}" is set by the runtime`, 'Use "auth" for credentials'),
      ];
    if (typeof value === 'string' && !isHeaderValue(value))
      return [errorAt(at, `Expected a printable value of the header "${name}"`)];
    return [];
  });
}

/** Names in a query or at the top of a body by which some servers use another method. Pure. */
export function overrideProblems(names: Json | undefined, path: string): readonly SpecProblem[] {
  if (!isJsonObject(names)) return [];
  return Object.keys(names)
    .filter(isMethodOverride)
    .map((name) =>
      errorOfKey(
        pointerTo(path, name),
        `"${name}" makes some servers use another method`,
        'Use "method"',
      ),
    );
}

/** `_method`, also in forms that PHP reads as that, and the headers as entries of a query. */
export function isMethodOverride(name: string): boolean {
  return /^\s*[._]method\s*(?:\[|$)/i.test(name) || overriding.has(name.toLowerCase());
}

/** Whether a text can be the value of a header. Pure. */
export function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
