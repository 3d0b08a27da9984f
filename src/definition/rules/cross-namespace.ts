import { matchesGlob } from '../../util/glob.ts';
import { isJsonObject, type Json } from '../../util/json.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import { found } from '../describe-value.ts';
import type { Finding } from '../finding.ts';
import { itemsAt } from '../tree.ts';
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
}

/**
 * A namespace that is not the resource's own is allowed on purpose, and a computed one only within globs: whoever may create the
 * resource would else read or write anywhere through the operator.
 */
export function* checkNamespaceUse(use: NamespaceUse): Iterable<Finding> {
  const { value, path, crossNamespace, isCluster } = use;
  if (typeof value !== 'string' || isOwnNamespace(value)) return;
  if (holdsExpression(value)) {
    if (isJsonObject(crossNamespace)) return;
    yield {
      code: 'forbidden-expression',
      path,
      message: `A computed namespace needs "crossNamespace" with globs, found ${found(value)}`,
      hint: 'Whoever may create the resource chooses it: write which it may be, "crossNamespace: { namespaces: [team-*] }"',
    };
    return;
  }
  if (!isDnsLabel(value)) {
    const message = `Expected the name of a namespace, found ${found(value)}`;
    yield { code: 'invalid-value', path, message };
  } else if (isJsonObject(crossNamespace)) {
    if (matchesGlob(value, globsOf(crossNamespace))) return;
    const message = `The globs of "crossNamespace" do not match ${found(value)}`;
    yield { code: 'invalid-value', path, message };
  } else if (crossNamespace !== true && !isCluster) {
    yield needsCrossNamespace(path);
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

const globPattern = /^[a-z0-9*?](?:[-a-z0-9*?]*[a-z0-9*?])?$/;

/** `${ metadata.namespace }`: computed, and never any other than the resource's own. */
function isOwnNamespace(value: string): boolean {
  return /^\s*\$\{\s*metadata\.namespace\s*\}\s*$/.test(value);
}

function globsOf(crossNamespace: Json): readonly string[] {
  return itemsAt(crossNamespace, '/namespaces').map(({ value }) => String(value));
}
