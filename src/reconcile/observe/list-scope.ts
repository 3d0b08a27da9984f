import type { ReadPlace } from '../../compile/index.ts';
import type { InformerState } from '../../kube/roles.ts';
import { assertNever } from '../../util/assert-never.ts';
import { matchesGlob } from '../../util/glob.ts';
import type { Given, Pass } from '../pass/pass.ts';
import { type Confidence, isNameOpen } from '../secrecy.ts';
import type { ListScope } from '../wake/selections.ts';

/** Where a list is looked for; or that this is not known yet; or why it is looked for nowhere. */
export type ScopeResult =
  | { readonly kind: 'scope'; readonly scope: ListScope }
  | { readonly kind: 'unknown'; readonly state: InformerState }
  | { readonly kind: 'refused'; readonly message: string };

/** The namespaces of a namespaced kind that a place means for this resource. */
export function scopeOf(pass: Pass, about: Confidence, place: ReadPlace): ScopeResult {
  switch (place.kind) {
    case 'own':
      return pass.namespace === undefined ? noNamespace : named([pass.namespace]);
    case 'named': {
      const refused = place.namespaces.find((namespace) => isRuntimes(pass, namespace));
      if (refused !== undefined) return { kind: 'refused', message: runtimeText(refused, about) };
      return named(place.namespaces);
    }
    case 'all':
      return wide(pass, () => true, place.allowed);
    case 'selected': {
      const { state, names } = pass.dependencies.namespaces(place.selector);
      if (state.kind !== 'synced') return { kind: 'unknown', state };
      return wide(pass, (namespace) => names.has(namespace), place.allowed);
    }
    default:
      return assertNever(place);
  }
}

/** Why an object of a namespaced kind is not read from this namespace; undefined: it may be. */
export function whyNotFrom(
  pass: Pass,
  about: Confidence,
  namespace: string | undefined,
): string | undefined {
  if (namespace === undefined) return noNamespace.message;
  return isRuntimes(pass, namespace) ? runtimeText(namespace, about) : undefined;
}

const noNamespace = {
  kind: 'refused',
  message: 'Expected a namespace, since the resource has none, found none',
} as const;

function named(namespaces: readonly string[]): ScopeResult {
  return { kind: 'scope', scope: { kind: 'named', namespaces } };
}

function wide(
  pass: Pass,
  isMeant: (namespace: string) => boolean,
  allowed: readonly string[] | undefined,
): ScopeResult {
  const has = (namespace: string) =>
    isMeant(namespace) &&
    !isRuntimes(pass, namespace) &&
    (allowed === undefined || namespace === pass.namespace || matchesGlob(namespace, allowed));
  return { kind: 'scope', scope: { kind: 'wide', has } };
}

/** The runtime's own namespaces are read from by nobody but who lives there. */
function isRuntimes({ context, namespace: own }: Given, namespace: string): boolean {
  return context.guardedNamespaces.has(namespace) && namespace !== own;
}

function runtimeText(namespace: string, about: Confidence): string {
  const which = isNameOpen(about) ? `"${namespace}"` : 'The value';
  return `${which} is a namespace of the runtime itself`;
}
