import type { HttpMethod } from '../kinds/http-endpoint.ts';

/** Methods and globs of paths. */
export interface AllowRule {
  readonly methods: readonly HttpMethod[];
  readonly paths: readonly string[];
}

/**
 * Whether a rule permits the request. No rules permit all. A path with encoded slashes must be permitted in both forms: a server may decode
 * them before it routes. Pure.
 */
export function isAllowed(
  rules: readonly AllowRule[],
  { method, path }: { readonly method: HttpMethod; readonly path: string },
): boolean {
  if (rules.length === 0) return true;
  const globs = rules.flatMap((rule) => (rule.methods.includes(method) ? rule.paths : []));
  const decoded = withSlashes(path);
  return (
    globs.some((glob) => matchesPath(path, glob)) &&
    (decoded === path || globs.some((glob) => matchesPath(decoded, withSlashes(glob))))
  );
}

/** Decoded, however often they are encoded. */
function withSlashes(path: string): string {
  return path.replace(/%(?:25)*(?:2f|5c)/gi, '/');
}

/** `*` is a part of a segment, `**` any number of segments. Iterative: backtracks to the last `**` only. */
export function matchesPath(path: string, glob: string): boolean {
  const segments = path.split('/');
  const globs = glob.split('/');
  let at = 0;
  let inGlob = 0;
  let star = -1;
  let starAt = 0;
  while (at < segments.length) {
    const expected = globs[inGlob];
    if (expected === '**') {
      star = inGlob++;
      starAt = at;
    } else if (expected !== undefined && matchesSegment(segments[at] ?? '', expected)) {
      at++;
      inGlob++;
    } else if (star >= 0) {
      inGlob = star + 1;
      at = ++starAt;
    } else return false;
  }
  while (globs[inGlob] === '**') inGlob++;
  return inGlob === globs.length;
}

function matchesSegment(segment: string, glob: string): boolean {
  const [first = '', ...others] = glob.split('*');
  if (others.length === 0) return segment === glob;
  const last = others.pop() ?? '';
  if (segment.length < first.length + last.length) return false;
  if (!segment.startsWith(first) || !segment.endsWith(last)) return false;
  let from = first.length;
  const end = segment.length - last.length;
  for (const part of others) {
    const found = segment.indexOf(part, from);
    if (found < 0 || found + part.length > end) return false;
    from = found + part.length;
  }
  return true;
}
