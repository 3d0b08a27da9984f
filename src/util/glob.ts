import { escapedPattern } from './escaped-pattern.ts';

/**
 * Whether the whole text matches one of the globs. `*` matches any characters, `?` exactly one. Namespace names need
 * no further syntax.
 */
export function matchesGlob(text: string, globs: readonly string[]): boolean {
  return globs.some((glob) => matches(text, glob));
}

/** Backtracks only to the last `*`, in constant space: globs are untrusted input. */
function matches(text: string, glob: string): boolean {
  let at = 0;
  let inGlob = 0;
  let star = -1;
  let starAt = 0;
  while (at < text.length) {
    const expected = glob[inGlob];
    if (expected === '*') {
      star = inGlob++;
      starAt = at;
    } else if (expected !== undefined && (expected === '?' || expected === text[at])) {
      at++;
      inGlob++;
    } else if (star >= 0) {
      inGlob = star + 1;
      at = ++starAt;
    } else return false;
  }
  while (glob[inGlob] === '*') inGlob++;
  return inGlob === glob.length;
}

/** A regular expression for {@link matchesGlob} with one glob, without anchors. */
export function globPattern(glob: string): string {
  return escapedPattern(glob).replaceAll('\\*', '.*').replaceAll('\\?', '.');
}

/** Prefix reserved for Kubernetes: `kube-system`, `kube-public`, `kube-node-lease`. */
const systemPrefix = 'kube-';

/** Whether this is a valid namespace name (RFC 1123 label). */
export function isNamespaceName(text: string): boolean {
  return /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(text);
}

/**
 * Whether `crossNamespace` globs allow writes to a namespace. Only a glob that starts with `kube-` matches a system
 * namespace: `*` does not include them.
 */
export function allowsNamespace(namespace: string, globs: readonly string[]): boolean {
  const isSystem = namespace.startsWith(systemPrefix);
  const meant = isSystem ? globs.filter((glob) => glob.startsWith(systemPrefix)) : globs;
  return matchesGlob(namespace, meant);
}
