import { allowsNamespace, matchesGlob } from '#util/glob.ts';
import { isJsonObject, type Json, pointerTo } from '#util/json.ts';
import type { Finding } from '../finding.ts';
import { describeFound, fieldOf, itemsAt, mapAt, mapsAt, valueAt } from '../tree.ts';
import { containsExpression, isDnsLabel, type Rule } from './rule.ts';

interface NamespaceReference {
  /** The namespace as written. */
  readonly value: unknown;
  readonly path: string;
  /** `crossNamespace` of the child, read or patch, as written. */
  readonly crossNamespace: Json | undefined;
  /** Whether the resource is cluster-scoped and so has no namespace. */
  readonly isCluster: boolean;
  /** Whether objects are written to the namespace, or only read. @default false */
  readonly isWritten?: boolean;
}

/**
 * A namespace other than the resource's requires `crossNamespace`, and a computed one requires globs. Otherwise users
 * who can create the resource could read or write in any namespace through the operator.
 */
export function* checkNamespaceReference(use: NamespaceReference): Iterable<Finding> {
  const { value, path, crossNamespace, isCluster, isWritten = false } = use;
  if (typeof value !== 'string' || isOwnNamespace(value)) return;
  if (containsExpression(value)) {
    if (!isJsonObject(crossNamespace)) yield needsGlobs('A computed namespace', value, path);
    return;
  }
  if (!isDnsLabel(value)) {
    const message = `Expected a namespace name, found ${describeFound(value)}`;
    yield { code: 'invalid-value', path, message };
  } else if (isJsonObject(crossNamespace)) {
    yield* checkGlobs(value, path, { crossNamespace, isWritten });
  } else if (crossNamespace !== true && !isCluster) {
    yield needsCrossNamespace(path);
  }
}

/**
 * The name of a Namespace object that is written is checked like a namespace: a computed name requires globs, even
 * for a cluster-scoped resource or the resource's own namespace. A later check, which knows scopes, requires
 * `crossNamespace` for the kind.
 */
export function* checkNamespaceName({
  value,
  path,
  crossNamespace,
}: Pick<NamespaceReference, 'value' | 'path' | 'crossNamespace'>): Iterable<Finding> {
  if (typeof value !== 'string') return;
  if (containsExpression(value)) {
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
    message: `${what} requires "crossNamespace" with globs, found ${describeFound(value)}`,
    hint: 'Users who can create the resource choose the namespace; restrict it with "crossNamespace: { namespaces: [team-*] }"',
  };
}

function* checkGlobs(
  value: string,
  path: string,
  { crossNamespace, isWritten }: { readonly crossNamespace: Json; readonly isWritten: boolean },
): Iterable<Finding> {
  const globs = globsOf(crossNamespace);
  if (!matchesGlob(value, globs)) {
    const message = `The globs of "crossNamespace" do not match ${describeFound(value)}`;
    yield { code: 'invalid-value', path, message };
  } else if (isWritten && !allowsNamespace(value, globs)) {
    const message = `${describeFound(value)} is a system namespace; "crossNamespace" must name it in full`;
    const hint = `Write "crossNamespace: { namespaces: [${value}] }"`;
    yield { code: 'invalid-value', path, message, hint };
  }
}

/** The finding for another namespace without `crossNamespace`. */
export function needsCrossNamespace(path: string): Finding {
  return {
    code: 'missing-field',
    path,
    at: 'key',
    message: 'A namespace other than the resource\'s requires "crossNamespace"',
    hint: 'Add "crossNamespace: true"',
  };
}

/** The globs of `crossNamespace` can match a namespace. */
export function* checkCrossNamespace(
  crossNamespace: Json | undefined,
  path: string,
): Iterable<Finding> {
  const at = pointerTo(path, 'namespaces');
  const globs = itemsAt({ crossNamespace }, '/crossNamespace/namespaces');
  for (const [index, { value }] of globs.entries()) {
    yield* checkGlob(value, pointerTo(at, index));
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

function* checkGlob(value: unknown, path: string): Iterable<Finding> {
  if (typeof value !== 'string' || globPattern.test(value)) return;
  const message = `Expected a glob of namespaces such as "team-*", found ${describeFound(value)}`;
  yield { code: 'invalid-value', path, message };
}

/** Whether this is a manifest of, or a reference to, a Namespace. */
export function isNamespaceKind(manifest: unknown): boolean {
  return fieldOf(manifest, 'apiVersion') === 'v1' && fieldOf(manifest, 'kind') === 'Namespace';
}

const globPattern = /^[a-z0-9*?](?:[-a-z0-9*?]*[a-z0-9*?])?$/;

/** `${ metadata.namespace }` is computed but always the namespace of the resource. */
function isOwnNamespace(value: string): boolean {
  return /^\s*\$\{\s*metadata\.namespace\s*\}\s*$/.test(value);
}

function globsOf(crossNamespace: Json): readonly string[] {
  return itemsAt(crossNamespace, '/namespaces').map(({ value }) => String(value));
}

/** A child in another namespace than its resource requires `crossNamespace`. */
export const checkChildNamespaces: Rule = function* (document) {
  const isCluster = valueAt(document, '/spec/crd/scope') === 'Cluster';
  for (const list of childListPaths) {
    for (const { value: child, path } of mapsAt(document, list)) {
      const { crossNamespace } = child;
      yield* checkCrossNamespace(crossNamespace, pointerTo(path, 'crossNamespace'));
      const template = fieldOf(child, 'template');
      const metadata = isJsonObject(template) ? fieldOf(template, 'metadata') : undefined;
      if (!isJsonObject(metadata)) continue;
      const at = `${pointerTo(path, 'template')}/metadata`;
      if (isNamespaceKind(template)) {
        const named = { value: metadata.name, path: `${at}/name` };
        yield* checkNamespaceName({ ...named, crossNamespace });
      }
      if (!Object.hasOwn(metadata, 'namespace')) continue;
      const placed = { value: metadata.namespace, path: `${at}/namespace` };
      yield* checkNamespaceReference({ ...placed, crossNamespace, isCluster, isWritten: true });
    }
  }
};

/** The lists of children. Expressions use their ids in one scope. */
export const childListPaths: readonly string[] = ['/spec/children', '/spec/onDelete/children'];

/** All lists of manifests with ids. */
export const manifestListPaths: readonly string[] = [...childListPaths, '/spec/install'];

/** The globs can match a namespace, and are only allowed for namespaced resources. */
export const checkServedNamespaces: Rule = function* (document) {
  const path = '/spec/controller/namespaces';
  for (const list of ['include', 'exclude']) {
    for (const { value, path: at } of itemsAt(document, `${path}/${list}`)) {
      yield* checkGlob(value, at);
    }
  }
  const isCluster = valueAt(document, '/spec/crd/scope') === 'Cluster';
  if (!isCluster || Object.keys(mapAt(document, path)).length === 0) return;
  const message = 'Cluster-scoped resources cannot be selected by namespace';
  yield { code: 'invalid-value', path, at: 'key', message };
};
