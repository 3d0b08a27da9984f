import { matchesGlob } from './glob.ts';

/** Kubernetes keeps names with this prefix for itself: `kube-system`, `kube-public`, `kube-node-lease`. */
const systemPrefix = 'kube-';

/** Can a namespace have this name (RFC 1123 label)? */
export function isNamespaceName(text: string): boolean {
  return /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(text);
}

/**
 * Do globs of `crossNamespace` allow writing into this namespace? One of Kubernetes itself is allowed only by a glob that names the
 * prefix: who writes `*` means the namespaces of people.
 */
export function allowsNamespace(namespace: string, globs: readonly string[]): boolean {
  const isSystem = namespace.startsWith(systemPrefix);
  const meant = isSystem ? globs.filter((glob) => glob.startsWith(systemPrefix)) : globs;
  return matchesGlob(namespace, meant);
}
