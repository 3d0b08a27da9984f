import { matchesGlob } from '../../util/glob.ts';
import { isJsonObject, type Json } from '../../util/json.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import { allowsNamespace } from '../../util/namespace.ts';
import { found } from '../describe-value.ts';
import type { Finding } from '../finding.ts';
import { fieldOf, itemsAt } from '../tree.ts';
import { isDnsLabel } from './dns-name.ts';
import { holdsExpression } from './expression-text.ts';

export interface NamespaceUse {
  /** One namespace, as written. */
  readonly value: unknown;
  readonly path: string;
  /** `crossNamespace` of what names it, as written. */
  readonly crossNamespace: Json | undefined;
  /** Is the resource cluster-scoped? It has no namespace of its own to leave. */
  readonly isCluster: boolean;
  /** Is something written there, or only read? @default false */
  readonly isWritten?: boolean;
}

/**
 * A namespace that is not the resource's own is allowed on purpose, and a computed one only within globs: whoever may create the
 * resource would else read or write anywhere through the operator.
 */
export function* checkNamespaceUse(use: NamespaceUse): Iterable<Finding> {
  const { value, path, crossNamespace, isCluster, isWritten = false } = use;
  if (typeof value !== 'string' || isOwnNamespace(value)) return;
  if (holdsExpression(value)) {
    if (!isJsonObject(crossNamespace)) yield needsGlobs('A computed namespace', value, path);
    return;
  }
  if (!isDnsLabel(value)) {
    const message = `Expected the name of a namespace, found ${found(value)}`;
    yield { code: 'invalid-value', path, message };
  } else if (isJsonObject(crossNamespace)) {
    yield* checkGlobs(value, path, { crossNamespace, isWritten });
  } else if (crossNamespace !== true && !isCluster) {
    yield needsCrossNamespace(path);
  }
}

/**
 * The name of a Namespace that is written is a namespace, too: computed only within globs, also for a cluster-scoped resource and also
 * where it is the resource's own. That the kind needs `crossNamespace` is found where scopes are known.
 */
export function* checkNamespaceName({
  value,
  path,
  crossNamespace,
}: Pick<NamespaceUse, 'value' | 'path' | 'crossNamespace'>): Iterable<Finding> {
  if (typeof value !== 'string') return;
  if (holdsExpression(value)) {
    if (!isJsonObject(crossNamespace))
      yield needsGlobs('The computed name of a Namespace', value, path);
  } else if (isJsonObject(crossNamespace) && isDnsLabel(value)) {
    yield* checkGlobs(value, path, { crossNamespace, isWritten: true });
  }
}

function needsGlobs(what: string, value: string, path: string): Finding {
  return {
    code: 'forbidden-expression',
    path,
    message: `${what} needs "crossNamespace" with globs, found ${found(value)}`,
    hint: 'Whoever may create the resource chooses it: write which it may be, "crossNamespace: { namespaces: [team-*] }"',
  };
}

function* checkGlobs(
  value: string,
  path: string,
  { crossNamespace, isWritten }: { readonly crossNamespace: Json; readonly isWritten: boolean },
): Iterable<Finding> {
  const globs = globsOf(crossNamespace);
  if (!matchesGlob(value, globs)) {
    const message = `The globs of "crossNamespace" do not match ${found(value)}`;
    yield { code: 'invalid-value', path, message };
  } else if (isWritten && !allowsNamespace(value, globs)) {
    const message = `${found(value)} is a namespace of Kubernetes itself, which the globs of "crossNamespace" do not name`;
    const hint = `Write it out: "crossNamespace: { namespaces: [${value}] }"`;
    yield { code: 'invalid-value', path, message, hint };
  }
}

/** What goes beyond the resource's namespace without saying which others. */
export function needsCrossNamespace(path: string): Finding {
  return {
    code: 'missing-field',
    path,
    at: 'key',
    message: 'A namespace that is not the resource\'s own needs "crossNamespace"',
    hint: 'Write "crossNamespace: true" beside it',
  };
}

/** The globs of one `crossNamespace` are such that can match a namespace. */
export function* checkCrossNamespace(
  crossNamespace: Json | undefined,
  path: string,
): Iterable<Finding> {
  const at = pointerTo(path, 'namespaces');
  const globs = itemsAt({ crossNamespace }, '/crossNamespace/namespaces');
  for (const [index, { value }] of globs.entries()) {
    if (typeof value !== 'string' || globPattern.test(value)) continue;
    const message = `Expected a glob of namespaces such as "team-*", found ${found(value)}`;
    yield { code: 'invalid-value', path: pointerTo(at, index), message };
  }
  if (
    isJsonObject(crossNamespace) &&
    Array.isArray(crossNamespace.namespaces) &&
    globs.length === 0
  ) {
    const message = 'Expected globs of namespaces, found none';
    yield { code: 'invalid-value', path: at, message };
  }
}

/** Is it a manifest of, or a reference to, a Namespace? */
export function isNamespaceKind(manifest: unknown): boolean {
  return fieldOf(manifest, 'apiVersion') === 'v1' && fieldOf(manifest, 'kind') === 'Namespace';
}

const globPattern = /^[a-z0-9*?](?:[-a-z0-9*?]*[a-z0-9*?])?$/;

/** `${ metadata.namespace }`: computed, and never any other than the resource's own. */
function isOwnNamespace(value: string): boolean {
  return /^\s*\$\{\s*metadata\.namespace\s*\}\s*$/.test(value);
}

function globsOf(crossNamespace: Json): readonly string[] {
  return itemsAt(crossNamespace, '/namespaces').map(({ value }) => String(value));
}
