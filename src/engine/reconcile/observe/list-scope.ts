import type { ReadScope } from '#compile';
import type { InformerState } from '#kube/roles.ts';
import { matchesGlob } from '#util/glob.ts';
import { assertNever } from '#util/homeostat-error.ts';
import type { Pass, PassInput } from '../pass/pass.ts';
import { type Disclosure, isNamePublic } from '../secrecy.ts';
import type { ListScope } from '../watch/selections.ts';

/** The namespaces of a list; or that they are unknown; or why the list is rejected. */
export type ScopeResult =
  | { readonly kind: 'scope'; readonly scope: ListScope }
  | { readonly kind: 'unknown'; readonly state: InformerState }
  | { readonly kind: 'rejected'; readonly message: string };

/** The namespaces that a scope selects for this resource. */
export function scopeOf(pass: Pass, about: Disclosure, place: ReadScope): ScopeResult {
  switch (place.kind) {
    case 'own':
      return pass.namespace === undefined ? noNamespace : namedScope([pass.namespace]);
    case 'named': {
      const guarded = place.namespaces.find((namespace) => isGuarded(pass, namespace));
      if (guarded !== undefined) return { kind: 'rejected', message: guardedText(guarded, about) };
      return namedScope(place.namespaces);
    }
    case 'all':
      return wideScope(pass, () => true, place.allowed);
    case 'selected': {
      const { state, names } = pass.dependencies.namespaces(place.selector);
      if (state.kind !== 'synced') return { kind: 'unknown', state };
      return wideScope(pass, (namespace) => names.has(namespace), place.allowed);
    }
    default:
      return assertNever(place);
  }
}

/** Why an object cannot be read from this namespace; undefined: it can. */
export function namespaceRejection(
  pass: Pass,
  about: Disclosure,
  namespace: string | undefined,
): string | undefined {
  if (namespace === undefined) return noNamespace.message;
  return isGuarded(pass, namespace) ? guardedText(namespace, about) : undefined;
}

const noNamespace = {
  kind: 'rejected',
  message: 'Expected a namespace, the resource is cluster-scoped; found none',
} as const;

function namedScope(namespaces: readonly string[]): ScopeResult {
  return { kind: 'scope', scope: { kind: 'named', namespaces } };
}

function wideScope(
  pass: Pass,
  isSelected: (namespace: string) => boolean,
  allowed: readonly string[] | undefined,
): ScopeResult {
  const has = (namespace: string) =>
    isSelected(namespace) &&
    !isGuarded(pass, namespace) &&
    (allowed === undefined || namespace === pass.namespace || matchesGlob(namespace, allowed));
  return { kind: 'scope', scope: { kind: 'wide', has } };
}

/** Only resources in a namespace of the runtime may read from it. */
function isGuarded({ context, namespace: own }: PassInput, namespace: string): boolean {
  return context.guardedNamespaces.has(namespace) && namespace !== own;
}

function guardedText(namespace: string, about: Disclosure): string {
  const which = isNamePublic(about) ? `"${namespace}"` : 'The value';
  return `${which} is a namespace of the Homeostat runtime`;
}
